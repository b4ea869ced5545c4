"""Errors of requests. All are subclasses of :class:`GuerdonError`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class GuerdonError(Exception):
    """Base class of the errors that this package raises."""


@dataclass(frozen=True)
class FieldError:
    """An invalid field of the path, the query or the body."""

    field: str
    message: str


class ApiError(GuerdonError):
    """The service refused the request, or kept refusing it until the last retry."""

    def __init__(
        self, status: int, message: str, request_id: str, code: str = "", errors: Sequence[FieldError] = ()
    ) -> None:
        super().__init__(f"{status}: {message} (request {request_id})")
        #: The HTTP status.
        self.status = status
        #: The reason, for people.
        self.message = message
        #: The id by which the operator finds the request in the log.
        self.request_id = request_id
        #: The reason, for programs, such as ``insufficient_funds``. Empty if a proxy responded.
        self.code = code
        #: The invalid fields.
        self.errors = tuple(errors)


class ConnectionFailed(GuerdonError):
    """The last attempt got no response."""


class InvalidResponse(GuerdonError):
    """The response is not one of this API."""


class OutcomeUnknown(GuerdonError):
    """A POST may have taken effect: an attempt got no valid response or a server error, and no later response settled
    whether it was executed. Retry the call with ``idempotency_key`` within 72 hours, until it succeeds or is refused
    with status 400 or 404; no other refusal settles the outcome. It takes effect at most once. The code
    ``idempotency_key_reused`` means that a different request with this key took effect."""

    def __init__(self, idempotency_key: str, last_error: GuerdonError) -> None:
        super().__init__(
            f"the outcome is unknown ({last_error}); retry the request with the idempotency key {idempotency_key}"
        )
        #: The key of all attempts.
        self.idempotency_key = idempotency_key
        #: The error of the last attempt.
        self.last_error = last_error
