"""Stub."""


class Index:
    @classmethod
    def open(cls, repository: object, folder: object) -> "Index":
        return cls()
