import json
from datetime import datetime, timedelta, timezone

import pytest

from guerdon.webhooks import Receiver, RecognitionData, RedemptionData, WebhookError, parse_event, sign

SECRET = "gw_0123456789abcdef"
URL = "https://example.com/hook"
TIMESTAMP = "2026-11-20T20:01:02.345Z"
NOW = datetime(2026, 11, 20, 20, 1, 2, tzinfo=timezone.utc)
EVENT_ID = "00000000-0000-0000-0000-000000000001"
REDEMPTION = {
    "type": "redemption.created",
    "version": "1.0",
    "data": {
        "user_id": EVENT_ID,
        "user_email": "ada@example.com",
        "points": 20,
        "cumulative_points_spent": 70,
        "company_id": EVENT_ID,
    },
}
BODY = json.dumps(REDEMPTION).encode()


def headers(nonce: str = "n1", **changes: str) -> dict[str, str]:
    values = {
        "X-Service-Timestamp": TIMESTAMP,
        "X-Service-Nonce": nonce,
        "X-Service-Signature": sign(SECRET, URL, TIMESTAMP, nonce, BODY),
        "X-Service-Event-Id": EVENT_ID,
    }
    return {**values, **changes}


def refusal(receiver: Receiver, sent: dict[str, str], body: bytes = BODY, now: datetime = NOW) -> str:
    with pytest.raises(WebhookError) as caught:
        receiver.receive(sent, body, now=now)
    return caught.value.reason


def test_a_genuine_delivery_is_accepted_once() -> None:
    receiver = Receiver(URL, SECRET)
    received = receiver.receive(headers(), BODY, now=NOW)
    assert received.event_id == EVENT_ID
    assert received.event.data == RedemptionData(**REDEMPTION["data"])  # type: ignore[arg-type]
    assert refusal(receiver, headers()) == "replayed"
    lower_case = {name.lower(): value for name, value in headers("n2").items()}
    assert receiver.receive(lower_case, BODY, now=NOW).event.json == REDEMPTION


def test_each_fault_has_its_reason() -> None:
    receiver = Receiver(URL, SECRET)
    without = headers()
    del without["X-Service-Nonce"]
    assert refusal(receiver, without) == "missing_header"
    assert refusal(receiver, headers(**{"X-Service-Timestamp": "yesterday"})) == "malformed"
    assert refusal(receiver, headers(**{"X-Service-Signature": "A" * 64})) == "malformed"
    assert refusal(receiver, headers(**{"X-Service-Nonce": "n1\nx"})) == "malformed"
    assert refusal(receiver, headers(**{"X-Service-Signature": "0" * 64})) == "bad_signature"
    assert refusal(receiver, headers(), BODY + b" ") == "bad_signature"
    assert refusal(Receiver(URL + "/", SECRET), headers()) == "bad_signature"
    for minutes in (-6, 6):
        assert refusal(receiver, headers(), now=NOW + timedelta(minutes=minutes)) == "stale"
    assert receiver.receive(headers(), BODY, now=NOW).event_id == EVENT_ID, "a refusal records no nonce"


def test_during_a_rotation_both_secrets_are_accepted() -> None:
    for secrets in (("gw_new", SECRET), (SECRET, "gw_new")):
        receiver = Receiver(URL, *secrets)
        assert receiver.receive(headers(), BODY, now=NOW).event_id == EVENT_ID
        signature = sign("gw_new", URL, TIMESTAMP, "n2", BODY)
        sent = headers("n2", **{"X-Service-Signature": signature})
        assert receiver.receive(sent, BODY, now=NOW).event_id == EVENT_ID
        assert refusal(receiver, headers()) == "replayed"
        signature = sign("gw_older", URL, TIMESTAMP, "n3", BODY)
        assert refusal(receiver, headers("n3", **{"X-Service-Signature": signature})) == "bad_signature"
    with pytest.raises(ValueError, match="empty"):
        Receiver(URL, "")
    with pytest.raises(ValueError, match="empty"):
        Receiver(URL, SECRET, "")


def test_nonces_are_forgotten_when_they_cannot_be_replayed() -> None:
    receiver = Receiver(URL, SECRET)
    receiver.receive(headers(), BODY, now=NOW)
    receiver._remember("later", (NOW + timedelta(minutes=11)).timestamp())
    assert list(receiver._nonces) == ["later"]


def test_the_signature_is_that_of_the_other_clients() -> None:
    expected = "35f9a8a3f7de0704f440643b0e4084535570506676cdf76cb523e32a4dd1df37"
    assert sign("secret", URL, TIMESTAMP, "nonce", b"{}") == expected


def test_unknown_types_and_fields_are_accepted_and_missing_fields_are_not() -> None:
    later = {"type": "user.created", "data": {"id": 1}}
    assert parse_event(json.dumps(later)).data is None
    more = {**REDEMPTION, "data": {**REDEMPTION["data"], "added": [1]}}  # type: ignore[dict-item]
    assert isinstance(parse_event(more).data, RedemptionData)
    recognition = {name: "x" for name in RecognitionData.__dataclass_fields__}
    parsed = parse_event({"type": "recognition.updated", "version": "1.0", "data": recognition})
    assert isinstance(parsed.data, RecognitionData)
    for body in (b"", b"[]", b"{}", b'{"type":"redemption.created","data":{"points":1}}'):
        with pytest.raises(WebhookError):
            parse_event(body)
