"""Sends requests and retries them."""

from __future__ import annotations

import random
import time
import uuid
from collections.abc import Callable, Mapping
from typing import Any

import httpx

from .errors import ApiError, ConnectionFailed, FieldError, InvalidResponse

#: Errors are problem details (RFC 9457), which have a code.
ACCEPT = "application/json, application/problem+json"
ATTEMPTS_MAX = 6
FIRST_WAIT_SECONDS = 0.25
#: The longest wait that a response can ask for by Retry-After.
RETRY_AFTER_MAX_SECONDS = 60.0
#: Statuses that may be others on the next attempt; 502 and 504 come from proxies.
TRANSIENT_STATUSES = frozenset({429, 500, 502, 503, 504})


class Transport:
    """Sends each request up to six times. A POST keeps its idempotency key, so that it takes effect once."""

    def __init__(self, http: httpx.Client, sleep: Callable[[float], None] = time.sleep) -> None:
        self._http = http
        self.sleep = sleep

    def close(self) -> None:
        self._http.close()

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
        if method == "POST":
            # The service refuses an empty key.
            headers["Idempotency-Key"] = str(uuid.uuid4()) if idempotency_key is None else idempotency_key
        params = {name: value for name, value in (query or {}).items() if value is not None}
        timeout = self._timeout(read_seconds_min)
        wait = FIRST_WAIT_SECONDS
        for attempt in range(1, ATTEMPTS_MAX + 1):
            is_last = attempt == ATTEMPTS_MAX
            retry_after = 0.0
            try:
                response = self._http.request(
                    method, f"/v1{path}", params=params, json=body, headers=headers, timeout=timeout
                )
            except httpx.TransportError as error:
                if is_last or _is_permanent(error):
                    raise ConnectionFailed(str(error) or type(error).__name__) from error
            else:
                if response.is_success:
                    return _decode(response) if response.content else None
                if is_last or response.status_code not in TRANSIENT_STATUSES:
                    raise _refusal(response)
                retry_after = _retry_after(response)
            # A random part of the wait, so that many clients do not retry at the same time.
            self.sleep(max(min(retry_after, RETRY_AFTER_MAX_SECONDS), wait * random.random()))
            wait *= 2
        raise AssertionError("the last attempt returns or raises")

    def _timeout(self, read_seconds_min: float) -> httpx.Timeout:
        configured = self._http.timeout
        read = None if configured.read is None else max(configured.read, read_seconds_min)
        return httpx.Timeout(connect=configured.connect, read=read, write=configured.write, pool=configured.pool)


def _is_permanent(error: httpx.TransportError) -> bool:
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
