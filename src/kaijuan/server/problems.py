"""Errors as problem documents (RFC 9457) with our codes, hints and the id of the request."""

from __future__ import annotations

import logging
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from kaijuan import errors
from kaijuan.verbs.shapes import Json

MEDIA_TYPE = "application/problem+json"
RETRY_SECONDS = "2"
_log = logging.getLogger("kaijuan.server")

STATUSES: tuple[tuple[type[errors.KaijuanError], int], ...] = (
    (errors.NotFoundError, 404),
    (errors.UsageError, 400),
    (errors.OversizeDocumentError, 413),
    (errors.UnsupportedDocumentError, 415),
    (errors.DocumentError, 422),
    (errors.UnauthenticatedError, 401),
    (errors.TooManyRequestsError, 429),
    (errors.AccessError, 403),
    (errors.BusyError, 409),
    (errors.DiskFullError, 507),
    (errors.ClosedError, 503),
    (errors.StoreError, 500),
    (errors.ModelError, 502),
    (errors.StoppedError, 503),
    (errors.MissingExtraError, 501),
)
"""The first class that fits counts."""

_CODES = {
    400: "usage",
    401: errors.UnauthenticatedError.code,
    403: errors.AccessError.code,
    404: errors.NotFoundError.code,
    405: "method_not_allowed",
    406: "not_acceptable",
    408: "request_timeout",
    413: errors.OversizeDocumentError.code,
    415: errors.UnsupportedDocumentError.code,
    422: "usage",
    429: errors.TooManyRequestsError.code,
    503: "unavailable",
}


class RequestError(HTTPException):
    """A request that is refused before any verb is asked. `hint` says what to do."""

    def __init__(self, status: int, message: str, *, hint: str = "", code: str = "") -> None:
        super().__init__(status_code=status, detail=message)
        self.hint = hint
        self.code = code or _CODES.get(status, "usage")


def status_of(error: errors.KaijuanError) -> int:
    """Return the HTTP status of an error of the engine."""
    return next((status for kind, status in STATUSES if isinstance(error, kind)), 500)


def problem_shape(status: int, *, code: str, message: str, hint: str = "", retry: bool = False, request: str) -> Json:
    """Return a problem document."""
    return {
        "type": f"urn:kaijuan:error:{code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": message,
        "code": code,
        "hint": hint,
        "retry": retry,
        "request_id": request,
    }


def error_problem(error: errors.KaijuanError, request: str) -> Json:
    """Return the problem document of an error of the engine. What failed inside is not told to callers."""
    return problem_shape(
        status_of(error), code=error.code, message=error.message, hint=error.hint, retry=error.retry, request=request
    )


def request_id(request: Request) -> str:
    """Return the id by which this request is known in logs, answers and the audit log."""
    return str(getattr(request.state, "request_id", ""))


def answer_problem(body: Json, headers: dict[str, str] | None = None, *, path: str = "") -> JSONResponse:
    """Return the response of a problem; below /v1 in the shape of OpenAI's protocol."""
    status = int(str(body["status"]))
    more = dict(headers or {})
    if status == HTTPStatus.UNAUTHORIZED:
        more["WWW-Authenticate"] = 'Bearer realm="kaijuan"'
    if status in (HTTPStatus.CONFLICT, HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE) and body["retry"]:
        more.setdefault("Retry-After", RETRY_SECONDS)
    if path.startswith("/v1/"):
        return JSONResponse({"error": openai_error(body)}, status_code=status, headers=more)
    return JSONResponse(body, status_code=status, media_type=MEDIA_TYPE, headers=more)


def openai_error(body: Json) -> Json:
    """Return a problem as OpenAI's protocol writes errors."""
    kinds = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}
    status = int(str(body["status"]))
    kind = kinds.get(status, "invalid_request_error" if status < HTTPStatus.INTERNAL_SERVER_ERROR else "server_error")
    message = f"{body['detail']} {body['hint']}".strip()
    return {"message": message, "type": kind, "code": body["code"], "param": None, "request_id": body["request_id"]}


def install(app: FastAPI) -> None:
    """Let every failure of the application end as a problem document."""
    app.add_exception_handler(errors.KaijuanError, _on_engine_error)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(HTTPException, _on_refused)
    app.add_exception_handler(ClientDisconnect, _on_gone)
    app.add_exception_handler(Exception, _on_defect)


async def _on_engine_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, errors.KaijuanError)
    return answer_problem(error_problem(error, request_id(request)), path=request.url.path)


async def _on_invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    faults = [
        {"place": ".".join(str(part) for part in fault["loc"]), "message": str(fault["msg"])}
        for fault in error.errors()[:20]
    ]
    said = "; ".join(f"{fault['place']}: {fault['message']}" for fault in faults[:3])
    body = problem_shape(422, code="usage", message=f"The request is wrong: {said}.", request=request_id(request))
    return answer_problem({**body, "errors": faults}, path=request.url.path)


async def _on_refused(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    code = getattr(error, "code", "") or _CODES.get(error.status_code, "usage")
    body = problem_shape(
        error.status_code,
        code=code,
        message=str(error.detail),
        hint=str(getattr(error, "hint", "")),
        retry=error.status_code in (408, 503),
        request=request_id(request),
    )
    return answer_problem(body, dict(error.headers or {}), path=request.url.path)


async def _on_gone(request: Request, _: Exception) -> JSONResponse:
    # Nobody reads this; that callers go is no defect of the service.
    body = problem_shape(400, code="usage", message="The request broke off.", request=request_id(request))
    return answer_problem(body, path=request.url.path)


async def _on_defect(request: Request, error: Exception) -> JSONResponse:
    # The message of a defect may hold anything, paths and passages too: it goes to the log alone.
    _log.error("request %s failed", request_id(request), exc_info=error)
    body = problem_shape(
        500,
        code=errors.KaijuanError.code,
        message="Something went wrong inside.",
        hint="This is a defect of kaijuan; the log of the service tells more under the request id.",
        request=request_id(request),
    )
    return answer_problem(body, path=request.url.path)
