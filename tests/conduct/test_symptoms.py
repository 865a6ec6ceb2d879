"""Which symptoms a run watches beside its own, and what one exchange is for each of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.conduct.test_plan_tests import CACHE, SPEC
from workbench import plugins
from workbench.conduct.labelling import Labeller
from workbench.conduct.tests import plan_tests
from workbench.model.campaign import CampaignSpec, SymptomSpec
from workbench.model.ids import ExchangeKey
from workbench.model.outcome import Ending, Exchange, Status
from workbench.model.plan import Part, Plan
from workbench.model.run import Seen

REGEX = Part(kind="regex", options={"patterns": {"wobbles": "wobbl"}})
KEY = ExchangeKey.parse("control/1/0/0")
TIMED_OUT = Exchange(key=KEY, ending=Ending.TIMEOUT)
FAILED = Exchange(key=KEY, exit_code=1, text="it wobbles")
CLEAN = Exchange(key=KEY, exit_code=0, text="fine")


def spec(**others: SymptomSpec) -> CampaignSpec:
    return replace(SPEC, symptoms={**SPEC.symptoms, **others})


def symptom(name: str, **stated: object) -> SymptomSpec:
    return SymptomSpec(name=name, **stated)  # type: ignore[arg-type]


ALL = spec(
    wedged=symptom("wedged", endings=(Ending.TIMEOUT,)),
    crashed=symptom("crashed", classifier=Part(kind="exit_code"), labels=("crashed",)),
    wobbly=symptom("wobbly", classifier=REGEX, labels=("wobbles",)),
)
TEST = replace(CACHE, symptom="fails")


def planned(of: CampaignSpec = ALL, **asked: object) -> Plan:
    return plan_tests(of, [TEST], asked)


def labeller(plan: Plan) -> Labeller:
    return Labeller(plan, plugins.build(plugins.Group.CLASSIFIER, plan.classifier))


def seen(exchange: Exchange) -> tuple[Status, dict[str, Status]]:
    _, status, others = labeller(planned()).label(exchange)
    return status, {name: each.status for name, each in others.items()}


def test_every_other_symptom_of_the_campaign_is_watched() -> None:
    also = planned().also
    assert [(each.symptom.name, each.classifier.kind) for each in also] == [
        ("wedged", "exit_code"),
        ("crashed", "exit_code"),
        ("wobbly", "regex"),
    ]


def test_one_that_cannot_be_labelled_keeps_nobody_from_testing() -> None:
    of = spec(
        silent=symptom("silent"),
        odd=symptom("odd", classifier=Part(kind="nosuch"), labels=("x",)),
        wrong=symptom("wrong", classifier=Part(kind="exit_code"), labels=("nosuch",)),
        refused=symptom("refused", classifier=Part(kind="regex"), labels=("x",)),
    )
    assert planned(of).also == ()


def test_an_ending_is_a_hit_for_the_symptom_that_claims_it_and_errored_for_the_others() -> None:
    assert seen(TIMED_OUT) == (
        Status.ERRORED,
        {"wedged": Status.HIT, "crashed": Status.ERRORED, "wobbly": Status.ERRORED},
    )


def test_what_an_exchange_says_does_not_matter_to_a_symptom_of_endings() -> None:
    status, others = seen(FAILED)
    assert status is Status.HIT
    assert "wedged" not in others  # clean under the label of the run's own symptom
    assert others == {"crashed": Status.ERRORED, "wobbly": Status.HIT}


def test_a_label_of_another_classifier_is_kept_even_if_it_is_clean() -> None:
    label, status, others = labeller(planned()).label(CLEAN)
    assert (label.word, status) == ("clean", Status.CLEAN)
    assert set(others) == {"wobbly"}
    assert others["wobbly"].status is Status.CLEAN
    assert others["wobbly"].label.rule != label.rule


def test_a_classifier_that_several_symptoms_share_labels_once() -> None:
    _, _, others = labeller(
        planned(
            spec(
                a=symptom("a", classifier=REGEX, labels=("wobbles",)),
                b=symptom("b", classifier=REGEX, labels=("wobbles",)),
            )
        )
    ).label(FAILED)
    assert others["a"].label is others["b"].label


@pytest.mark.parametrize(
    ("keep", "exchange", "kept"),
    [
        ("failing", replace(CLEAN, text="it wobbles"), True),
        ("failing", CLEAN, False),
        ("all", CLEAN, True),
        ("none", FAILED, False),
    ],
)
def test_a_reply_that_fails_for_any_symptom_is_kept(keep: str, exchange: Exchange, kept: bool) -> None:
    by = labeller(planned(keep_texts=keep))
    _, status, others = by.label(exchange)
    assert by.keeps(status, others) is kept


def test_without_others_nothing_is_kept_beside() -> None:
    others: dict[str, Seen] = dict(labeller(planned(SPEC)).label(FAILED)[2])
    assert others == {}
