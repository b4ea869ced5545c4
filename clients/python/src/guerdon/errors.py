"""Errors of requests. All are subclasses of :class:`GuerdonError`."""

from __future__ import annotations


class GuerdonError(Exception):
    """Base class of the errors that this package raises."""


class ApiError(GuerdonError):
    """The service refused the request, or kept refusing it until the last retry."""

    def __init__(self, status: int, message: str, request_id: str) -> None:
        super().__init__(f"{status}: {message} (request {request_id})")
        #: The HTTP status.
        self.status = status
        #: The reason, for people.
        self.message = message
        #: The id by which the operator finds the request in the log.
        self.request_id = request_id


class ConnectionFailed(GuerdonError):
    """No attempt got a response. A POST may have taken effect: retry it with the same idempotency key."""


class InvalidResponse(GuerdonError):
    """The response is not one of this API."""
