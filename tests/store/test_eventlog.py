"""The log as a file: one line an append, read whatever stands in it, ordered the same everywhere."""

from __future__ import annotations

import os
import random
import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.store.campaign_examples import ANA, BODIES, BOT, FUTURE, event, line
from tests.store.examples import AT, AT_ONCE
from workbench.errors import LockHeld, StoreError, UsageError, VersionTooNew
from workbench.model.event import Event, EvidenceGiven, Note, Proposed, Renumbered
from workbench.store.eventlog import EventLog, Log
from workbench.store.eventorder import Chain, descendants, in_order
from workbench.store.jsonl import seal, unseal
from workbench.store.layout import LOG_FILE


def write(root: Path, *lines: bytes) -> Path:
    path = root / LOG_FILE
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"".join(lines))
    return path


def read(root: Path) -> Log:
    return EventLog(root).read()


def chain(count: int, *, forks: random.Random | None = None) -> list[Event]:
    """Give events, one after another; with `forks`, each follows some heads of those before it."""
    events: list[Event] = []
    for place in range(count):
        if forks is None:
            prev = tuple(each.digest for each in events[-1:])
        else:
            some = forks.sample(events, min(len(events), forks.randrange(3)))
            prev = tuple(sorted(each.digest for each in some))
        minutes = place if forks is None else forks.randrange(-5, 5)
        body = Note(text=f"note {place}")
        letters = "".join("abcdefghij"[int(digit)] for digit in f"{place:04d}")
        events.append(event(body, prev=prev, seq=place + 1, id=f"N-{letters}", minutes=minutes))
    return events


def texts(log: Log) -> list[str]:
    return [each.body.text for each in log.events if isinstance(each.body, Note)]


# --- appending --------------------------------------------------------------------------------------


def test_each_event_follows_the_one_before(tmp_path: Path) -> None:
    log = EventLog(tmp_path, AT_ONCE, clock=lambda: AT)
    written = [log.append(body, BOT) for body in BODIES.values()]
    found = read(tmp_path)
    assert found.problems == ()
    plain = [each for each in found.events if each.kind != "renumbered"]
    assert [each.id for each in plain] == [each.id for each in written[:-1]]
    assert [each.seq for each in found.events] == list(range(1, len(BODIES) + 1))
    assert found.heads == (written[-1].digest,)
    assert written[0].prev == ()
    assert [each.prev for each in written[1:]] == [(each.digest,) for each in written[:-1]]
    assert {each.by for each in found.events} == {BOT}
    assert {each.at for each in found.events} == {AT}


def test_ids_say_what_evidence_and_notes_are(tmp_path: Path) -> None:
    log = EventLog(tmp_path, AT_ONCE)
    for kind, body in BODIES.items():
        shape = {"evidence": r"E-[a-z2-7]{4}", "note": r"N-[a-z2-7]{4}"}.get(kind, r"[a-z2-7]{8}")
        assert re.fullmatch(shape, log.append(body, ANA).id)


def test_the_log_gives_back_what_append_gave(tmp_path: Path) -> None:
    log = EventLog(tmp_path, AT_ONCE)
    for body in (*BODIES.values(), FUTURE):
        given_back = log.append(body, ANA)
        if isinstance(body, Renumbered):
            continue
        assert given_back.body == body
        assert log.read().events[-1] == given_back


def test_a_clock_that_goes_back_changes_no_order(tmp_path: Path) -> None:
    times = [AT, AT - timedelta(hours=1), datetime(1970, 1, 1, tzinfo=UTC), AT + timedelta(days=3650)]
    clock = iter(times)
    log = EventLog(tmp_path, AT_ONCE, clock=lambda: next(clock))
    for place in range(len(times)):
        log.append(Note(text=f"{place}"), ANA)
    found = read(tmp_path)
    assert texts(found) == ["0", "1", "2", "3"]
    assert [each.at for each in found.events] == times
    assert found.problems == ()


def test_two_objects_see_what_the_other_wrote(tmp_path: Path) -> None:
    one, other = EventLog(tmp_path, AT_ONCE), EventLog(tmp_path, AT_ONCE)
    for place in range(6):
        (one if place % 2 else other).append(Note(text=f"{place}"), ANA)
    assert one.read() == other.read() == read(tmp_path)
    assert len(one.read().heads) == 1
    assert one.read() is one.read()  # nothing was added, so nothing is read


def test_what_is_no_event_leaves_the_log_as_it_was(tmp_path: Path) -> None:
    log = EventLog(tmp_path, AT_ONCE)
    log.append(Note(text="first"), ANA)
    before = (tmp_path / LOG_FILE).read_bytes()
    with pytest.raises(UsageError, match="too long"):
        log.append(Note(text="x" * 2**21), ANA)
    with pytest.raises(UsageError, match="cannot sign"):
        log.append(Note(text="x"), replace(ANA, name=""))
    with pytest.raises(UsageError, match="cannot be stored"):
        log.append(Note(text=5), ANA)  # type: ignore[arg-type]
    assert (tmp_path / LOG_FILE).read_bytes() == before


def test_who_counted_as_far_as_one_can_does_not_end_the_log(tmp_path: Path) -> None:
    write(tmp_path, line(event(Note(text="far"), id="N-aaaa", seq=2**53 - 1)), b"\n")
    log = EventLog(tmp_path, AT_ONCE)
    assert [log.append(Note(text="on"), ANA).seq for _ in range(2)] == [2**53 - 1] * 2
    assert texts(log.read()) == ["far", "on", "on"]


def test_secrets_do_not_reach_the_log(tmp_path: Path) -> None:
    log = EventLog(tmp_path, replace(AT_ONCE, secrets=("correct-horse",)))
    given_back = log.append(
        Note(text="with correct-horse it fails"), replace(ANA, name="correct-horse")
    )
    assert b"correct-horse" not in (tmp_path / LOG_FILE).read_bytes()
    assert given_back.body == Note(text="with <redacted> it fails")


def test_a_newer_log_is_for_reading_only(tmp_path: Path) -> None:
    document = msgspec.json.decode(unseal(line(event(BODIES["note"]))))
    newer = seal(msgspec.json.encode(document | {"schema": "workbench/event@2"}))
    strange = seal(msgspec.json.encode({"schema": "workbench/event@7", "what": "else"}))
    for lines in ([newer], [strange], [newer, strange], [newer[:-1]]):
        path = write(tmp_path, *lines)
        found = read(tmp_path)
        assert len(found.events) == sum(each.startswith(newer[:-1]) for each in lines)
        assert any("newer workbench" in each.what for each in found.problems)
        with pytest.raises(VersionTooNew, match="can only read"):
            EventLog(tmp_path, AT_ONCE).append(Note(text="x"), ANA)
        assert path.read_bytes() == b"".join(lines)


def test_who_waits_for_the_lock_in_vain_is_told(tmp_path: Path) -> None:
    holder = EventLog(tmp_path, AT_ONCE)
    with holder.locked():
        with pytest.raises(LockHeld, match="another process has been writing"):
            EventLog(tmp_path, AT_ONCE, wait=0).append(Note(text="x"), ANA)
        holder.append(Note(text="the holder may"), ANA)
    EventLog(tmp_path, AT_ONCE, wait=0).append(Note(text="and then others"), ANA)
    assert texts(read(tmp_path)) == ["the holder may", "and then others"]


def test_threads_share_one_object(tmp_path: Path) -> None:
    log = EventLog(tmp_path, AT_ONCE)

    def work() -> None:
        for _ in range(20):
            log.append(Note(text="x"), ANA)
            log.read()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [each.seq for each in read(tmp_path).events] == list(range(1, 81))


@pytest.mark.parametrize("what", ["hypotheses", LOG_FILE, ".workbench"])
def test_a_symbolic_link_is_refused(tmp_path: Path, what: str) -> None:
    root, outside = tmp_path / "campaign", tmp_path / "outside"
    for folder in (root, outside):
        folder.mkdir()
    (outside / "events.jsonl").write_bytes(b"")
    (root / what).parent.mkdir(exist_ok=True)
    (root / what).symlink_to(outside if what != LOG_FILE else outside / "events.jsonl")
    with pytest.raises(StoreError, match="symbolic link"):
        EventLog(root, AT_ONCE).append(Note(text="x"), ANA)
    assert [path.name for path in outside.iterdir()] == ["events.jsonl"]
    assert (outside / "events.jsonl").read_bytes() == b""


def test_a_folder_in_the_place_of_the_log_is_a_problem_and_no_crash(tmp_path: Path) -> None:
    (tmp_path / LOG_FILE).mkdir(parents=True)
    assert "no plain file" in read(tmp_path).problems[0].what
    with pytest.raises(StoreError, match="no plain file"):
        EventLog(tmp_path, AT_ONCE).append(Note(text="x"), ANA)


# --- the last line ----------------------------------------------------------------------------------


def test_a_torn_line_is_told_and_moved_aside_by_the_next_append(tmp_path: Path) -> None:
    first, second = chain(2)
    path = write(tmp_path, line(first), b"\n", line(second)[:50])
    found = read(tmp_path)
    assert texts(found) == ["note 0"]
    assert [(each.line, each.column) for each in found.problems] == [(2, 1)]
    assert "torn (50 bytes)" in found.problems[0].what
    EventLog(tmp_path, AT_ONCE).append(Note(text="next"), ANA)
    assert texts(read(tmp_path)) == ["note 0", "next"]
    assert read(tmp_path).problems == ()
    assert path.with_suffix(".torn").read_bytes() == line(second)[:50] + b"\n"


def test_a_line_that_lacks_only_its_newline_is_whole(tmp_path: Path) -> None:
    first, second = chain(2)
    path = write(tmp_path, line(first), b"\n", line(second))
    log = EventLog(tmp_path, AT_ONCE)
    assert texts(log.read()) == ["note 0", "note 1"]
    assert log.read().problems == ()
    added = log.append(Note(text="next"), ANA)
    assert added.prev == (second.digest,)
    assert texts(log.read()) == ["note 0", "note 1", "next"]
    assert log.read() == read(tmp_path)
    assert path.read_bytes().count(b"\n") == 3


def test_a_line_that_is_being_written_is_no_torn_line(tmp_path: Path) -> None:
    first, second = chain(2)
    for cut in (50, len(line(second))):
        path = write(tmp_path, line(first), b"\n", line(second)[:cut])
        reader = EventLog(tmp_path, wait=0)
        with EventLog(tmp_path, AT_ONCE)._lock():  # as a writer has it from the first byte to the last
            assert texts(reader.read()) == ["note 0"]
            (problem,) = reader.read().problems
            assert "not finished" in problem.what
            write(tmp_path, line(first), b"\n", line(second), b"\n")
        assert texts(reader.read()) == ["note 0", "note 1"]
        assert reader.read().problems == ()
    assert not path.with_suffix(".torn").exists()


# --- whatever stands in the file --------------------------------------------------------------------


def test_no_log_is_an_empty_log(tmp_path: Path) -> None:
    assert read(tmp_path) == Log()
    write(tmp_path)
    assert read(tmp_path) == Log()
    assert not (tmp_path / ".workbench").exists()  # reading makes nothing


def test_one_bad_line_hides_no_other(tmp_path: Path) -> None:
    one, two, three, four = chain(4)
    bad = bytearray(line(two))
    bad[40] ^= 1
    write(
        tmp_path, line(one), b"\n", bytes(bad), b"\nnonsense\n", line(three), b"\n", line(four), b"\n"
    )
    found = read(tmp_path)
    assert texts(found) == ["note 0", "note 2", "note 3"]
    what = [(each.file, each.line, each.what) for each in found.problems]
    assert what == [
        (LOG_FILE, 2, "a damaged line is left out: the checksum differs"),
        (LOG_FILE, 3, "a damaged line is left out: no checksum"),
        (
            LOG_FILE,
            4,
            f"a line is missing: this event follows {two.digest[:12]}, which is not in the log",
        ),
    ]
    assert all(each.hint for each in found.problems)
    assert set(found.heads) == {one.digest, four.digest}


def test_the_column_of_broken_json_is_that_of_its_letter(tmp_path: Path) -> None:
    write(tmp_path, seal('{"ö":"ü", x}'.encode()))
    (problem,) = read(tmp_path).problems
    assert (problem.line, problem.column) == (1, 11)


def test_markers_of_a_conflict_are_named_and_both_sides_count(tmp_path: Path) -> None:
    base, ours, theirs = event(BODIES["note"], id="N-zzzz"), *chain(2)
    write(
        tmp_path,
        *(line(base), b"\n<<<<<<< HEAD\n", line(ours), b"\n||||||| base\n=======\n"),
        *(line(theirs), b"\n>>>>>>> other branch\n"),
    )
    found = read(tmp_path)
    assert {each.id for each in found.events} == {base.id, ours.id, theirs.id}
    assert [each.line for each in found.problems] == [2, 4, 5, 7]
    assert all("conflict marker" in each.what for each in found.problems)
    assert all("both sides" in each.hint for each in found.problems)


def test_what_a_file_holds_reaches_no_terminal_as_a_command(tmp_path: Path) -> None:
    document = msgspec.json.decode(unseal(line(event(BODIES["note"]))))
    for field in ("schema", "id", "kind"):
        evil = document | {field: "\x1b]52;c;x\x07\x1b[31m\u202e"}
        write(tmp_path, seal(msgspec.json.encode(evil)))
        assert all(str(each).isprintable() for each in read(tmp_path).problems)


def test_repeated_lines_count_once_and_repeated_ids_are_told(tmp_path: Path) -> None:
    one, two = chain(2)
    write(tmp_path, line(one), b"\n", line(two), b"\n", line(one), b"\n\n", line(two), b"\r\n")
    assert texts(read(tmp_path)) == ["note 0", "note 1"]
    assert read(tmp_path).problems == ()
    again = event(Note(text="another"), id=one.id)
    write(tmp_path, line(one), b"\n", line(again), b"\n")
    (problem,) = read(tmp_path).problems
    assert (problem.line, problem.what) == (2, f"a second event with the id {one.id}")
    assert len(read(tmp_path).events) == 2


def pieces() -> Iterator[bytes]:
    for each in chain(6, forks=random.Random(3)):
        yield line(each)
    yield line(event(FUTURE, id="abcdabcd"))


@given(data=st.data())
def test_nothing_in_the_file_makes_reading_raise(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    root = tmp_path_factory.mktemp("campaign")
    whole = list(pieces())
    some = st.sampled_from(whole) | st.binary(max_size=40) | st.just(b"<<<<<<< x")
    cut = st.tuples(st.sampled_from(whole), st.integers(0, 400)).map(lambda pair: pair[0][: pair[1]])
    lines = data.draw(st.lists(some | cut, max_size=12))
    path = write(root, b"\n".join(lines) + data.draw(st.sampled_from([b"", b"\n", b"\r\n"])))
    found = read(root)
    standing = {part.removesuffix(b"\r") for part in path.read_bytes().split(b"\n")}
    assert {line(each) for each in found.events} == standing.intersection(whole)  # P6: none is hidden


def test_cut_at_every_byte_all_whole_lines_are_read(tmp_path: Path) -> None:
    whole = b"".join(line(each) + b"\n" for each in chain(4))
    for length in range(len(whole)):
        write(tmp_path, whole[:length])
        found = read(tmp_path)
        lines = whole[:length].count(b"\n")
        complete = whole[:length].split(b"\n")[-1] == whole.split(b"\n")[lines]
        assert len(found.events) == lines + complete
        assert len(found.problems) == (not complete and whole[length - 1 : length] not in (b"", b"\n"))


# --- order ------------------------------------------------------------------------------------------


@given(seed=st.integers(0, 10**6), shuffle=st.randoms(use_true_random=False))
def test_any_order_of_the_lines_reads_the_same(seed: int, shuffle: random.Random) -> None:
    events = chain(12, forks=random.Random(seed))
    expected = in_order(events)
    shuffled = events[:]
    shuffle.shuffle(shuffled)
    assert in_order(shuffled) == expected
    place = {each.digest: at for at, each in enumerate(expected)}
    assert len(place) == len(events)
    for each in events:
        assert all(place[name] < place[each.digest] for name in each.prev)
    straight, mixed = Chain(LOG_FILE), Chain(LOG_FILE)
    for number, (one, other) in enumerate(zip(events, shuffled, strict=True), start=1):
        straight.add(number, line(one))
        mixed.add(number, line(other))
    named = {name for each in events for name in each.prev}
    assert straight.heads == mixed.heads == {each.digest for each in events} - named
    assert straight.problems() == mixed.problems() == ()


def test_unrelated_events_go_by_time_and_then_by_id() -> None:
    late = event(Note(text="late"), id="N-aaaa", minutes=2)
    soon = event(Note(text="soon"), id="N-zzzz", minutes=1)
    same = event(Note(text="same"), id="N-bbbb", minutes=1)
    after = event(Note(text="after"), id="N-2222", minutes=0, prev=(late.digest,))
    ordered = in_order([late, after, soon, same])
    assert [each.body.text for each in ordered if isinstance(each.body, Note)] == [
        *("same", "soon", "late", "after"),
    ]


def test_a_circle_that_only_a_forger_could_make_ends(tmp_path: Path) -> None:
    one, two, three = chain(3)
    forged = [replace(one, prev=(two.digest,)), replace(two, prev=(one.digest,)), three]
    assert {each.digest for each in in_order(forged)} == {one.digest, two.digest, three.digest}
    assert descendants(forged, [one.digest]) == {one.digest, two.digest, three.digest}


def test_a_fork_has_two_heads_until_the_next_event_joins_them(tmp_path: Path) -> None:
    base = event(Note(text="base"), id="N-aaaa")
    ours = event(Note(text="ours"), id="N-bbbb", prev=(base.digest,), seq=2)
    theirs = event(Note(text="theirs"), id="N-cccc", prev=(base.digest,), seq=2)
    write(tmp_path, *(line(each) + b"\n" for each in (base, ours, theirs)))
    log = EventLog(tmp_path, AT_ONCE)
    assert log.read().heads == tuple(sorted([ours.digest, theirs.digest]))
    assert log.read().problems == ()
    joined = log.append(Note(text="joined"), ANA)
    assert joined.prev == tuple(sorted([ours.digest, theirs.digest]))
    assert joined.seq == 3
    assert log.read().heads == (joined.digest,)


# --- renumbering ------------------------------------------------------------------------------------


def test_events_are_read_as_renumbering_says(tmp_path: Path) -> None:
    log = EventLog(tmp_path, AT_ONCE)
    proposed = log.append(BODIES["proposed"], ANA)
    given_evidence = log.append(BODIES["evidence"], ANA)
    verdict = log.append(BODIES["verdict"], ANA)
    ruling = log.append(BODIES["ruling"], ANA)
    untouched = log.append(BODIES["link"], ANA)
    log.append(
        Renumbered(
            file="hypotheses/H09-host-mirror.yaml",
            was="H5",
            to="H9",
            events=(proposed.id, given_evidence.id, ruling.id),
            runs=("20261129T151200Z-k3m7q2xa",),
        ),
        ANA,
    )
    log.append(Renumbered(file="hypotheses/H12-x.yaml", was="H9", to="H12", events=(ruling.id,)), ANA)
    found = {each.id: each.body for each in log.read().events}
    assert found[proposed.id] == Proposed(
        hypothesis="H9", file="hypotheses/H09-host-mirror.yaml", title="Host mirror is sized for fp8"
    )
    moved = found[given_evidence.id]
    assert isinstance(moved, EvidenceGiven)
    assert isinstance(given_evidence.body, EvidenceGiven)
    assert moved.bears == {"H1": given_evidence.body.bears["H1"], "H9": given_evidence.body.bears["H5"]}
    assert getattr(found[verdict.id], "hypothesis", "") == "H9"  # by its run
    assert getattr(found[ruling.id], "replaced_by", "") == "H12"  # twice renumbered
    assert found[untouched.id] == BODIES["link"]
    for kept in log._tail.chain.events.values():  # the log itself says what it said
        assert kept.id != proposed.id or kept.body == BODIES["proposed"]


# --- following a log that grows ---------------------------------------------------------------------


def test_a_log_is_followed_through_growth_replacement_and_cuts(tmp_path: Path) -> None:
    events = chain(30)
    lines = [line(each) + b"\n" for each in events]
    path = write(tmp_path, *lines[:10])
    log = EventLog(tmp_path)
    assert len(log.read().events) == 10
    with path.open("ab") as file:
        file.write(b"".join(lines[10:20]) + lines[20][:30])
    assert len(log.read().events) == 20
    with path.open("ab") as file:
        file.write(lines[20][30:])
    assert log.read() == read(tmp_path)
    assert len(log.read().events) == 21

    other = path.with_name("merged")  # as git does: another file under the same name
    other.write_bytes(b"".join(lines[5:]))
    other.rename(path)
    assert log.read() == read(tmp_path)
    assert len(log.read().events) == 25
    path.write_bytes(b"".join(lines[:3]))  # the same file, cut
    assert log.read() == read(tmp_path)
    path.write_bytes(b"".join(lines[20:]))  # the same file, longer, with other lines
    assert log.read() == read(tmp_path)
    path.unlink()
    assert log.read() == Log()


def test_only_what_was_added_is_read(tmp_path: Path) -> None:
    *events, last = chain(51)
    path = write(tmp_path, *(line(each) + b"\n" for each in events))
    log = EventLog(tmp_path, AT_ONCE)
    assert log.read().problems == ()
    data = bytearray(path.read_bytes())
    data[10] ^= 1  # a change far back that a whole reading would see
    with path.open("r+b") as file:
        file.write(data + line(last) + b"\n")
    assert len(log.read().events) == 51
    assert log.read().problems == ()
    assert len(read(tmp_path).problems) == 2  # the damaged line, and the one that follows it


def test_a_log_that_was_edited_in_place_is_read_again(tmp_path: Path) -> None:
    one, two = event(Note(text="one"), id="N-aaaa"), event(Note(text="two"), id="N-aaaa")
    filler = [line(each) + b"\n" for each in chain(9)[1:]]
    path = write(tmp_path, line(one), b"\n", *filler)
    log = EventLog(tmp_path)
    assert "one" in texts(log.read())
    with path.open("r+b") as file:
        file.write(line(two) + b"\n")
    os.utime(path, ns=(1, 1))  # a later time, however coarse the clock
    assert "two" in texts(log.read())
    assert log.read() == read(tmp_path)
    write(tmp_path, *filler[::-1], line(one), b"\n")  # as many bytes and events, another end
    assert log.read() == read(tmp_path)


def test_proposals_of_unknown_ids_are_no_concern_of_the_log(tmp_path: Path) -> None:
    log = EventLog(tmp_path, AT_ONCE)
    strange = Proposed(hypothesis="../../etc", file="../../etc/passwd", title="x")
    log.append(strange, ANA)
    assert log.read().events[0].body == strange
