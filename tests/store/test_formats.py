"""`docs/formats.md` documents the fields that there are, and its examples are real lines."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import msgspec
import pytest

from tests.store.campaign_examples import documented as log_examples
from tests.store.campaign_examples import line as log_line
from tests.store.examples import AT_ONCE, event, manifest, sample, watched_sample
from workbench.model.event import (
    KINDS,
    ArmResult,
    Bearing,
    Circumstances,
    Counted,
    Earlier,
    Exposed,
    Grade,
    Per,
    Role,
    Source,
)
from workbench.model.outcome import Counts, Ending, Status
from workbench.model.plan import Plan, Rules
from workbench.model.run import Fingerprint, Manifest, Owner, RunEvent, RunState, Shard
from workbench.model.start import Load, Start
from workbench.model.verdict import Evidence, Guard, Held, Other, Reason, Verdict
from workbench.store import RunFolder
from workbench.store.campaignfiles import read_files
from workbench.store.eventlog import EventLog
from workbench.store.jsonl import unseal
from workbench.store.lines import EventLine, SampleLine, decode_event, decode_sample
from workbench.store.schema import campaign, hypothesis
from workbench.store.schema.fields import AnyShape
from workbench.store.yamltext import read_yaml

DOCUMENT = (Path(__file__).parents[2] / "docs" / "formats.md").read_text()


def section(start: str, end: str) -> str:
    return DOCUMENT.partition(start)[2].partition(end)[0]


def documented(text: str) -> list[str]:
    """First cells of the rows of the first table in a text."""
    table = re.search(r"\| field \| meaning \|\n\|---\|---\|\n((?:\|.*\n)+)", text)
    assert table is not None
    return re.findall(r"^\| `(\w+)` \|", table[1], re.MULTILINE)


def fields(kind: type) -> set[str]:
    return {field.name for field in dataclasses.fields(kind)}


SAMPLES = section("## samples-", "## events")
EVENTS = section("## events", "## manifest")
MANIFEST = section("## manifest", "`owner`:")
FINGERPRINT = section("## fingerprint-", "`start`:\n")
START = section("`start`:\n", "`load`:\n")
LOAD = section("`load`:\n", "\n# ")
CAMPAIGN = section("## campaign.yaml", "\n## ")
HYPOTHESIS = section("## hypotheses/H05-", "\n## ")
LOG = section("## hypotheses/events", "\0")
KINDS_TEXT = dict(re.findall(r"^### ([a-z-]+)\n(.*?)(?=^### |\Z)", LOG, re.MULTILINE | re.DOTALL))


@pytest.mark.parametrize(
    ("text", "real"),
    [
        (SAMPLES, {field.name for field in msgspec.structs.fields(SampleLine)} | {"crc"}),
        (EVENTS, {field.name for field in msgspec.structs.fields(EventLine)} | {"crc"}),
        (MANIFEST, fields(Manifest) | {"crc"}),
        (section("`owner`:", "`plan`:"), fields(Owner)),
        (section("`plan`:", "## fingerprint-"), fields(Plan)),
        (FINGERPRINT, fields(Fingerprint) | {"schema", "crc"}),
        (START, fields(Start)),
        (LOAD, fields(Load)),
    ],
    ids=["sample", "event", "manifest", "owner", "plan", "fingerprint", "start", "load"],
)
def test_the_documented_fields_are_the_real_ones(text: str, real: set[str]) -> None:
    names = documented(text)
    assert len(names) == len(set(names))
    assert set(names) == real


def test_the_words_of_enumerations_are_all_documented() -> None:
    for word in [*Status, *Ending]:
        assert f"`{word}`" in SAMPLES
    for word in RunState:
        assert f"`{word}`" in MANIFEST
    for name in fields(Rules) | fields(Shard):
        assert f"`{name}`" in DOCUMENT


def test_the_kinds_of_events_are_those_of_the_model() -> None:
    kinds = re.findall(r"^\| `(\w+)` \| [^|]+ \| `(\{.*\})` \|$", EVENTS, re.MULTILINE)
    told = re.findall(
        r"`(\w+)`", (RunEvent.__doc__ or "").partition("kind: ")[2].partition("facts:")[0]
    )
    assert [kind for kind, _ in kinds] == told
    for kind, line in kinds:
        assert decode_event(unseal(line.encode())).kind == kind


def test_the_examples_are_what_the_store_writes(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path, manifest(), AT_ONCE) as folder:
        folder.append_sample(sample(0, status=Status.HIT, text="markup leaked"))
        folder.append_sample(watched_sample())
        folder.append_event(event("arm_started", arm="control", block=1, sessions=20))
        told = Fingerprint(
            arm="control",
            config={"python": "3.11"},
            files={"repro.sh": "0" * 64},
            volatile={"pid": "4711"},
        )
        folder.write_fingerprint(told, 1)
    written = {path.name: path.read_text() for path in folder.path.iterdir()}
    lines = written["samples-w0.jsonl"].splitlines()
    assert [line in SAMPLES for line in lines] == [True, True]
    assert written["events.jsonl"] in EVENTS
    example = FINGERPRINT.partition("```json\n")[2].partition("```")[0]
    assert msgspec.json.decode(example) == msgspec.json.decode(written["fingerprint-control-1.json"])
    assert decode_sample(unseal(lines[0].encode()))[1] == ""
    assert decode_sample(unseal(lines[1].encode()))[0] == watched_sample()
    layout = section("runs/", "```")
    for name in (
        "manifest.json",
        "samples-w0.jsonl",
        "events.jsonl",
        "owner.lock",
        "blobs/ab/<sha256>",
    ):
        assert name in layout


def shape_fields(shape: type[AnyShape]) -> set[str]:
    return {field.alias or name for name, field in shape.model_fields.items()}


def yaml_of(text: str) -> bytes:
    return text.partition("```yaml\n")[2].partition("```")[0].encode()


WRITTEN = [
    ("## campaign.yaml", "\nOne of `symptoms`", campaign.CampaignShape, ()),
    ("\nOne of `symptoms`", "\nOne of `engines`", campaign.SymptomShape, ("symptoms", "*")),
    ("\nOne of `engines`", "\nOne of `workloads`", campaign.EngineShape, ("engines", "*")),
    ("\nOne of `workloads`", "\nOne of `knobs`", campaign.WorkloadShape, ("workloads", "*")),
    ("\nOne of `knobs`", "\n`readback` of", campaign.KnobShape, ("knobs", "*")),
    ("\nOne of `constraints`", "\n`defaults`:", campaign.ConstraintShape, ("constraints", "*")),
    ("\n`defaults`:", "## hypotheses/", campaign.DefaultsShape, ("defaults",)),
    ("## hypotheses/H05-", "\n`prediction`;", hypothesis.HypothesisShape, ()),
    ("\n`prediction`;", "\n`test`:", hypothesis.PredictionShape, ("prediction",)),
    ("\n`test`:", "\nOne of `exposure`", hypothesis.TestShape, ("test",)),
    (
        "\nOne of `exposure`",
        "\nOne of `assumptions`",
        hypothesis.ExposureShape,
        ("test", "exposure", "*"),
    ),
    (
        "\nOne of `assumptions`",
        "\nOne of `interventions`",
        hypothesis.AssumptionShape,
        ("assumptions", "*"),
    ),
    ("\nOne of `interventions`", "\n## ", hypothesis.InterventionShape, ("interventions", "*")),
]


@pytest.mark.parametrize(
    ("start", "end", "shape", "where"), WRITTEN, ids=lambda each: getattr(each, "__name__", "")
)
def test_the_fields_that_people_write_are_documented_and_stand_in_the_example(
    start: str, end: str, shape: type[AnyShape], where: tuple[str, ...]
) -> None:
    names = documented(section(start, end))
    assert len(names) == len(set(names))
    assert set(names) == shape_fields(shape)
    example = CAMPAIGN if shape.__module__.endswith("campaign") else HYPOTHESIS
    document = read_yaml(yaml_of(example), "f", is_field=lambda keys: keys[-1] == "on")
    met = {
        keys[-1]
        for keys in document.places
        if len(keys) == len(where) + 1
        and all(part in ("*", key) for part, key in zip(where, keys, strict=False))
    }
    assert set(names) <= met


def test_the_places_to_read_back_from_are_documented() -> None:
    text = section("\n`readback` of", "\nOne of `constraints`")
    assert set(documented(text)) == shape_fields(campaign.ReadbackShape)


def test_the_examples_of_what_people_write_are_right(tmp_path: Path) -> None:
    (tmp_path / "hypotheses").mkdir()
    (tmp_path / "campaign.yaml").write_bytes(yaml_of(CAMPAIGN))
    (tmp_path / "hypotheses" / "H05-mirror.yaml").write_bytes(yaml_of(HYPOTHESIS))
    for id in ("H2", "H3"):
        other = f"schema: workbench/hypothesis@1\nid: {id}\ntitle: Another\n"
        (tmp_path / "hypotheses" / f"{id}.yaml").write_text(other)
    found = read_files(tmp_path)
    assert found.problems == ()
    assert [each.id for each in found.files if each.hypothesis] == ["H5", "H2", "H3"]


def test_the_kinds_of_the_log_are_all_documented_with_their_fields() -> None:
    assert list(KINDS_TEXT) == list(KINDS)
    head = {"schema", "id", "prev", "seq", "at", "who", "agent", "kind", "crc"}
    assert set(documented(LOG)) == head
    for kind, text in KINDS_TEXT.items():
        spelled = fields(KINDS[kind])
        if kind == "verdict":
            spelled = spelled - {"harmful"} | {"reversed"}
        if kind == "renumbered":
            spelled = spelled - {"was"} | {"from"}
        assert set(documented(text)) == spelled


@pytest.mark.parametrize("word", [*Grade, *Bearing, *Verdict, *Held, *Reason, *Role, *Per])
def test_the_words_of_the_log_are_documented(word: str) -> None:
    assert f"`{word}`" in LOG


@pytest.mark.parametrize(
    "record",
    [Source, ArmResult, Evidence, Guard, Earlier, Counts, Other, Circumstances, Counted, Exposed],
)
def test_the_fields_within_fields_of_the_log_are_documented(record: type) -> None:
    for name in fields(record):
        assert f"`{name}`" in LOG


def test_the_lines_of_the_log_are_what_the_store_writes_and_make_one_chain(tmp_path: Path) -> None:
    for written in log_examples():
        assert f"```json\n{log_line(written).decode()}\n```" in KINDS_TEXT[written.kind]
    lines = re.findall(r"^\{.*\}$", LOG, re.MULTILINE)
    (tmp_path / "hypotheses").mkdir()
    (tmp_path / "hypotheses" / "events.jsonl").write_text("".join(f"{line}\n" for line in lines))
    found = EventLog(tmp_path).read()
    assert found.problems == ()
    assert len(found.heads) == 1
    assert [each.kind for each in found.events] == list(KINDS)
