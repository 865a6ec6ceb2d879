"""The engine of `docs/new-engine.md`, straight from the page: short, and true to the contract."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from tests.conftest import ROOT
from tests.contracts.engines import hold_to_contract
from tests.drivers.test_attach import LITTLE
from workbench import plugins
from workbench.engines.components import draw_ports
from workbench.model.plan import Arm, Part
from workbench.ports import Engine, Launch

PAGE = (ROOT / "docs" / "new-engine.md").read_text(encoding="utf-8")
CODE = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[0]
LONGEST = 60  # lines that hold code


def on_the_page() -> ModuleType:
    module = ModuleType("on_the_page")
    sys.modules[module.__name__] = module  # dataclasses look themselves up there
    exec(compile(CODE, "docs/new-engine.md", "exec"), module.__dict__)
    return module


def test_it_is_short() -> None:
    assert len([line for line in CODE.splitlines() if line.strip()]) < LONGEST


def test_it_keeps_to_the_contract(tmp_path: Path) -> None:
    engine = on_the_page().Foreground
    dialect = plugins.build(plugins.Group.DIALECT, Part(kind="openai"))
    port = str(draw_ports(["server"])["server"])

    def make(*words: str) -> Engine:
        argv = (sys.executable, LITTLE, port, *words)
        options = {"argv": argv, "url": f"http://127.0.0.1:{port}", "cwd": str(tmp_path)}
        built: Engine = engine(engine.Options(**options), dialect)
        return built

    def turn(launch: Launch, component: str = "") -> Launch:
        env: Mapping[str, str | None] = {**launch.env, "MODE": "x", "HOME": None}
        return Launch(argv=(*launch.argv, "--more"), env=env)

    asyncio.run(
        hold_to_contract(
            make,
            Arm(name="control", settings={}),
            turn=turn,
            cannot=lambda: make("exit", "3", "no model"),
        )
    )
