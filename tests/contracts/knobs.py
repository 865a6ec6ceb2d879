"""The contract of a knob kind: hold yours against it in a test of your own.

    def test_mine() -> None:
        hold_to_contract(lambda: Mine(Mine.Options(name="x")), values=["a", 1, None])

It fails with what was broken, and the value and the launch that showed it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import fields
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workbench.ports import Checkout, Edit, KnobKind, Launch

HOSTILE: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1e-7, float("nan"), float("inf"), 10**40),
    *("", " ", "\0", "\n", "\x1b[31m", "\ud800", "-", "--x=y", "; rm -rf /", "$(id)", "'\"\\", "公"),
    *([], {}, [1, [2]], {"a": {"b": None}}, {1: 2}, {"a": float("nan")}, object(), b"bytes"),
)
anything = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)
names = st.sampled_from(["A", "temperature", "in_flight", "a.b"])
launches = st.builds(
    Launch,
    argv=st.lists(st.sampled_from(["./serve", "--port", "1", "-v"]), max_size=4).map(tuple),
    env=st.dictionaries(names, st.one_of(st.none(), st.just("1")), max_size=2),
    url=st.sampled_from(["", "http://127.0.0.1:9"]),
    edits=st.lists(
        st.builds(Edit, path=st.just("other.sh"), line=st.just("--other"), value=st.booleans()),
        max_size=1,
    ).map(tuple),
    request=st.dictionaries(names, st.integers(), max_size=2),
    load=st.dictionaries(names, st.integers(), max_size=2),
    checkout=st.none()
    | st.builds(
        Checkout,
        commit=st.sampled_from(["", "main"]),
        patches=st.sampled_from([(), ("a.patch",)]),
        build=st.sampled_from([(), ("make",)]),
    ),
)


def hold_to_contract(make: Callable[[], KnobKind], *, values: Iterable[Any]) -> None:
    """Hold a kind of knob to its contract.

    Args:
        make: Builds it, each time anew.
        values: Some that it can be set to.

    Raises:
        AssertionError: It does not keep to it.
    """
    good = list(values)
    assert good, "give values that it can be set to"
    assert isinstance(make(), KnobKind), "a method `apply` is needed"
    for value in good:
        try:
            make().apply(value, Launch())
        except ValueError as error:
            raise AssertionError(f"it refuses {value!r} for an empty launch: {error}") from error
    for value in (*good, *HOSTILE):
        _apply(make, value, Launch())
    _touches_one_thing(make, good)
    _anything(make, good)


def _anything(make: Callable[[], KnobKind], good: list[Any]) -> None:
    @settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None)
    @given(st.one_of(st.sampled_from(good), anything), launches)
    def any_value(value: Any, launch: Launch) -> None:
        _apply(make, value, launch)

    any_value()


def _touches_one_thing(make: Callable[[], KnobKind], good: list[Any]) -> None:
    """Whatever it is set to, it turns the same field of a launch and no other."""
    turned = {name for value in good for name in _changed(Launch(), make().apply(value, Launch()))}
    assert len(turned) == 1, f"it turns {sorted(turned) or 'nothing'}, and one thing is due"


def _apply(make: Callable[[], KnobKind], value: Any, launch: Launch) -> None:
    shown = f"{value!r} for {launch}"
    knob, before, given_value = make(), deepcopy(launch), deepcopy(value)
    after = _given(knob, value, launch, shown)
    assert launch == before, f"it changes the launch that it was given: {shown}"
    assert repr(value) == repr(given_value) or type(value) is object, f"it changes the value: {shown}"
    if after is None:
        assert _given(make(), value, launch, shown) is None, f"it refuses only sometimes: {shown}"
        return
    assert isinstance(after, Launch), f"it gives {after!r}, and no launch: {shown}"
    changed = _changed(launch, after)
    assert len(changed) <= 1, f"it turns {sorted(changed)} at once: {shown}"
    for other in (knob, make()):
        assert _given(other, value, launch, shown) == after, f"it is not the same each time: {shown}"
    twice = _given(knob, value, after, shown)
    assert twice in (None, after), f"applied twice it is neither refused nor the same: {shown}"


def _given(knob: KnobKind, value: Any, launch: Launch, shown: str) -> Launch | None:
    """Give what it makes of a launch, None when it refuses as it should."""
    try:
        return knob.apply(value, launch)
    except ValueError as refused:
        reason = str(refused)
    except Exception as error:
        raise AssertionError(f"it raises {error!r}: {shown}") from error
    assert reason, f"it refuses without a reason: {shown}"
    return None


def _changed(before: Launch, after: Launch) -> set[str]:
    return {
        field.name
        for field in fields(Launch)
        if getattr(before, field.name) != getattr(after, field.name)
    }
