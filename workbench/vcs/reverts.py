"""Stub."""


class Reverts:
    def __init__(self, repository: object, index: object) -> None: ...
    def by(self, sha: str) -> None:
        return None

    def of(self, sha: str, at: str) -> tuple[()]:
        return ()

    def remade(self, sha: str, at: str) -> tuple[()]:
        return ()
