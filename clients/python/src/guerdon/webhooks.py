"""Verifies webhooks and reads events.

A receiver::

    from guerdon.webhooks import Receiver, WebhookError

    receiver = Receiver("https://example.com/hook", shared_secret)

    def handle(headers, body):          # the raw body, before anything parses it
        try:
            received = receiver.receive(headers, body)
        except WebhookError as error:
            print("rejected:", error)
            return 401
        print(received.event_id, received.event.type)
        return 200                      # only 200 confirms a delivery

Delivery is at least once and in no particular order: handle each ``event_id`` once.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Literal

from .errors import GuerdonError, InvalidResponse
from .models import SenderType, from_json

REPLAY_WINDOW_SECONDS = 300.0
NONCES_MAX = 1 << 20
_SIGNATURE = re.compile(r"[0-9a-f]{64}")

Reason = Literal["missing_header", "malformed", "bad_signature", "stale", "replayed", "unreadable"]


class WebhookError(GuerdonError):
    """The delivery must be rejected: respond with any status but 200."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason


@dataclass(frozen=True)
class RecognitionData:
    """The data of ``recognition.received`` and ``recognition.updated``."""

    id: str
    sender_type: SenderType
    #: The user or the company that sent it.
    sender_id: str
    sender_name: str
    #: None if a company sent it.
    sender_email: str | None
    receiver_id: str
    receiver_name: str
    receiver_email: str
    occasion_id: str
    occasion_name: str
    points: int
    company_id: str
    #: None if the recognition is private.
    message: str | None
    created_at: str
    share: bool


@dataclass(frozen=True)
class RedemptionData:
    """The data of ``redemption.created``."""

    #: The user who spent the points.
    user_id: str
    user_email: str
    points: int
    #: All points that the user ever spent from this wallet, these included.
    cumulative_points_spent: int
    company_id: str


@dataclass(frozen=True)
class WebhookEvent:
    """An event. ``data`` is None for an unknown type. Respond with 200 to unknown types; their content is in
    ``json``."""

    type: str
    version: str
    data: RecognitionData | RedemptionData | None
    #: The whole body.
    json: dict[str, Any]


@dataclass(frozen=True)
class Received:
    """A verified delivery."""

    #: The same in all attempts to deliver the event.
    event_id: str
    event: WebhookEvent


_DATA: dict[str, type[RecognitionData] | type[RedemptionData]] = {
    "recognition.received": RecognitionData,
    "recognition.updated": RecognitionData,
    "redemption.created": RedemptionData,
}


def parse_event(body: bytes | str | dict[str, Any]) -> WebhookEvent:
    """Reads the body of a delivery, or of an event of the feed. Verify a delivery first."""
    try:
        decoded = body if isinstance(body, dict) else json.loads(body)
        model = _DATA.get(decoded["type"])
        data = from_json(model, decoded["data"]) if model else None
        return WebhookEvent(str(decoded["type"]), str(decoded.get("version", "")), data, decoded)
    except (ValueError, KeyError, TypeError, AttributeError, InvalidResponse) as error:
        raise WebhookError("unreadable", f"the event cannot be read: {error}") from error


def sign(secret: str, url: str, timestamp: str, nonce: str, body: bytes) -> str:
    """The value of ``X-Service-Signature``: HMAC-SHA-256 over URL, timestamp, nonce and body, joined by line feeds."""
    message = b"\n".join((url.encode(), timestamp.encode(), nonce.encode(), body))
    return hmac.new(secret.encode(), message, hashlib.sha256).hexdigest()


class Receiver:
    """Verifies deliveries to one callback URL, and rejects replays within this process. Threads can share it.

    ``callback_url`` is the URL exactly as the operator registered it. While the shared secret is rotated, pass the old
    one and the new one: a delivery that is signed with either is accepted.
    """

    def __init__(self, callback_url: str, shared_secret: str, *other_secrets: str) -> None:
        self._callback_url = callback_url
        self._shared_secrets = (shared_secret, *other_secrets)
        if "" in self._shared_secrets:
            raise ValueError("a shared secret is empty: anyone could sign with it")
        self._nonces: OrderedDict[str, float] = OrderedDict()
        self._lock = threading.Lock()

    def receive(self, headers: Mapping[str, str], body: bytes, *, now: datetime | None = None) -> Received:
        """Verifies a request and reads its event. ``headers`` can be in any case, ``body`` is the raw body.

        :raises WebhookError: if the delivery is not genuine, is too old, or was received before.
        """
        by_name = {name.lower(): value for name, value in headers.items()}

        def header(name: str) -> str:
            if name not in by_name:
                raise WebhookError("missing_header", f"the header {name} is missing")
            return by_name[name]

        timestamp, nonce = header("x-service-timestamp"), header("x-service-nonce")
        signature, event_id = header("x-service-signature"), header("x-service-event-id")
        sent_at = _parse_timestamp(timestamp)
        if not nonce or "\n" in nonce:
            raise WebhookError("malformed", "the nonce is malformed")
        if not _SIGNATURE.fullmatch(signature):
            raise WebhookError("malformed", "the signature is malformed")
        expected = (sign(secret, self._callback_url, timestamp, nonce, body) for secret in self._shared_secrets)
        if not any(hmac.compare_digest(value, signature) for value in expected):
            raise WebhookError("bad_signature", "the signature does not match")
        time = (now or datetime.now(timezone.utc)).timestamp()
        if abs(time - sent_at.timestamp()) > REPLAY_WINDOW_SECONDS:
            raise WebhookError("stale", "the timestamp is outside the replay window")
        self._remember(nonce, time)
        return Received(event_id, parse_event(body))

    def _remember(self, nonce: str, time: float) -> None:
        with self._lock:
            # A nonce can be sent again until its timestamp, which may be ahead of this clock, leaves the window.
            while self._nonces and (
                len(self._nonces) >= NONCES_MAX
                or next(iter(self._nonces.values())) + 2 * REPLAY_WINDOW_SECONDS < time
            ):
                self._nonces.popitem(last=False)
            if nonce in self._nonces:
                raise WebhookError("replayed", "the nonce was used before")
            self._nonces[nonce] = time


def _parse_timestamp(value: str) -> datetime:
    try:
        time = datetime.fromisoformat(value)
        if time.tzinfo is not None:
            return time
    except ValueError:
        pass
    raise WebhookError("malformed", "the timestamp is malformed")
