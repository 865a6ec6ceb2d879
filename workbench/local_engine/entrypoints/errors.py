"""Errors of the API, in OpenAI's shape."""

from __future__ import annotations

from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse

from ..logs import logger

_TYPES = {404: "not_found_error", 413: "invalid_request_error", 429: "rate_limit_error"}


class ApiError(Exception):
    """A request that cannot be served.

    Args:
        message: What is wrong, for the client to read.
        status: HTTP status.
        param: The field of the body that is to blame.
        code: Machine-readable reason.
    """

    def __init__(
        self, message: str, *, status: int = 400, param: str | None = None, code: str | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.body = error_body(message, status, param=param, code=code)

    def response(self) -> JSONResponse:
        """Give the reply that tells of it."""
        return JSONResponse(self.body, self.status)


def error_body(
    message: str, status: int, *, param: str | None = None, code: str | None = None
) -> dict[str, object]:
    """Give the JSON of an error."""
    kind = _TYPES.get(status, "invalid_request_error" if status < 500 else "server_error")
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


async def on_api_error(_: Request, error: Exception) -> JSONResponse:
    """Answer an `ApiError`."""
    assert isinstance(error, ApiError)
    return error.response()


async def on_http_error(request: Request, error: Exception) -> JSONResponse:
    """Answer an unknown route or method."""
    assert isinstance(error, HTTPException)
    phrase = HTTPStatus(error.status_code).phrase
    message = f"{phrase}: {request.method} {request.url.path}"
    return JSONResponse(error_body(message, error.status_code), error.status_code, error.headers)


async def on_unexpected(request: Request, error: Exception) -> JSONResponse:
    """Answer what should not have happened."""
    logger.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return JSONResponse(error_body(f"internal error: {type(error).__name__}", 500), 500)


HANDLERS = {ApiError: on_api_error, HTTPException: on_http_error, Exception: on_unexpected}
