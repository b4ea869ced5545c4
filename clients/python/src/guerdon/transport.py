"""Sends requests and retries them."""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import httpx

from .errors import ApiError, ConnectionFailed, FieldError, GuerdonError, InvalidResponse, OutcomeUnknown

T = TypeVar("T")

#: Errors are problem details (RFC 9457), which have a code.
ACCEPT = "application/json, application/problem+json"
ATTEMPTS_MAX = 6
FIRST_WAIT_SECONDS = 0.25
#: The longest wait that a response can ask for by Retry-After.
RETRY_AFTER_MAX_SECONDS = 60.0
#: Statuses that may be others on the next attempt; 502 and 504 come from proxies.
TRANSIENT_STATUSES = frozenset({429, 500, 502, 503, 504})
#: Errors that occur before a request is sent.
UNSENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.UnsupportedProtocol,
    httpx.LocalProtocolError,
)


class Transport:
    """Sends each request up to six times. A POST keeps its idempotency key, so that it takes effect once."""

    def __init__(self, http: httpx.Client, sleep: Callable[[float], None] = time.sleep) -> None:
        self._http = http
        self.sleep = sleep

    def close(self) -> None:
        self._http.close()

    def post(
        self, path: str, body: Mapping[str, Any], read: Callable[[Any], T], idempotency_key: str | None = None
    ) -> T:
        """Sends a POST and returns what ``read`` makes of the decoded body of its response."""
        # The service refuses an empty key.
        key = str(uuid.uuid4()) if idempotency_key is None else idempotency_key
        try:
            return read(self.request("POST", path, body=body, idempotency_key=key))
        except InvalidResponse as error:
            raise OutcomeUnknown(key, error) from error

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
        read_seconds_min: float = 0.0,
    ) -> Any:
        """Returns the decoded body of a successful response; None if it has none. The read timeout is at least
        ``read_seconds_min``, even if that of the HTTP client is shorter."""
        headers = {"Accept": ACCEPT}
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        params = {name: value for name, value in (query or {}).items() if value is not None}
        timeout = self._timeout(read_seconds_min)
        wait = FIRST_WAIT_SECONDS
        may_have_taken_effect = False
        failure: GuerdonError
        for attempt in range(1, ATTEMPTS_MAX + 1):
            try:
                response = self._http.request(
                    method, f"/v1{path}", params=params, json=body, headers=headers, timeout=timeout
                )
            except httpx.RequestError as error:
                failure = ConnectionFailed(str(error) or type(error).__name__)
                failure.__cause__ = error
                may_have_taken_effect = may_have_taken_effect or not isinstance(error, UNSENT)
                is_transient, retry_after = not _is_permanent(error), 0.0
            else:
                if response.is_success:
                    return _decode(response) if response.content else None
                failure = refusal = _refusal(response)
                if method == "DELETE" and may_have_taken_effect and refusal.code == "not_found":
                    return None  # an earlier attempt deleted the object
                if refusal.status in (400, 404) and refusal.code not in ("", "idempotency_key_reused"):
                    # The service checks the key before it refuses a POST for its content: no earlier attempt was
                    # executed. Without a code, a proxy responded. A reused key has been executed with another body.
                    may_have_taken_effect = False
                elif refusal.status >= 500 and refusal.code != "maintenance":
                    may_have_taken_effect = True
                is_transient, retry_after = refusal.status in TRANSIENT_STATUSES, _retry_after(response)
            if attempt == ATTEMPTS_MAX or not is_transient:
                if may_have_taken_effect and idempotency_key is not None:
                    raise OutcomeUnknown(idempotency_key, failure) from failure
                raise failure
            # A random part of the wait, so that many clients do not retry at the same time.
            self.sleep(max(min(retry_after, RETRY_AFTER_MAX_SECONDS), wait * random.random()))
            wait *= 2
        raise AssertionError("the last attempt returns or raises")

    def _timeout(self, read_seconds_min: float) -> httpx.Timeout:
        configured = self._http.timeout
        read = None if configured.read is None else max(configured.read, read_seconds_min)
        return httpx.Timeout(connect=configured.connect, read=read, write=configured.write, pool=configured.pool)


def _is_permanent(error: httpx.RequestError) -> bool:
    if isinstance(error, (httpx.UnsupportedProtocol, httpx.LocalProtocolError)):
        return True
    return "certificate verify failed" in str(error).lower()


def _decode(response: httpx.Response) -> Any:
    try:
        return response.json()
    except ValueError as error:
        raise InvalidResponse(f"the body of a {response.status_code} is not JSON: {error}") from error


def _refusal(response: httpx.Response) -> ApiError:
    request_id = response.headers.get("x-request-id", "-")
    try:
        problem = response.json()
        errors = [FieldError(error["field"], error["message"]) for error in problem["errors"]]
        return ApiError(response.status_code, problem["detail"], request_id, problem["code"], errors)
    except (ValueError, KeyError, TypeError):  # a page of a proxy
        return ApiError(response.status_code, response.reason_phrase, request_id)


def _retry_after(response: httpx.Response) -> float:
    try:
        return max(0.0, float(response.headers.get("retry-after", "0")))
    except ValueError:
        return 0.0
