"""What an exchange is for other symptoms comes back from its line, and no secret goes there."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from tests.store.examples import plan, sample
from workbench.model.outcome import Label, Status, Symptom
from workbench.model.plan import Part, Watched
from workbench.model.run import Sample, Seen
from workbench.store.jsonl import unseal
from workbench.store.lines import decode_sample, encode_sample
from workbench.store.private import Gate

SECRET = "sk-never-on-disk-0123456789"
TEXTS = st.text(st.characters(codec=None, exclude_categories=()), max_size=20)
LABELS = st.builds(lambda *of: Label(word=of[0], rule=of[1], signature=of[2]), TEXTS, TEXTS, TEXTS)
OTHERS = st.dictionaries(
    st.from_regex(r"[A-Za-z0-9._-]{1,20}", fullmatch=True),
    st.builds(lambda label, status: Seen(label=label, status=status), LABELS, st.sampled_from(Status)),
    max_size=4,
)


def again(given: Sample) -> Sample:
    return decode_sample(unseal(encode_sample(given).rstrip(b"\n")))[0]


@given(OTHERS, LABELS)
def test_any_labels_come_back(others: dict[str, Seen], own: Label) -> None:
    named = {name: seen for name, seen in others.items() if seen.label.word}
    written = replace(sample(0), label=own, others=named)
    assert again(written) == written


def test_the_label_of_the_line_is_not_written_twice() -> None:
    own = sample(0, status=Status.HIT)
    line = encode_sample(replace(own, others={"wedged": Seen(label=own.label, status=Status.HIT)}))
    assert b'"also":{"wedged":{"status":"hit"}}' in line
    assert again(own).seen("anything") == Seen(label=own.label, status=Status.CLEAN)
    assert b"also" not in encode_sample(own)


def test_a_secret_in_what_another_classifier_says_is_masked() -> None:
    label = Label(word="wobbles", rule=f"said {SECRET}", signature=f"wobbles: {SECRET}")
    given = replace(sample(0), others={"wobbly": Seen(label=label, status=Status.HIT)})
    gate = Gate.of([SECRET])
    masked = gate.sample(given)
    assert SECRET.encode() not in encode_sample(masked)
    assert masked.others["wobbly"].status is Status.HIT
    assert gate.sample(masked) is masked


def test_options_of_other_classifiers_are_redacted_as_the_runs_own() -> None:
    part = Part(kind="regex", options={"api_key": SECRET})
    also = (Watched(symptom=Symptom(name="wobbly"), classifier=part),)
    planned = replace(plan(), also=also)
    assert SECRET in Gate().knowing(planned).secrets
