"""Symptoms that a test watches beside its own, from the plan to the verdict on record."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.campaign.simulated_tests import begin, campaign, same_but_for_its_run, suspect
from workbench.campaign import testing
from workbench.conduct.findings import differences
from workbench.model.campaign import CampaignSpec, SymptomSpec
from workbench.model.hypothesis import Hypothesis
from workbench.model.outcome import Counts, Ending, Status
from workbench.store.jsonl import unseal
from workbench.store.lines import decode_sample, encode_sample

WEDGED = SymptomSpec(name="wedged", endings=(Ending.TIMEOUT,))


def watching(control: float = 0.5, treatment: float = 0.0, wedges: float = 0.3) -> CampaignSpec:
    """A campaign whose treatment wedges at a rate, and which watches that."""
    spec = campaign({"control": control, "treatment": treatment})
    load = spec.workloads["w"]
    options = {**load.options, "timeouts": {"treatment": wedges}}
    return replace(
        spec,
        workloads={"w": replace(load, options=options)},
        symptoms={**spec.symptoms, "wedged": WEDGED},
    )


def blamed(predict: str = "0.5:0.1") -> Hypothesis:
    """A suspect that names its symptom, since there are several."""
    return replace(suspect(predict=predict), symptom="fails")


def test_a_verdict_says_what_the_arms_showed_of_another_symptom(tmp_path: Path) -> None:
    (verdict,) = begin(tmp_path, watching(), blamed())
    other = verdict.others["wedged"]
    assert other.blocks == verdict.blocks
    assert other.arms["control"] == Counts(0, verdict.arms["control"].counts.total)
    assert other.arms["treatment"].hit == verdict.arms["treatment"].counts.errored > 0
    assert other.arms["treatment"].errored == 0
    assert other.no_harm > 1 > other.no_effect


def test_another_symptom_makes_no_other_test_and_no_other_word(tmp_path: Path) -> None:
    spec = watching(wedges=0.05)
    without = replace(spec, symptoms={"fails": spec.symptoms["fails"]})
    (alone,) = begin(tmp_path / "alone", without, blamed())
    (beside,) = begin(tmp_path / "beside", spec, blamed())
    assert alone.digest == beside.digest
    assert same_but_for_its_run(replace(beside, others={})) == same_but_for_its_run(alone)


def test_a_run_that_goes_on_counts_earlier_blocks_where_they_were_watched(tmp_path: Path) -> None:
    watched = watching(control=0.4, treatment=0.3, wedges=0.2)
    other = {**watched.symptoms, "wedged": replace(WEDGED, name="other")}
    for spec in (replace(watched, symptoms=other), watched, watched):
        last = begin(tmp_path, spec, blamed("0.4:0.1"), max_blocks=2)[0]
    assert last.blocks == 6
    assert last.others["wedged"].blocks == 4  # the first run knew no symptom of that name


def test_verify_names_a_status_that_does_not_follow_from_its_ending(tmp_path: Path) -> None:
    (verdict,) = begin(tmp_path, watching(), blamed())
    assert testing.verify(tmp_path, verdict.run, [verdict]) == ()
    told = replace(verdict.others["wedged"], no_harm=0.5)
    wrong = testing.verify(tmp_path, verdict.run, [replace(verdict, others={"wedged": told})])
    assert len(wrong) == 1
    assert "wedged: E no_harm is 0.5 on record" in wrong[0]
    assert differences(verdict, replace(verdict, others={})) != []


def test_verify_names_a_line_whose_status_is_not_what_its_ending_says(tmp_path: Path) -> None:
    (verdict,) = begin(tmp_path, watching(), blamed())
    shard = tmp_path / "runs" / verdict.run / "samples-w0.jsonl"
    lines = []
    for line in shard.read_bytes().splitlines():
        sample, _ = decode_sample(unseal(line))
        others = {
            name: replace(seen, status=Status.CLEAN if seen.status is Status.HIT else seen.status)
            for name, seen in sample.others.items()
        }
        lines.append(encode_sample(replace(sample, others=others)))
    shard.write_bytes(b"".join(lines))
    wrong = testing.verify(tmp_path, verdict.run, [verdict])
    assert any(line.endswith("timeout does not make it clean for wedged") for line in wrong)
    assert any("wedged: treatment counts is" in line for line in wrong)
