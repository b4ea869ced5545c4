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
    """No attempt got a response. A POST may have taken effect: retry it with the same idempotency key."""


class InvalidResponse(GuerdonError):
    """The response is not one of this API."""
