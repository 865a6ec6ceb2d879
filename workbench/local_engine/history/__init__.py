"""The engine's past: a git history made of the shipped tree, the same on every machine.

    python -m workbench.local_engine.history.build DIR       make it, as a repository in DIR
    python -m workbench.local_engine.history.refresh         re-roll the patches after an engine edit

    series    what the commits are; the tree of each, derived from the shipped one      (pure)
    patch     unified diffs: read, reverse, apply, render                               (pure)
    stream    trees as a `git fast-import` stream                                       (pure)
    shipped   the tree that the history ends in
    git       git as a subprocess, without anybody's settings
    build     the command that makes a repository
    refresh   the command that keeps patches in step with the engine

    series.toml, patches/    the commits      root/    files of the repository beside the package

In the history the engine is a top-level package `minisgl`, so that a worktree's code can never be
mistaken for the installed one: `cd WORKTREE && python -m minisgl.launch`.
"""
