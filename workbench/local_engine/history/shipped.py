"""The tree that the history ends in: this package under its name there, and the files of `root/`."""

from __future__ import annotations

from pathlib import Path

from .patch import Tree

PACKAGE = "minisgl"
HERE = Path(__file__).parent
ENGINE = HERE.parent

_IGNORE = "__pycache__/\n"  # a tree that has run is not a tree that was changed
_SOURCES = {".py", ".txt", ".json", ".toml", ".md"}  # an editor's leavings are not part of the engine


def tree(engine: Path = ENGINE, root: Path = HERE / "root") -> dict[str, str]:
    """Read the shipped tree, path to text.

    Args:
        engine: Folder of the engine; its `history` is left out.
        root: Folder of what stands beside the package.
    """
    own = {path: text for path, text in read(engine).items() if not path.startswith("history/")}
    return {
        ".gitignore": _IGNORE,
        **read(root),
        **{f"{PACKAGE}/{path}": text for path, text in own.items()},
    }


def read(folder: Path) -> dict[str, str]:
    """Read the sources below a folder, relative path to text."""
    files = (file for file in sorted(folder.rglob("*")) if _is_source(file))
    # as bytes: the text of a commit must not depend on a translation of line ends
    return {file.relative_to(folder).as_posix(): file.read_bytes().decode() for file in files}


def _is_source(file: Path) -> bool:
    return (file.suffix in _SOURCES or file.name == ".gitignore") and file.is_file()


def write(tree: Tree, folder: Path) -> None:
    """Write a tree into a folder."""
    for path, text in tree.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
