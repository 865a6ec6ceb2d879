"""A hostile user's settings, which no answer may depend on."""

from __future__ import annotations

from pathlib import Path

import pytest

SETTINGS = """
[core]
	quotePath = true
	pager = touch {trap}
	fsmonitor = touch {trap}
	attributesFile = {home}/attributes
	hooksPath = {home}/hooks
	bigFileThreshold = 1
[color]
	ui = always
[diff]
	noprefix = true
	mnemonicPrefix = true
	renames = copies
	algorithm = patience
	external = touch {trap}
	context = 9
	interHunkContext = 50
	orderFile = {home}/order
	relative = true
	submodule = log
	ignoreSubmodules = all
[diff "shown"]
	textconv = touch {trap} #
	command = touch {trap}
[filter "ran"]
	clean = touch {trap}
	smudge = touch {trap}
[log]
	showSignature = true
	follow = true
	date = relative
	decorate = full
	excludeDecoration = *
	diffMerges = remerge
[i18n]
	logOutputEncoding = ISO-8859-1
[format]
	pretty = fuller
[gpg]
	program = touch {trap}
[alias]
	log = !touch {trap}
[core]
	abbrev = 5
"""


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a file that must never come to be: settings of the user would make it, and spoil answers."""
    home, trap = tmp_path / "home", tmp_path / "trap"
    (home / "hooks").mkdir(parents=True)
    (home / ".gitconfig").write_text(SETTINGS.format(trap=trap, home=home))
    (home / "attributes").write_text("* diff=shown filter=ran\n")
    (home / "order").write_text("z*\n")
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE"):
        monkeypatch.setenv(name, str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", f"touch {trap}")
    monkeypatch.setenv("GIT_PAGER", f"touch {trap}")
    monkeypatch.setenv("GIT_TRACE", str(trap))
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home))
    return trap
