import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from guerdon import ApiError, Client, ConnectionFailed, FieldError, GuerdonError, InvalidResponse, OutcomeUnknown
from guerdon.transport import ATTEMPTS_MAX, Transport

CORPORATION = {"id": "1", "name": "Acme", "created_at": "t", "updated_at": "t"}


class Service:
    """A service that gives these responses, one after the other; the last one again and again."""

    def __init__(self, *responses: httpx.Response | Exception) -> None:
        self.responses = list(responses)
        self.requests: list[httpx.Request] = []
        self.waits: list[float] = []

    def client(self) -> Client:
        client = Client("https://guerdon.test/", "gk", "gs", http=httpx.Client(transport=httpx.MockTransport(self.respond)))
        client._transport = Transport(client._http, sleep=self.waits.append)
        return client

    def respond(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        response = self.responses.pop(0) if len(self.responses) > 1 else self.responses[0]
        if isinstance(response, Exception):
            raise response
        return httpx.Response(response.status_code, headers=response.headers, content=response.content)

    def keys(self) -> set[str]:
        return {request.headers.get("idempotency-key", "-") for request in self.requests}


def refused(status: int, code: str = "invalid_request", **headers: str) -> httpx.Response:
    errors = [{"field": "name", "message": "no"}]
    body = {"detail": "no", "code": code, "errors": errors}
    return httpx.Response(status, headers={"X-Request-Id": "r1", **{k.replace("_", "-"): v for k, v in headers.items()}}, json=body)


def test_a_post_is_retried_under_one_key() -> None:
    service = Service(refused(503), httpx.ConnectError("reset"), refused(429, retry_after="7"), httpx.Response(201, json=CORPORATION))
    assert service.client().create_corporation("Acme").name == "Acme"
    assert len(service.requests) == 4 and len(service.keys()) == 1
    assert service.waits[2] == 7.0 and max(service.waits[:2]) <= 0.5
    assert {request.url.path for request in service.requests} == {"/v1/corporations"}
    service.client().create_corporation("Acme", idempotency_key="mine")
    assert "mine" in service.keys()
    service.client().create_corporation("Acme", idempotency_key="")
    assert "" in service.keys()


@pytest.mark.parametrize("url", ["http://guerdon.test", "HTTP://guerdon.test:8443", "http://10.0.0.1", "http://[fd00::1]"])
def test_credentials_do_not_leave_the_machine_unencrypted(url: str) -> None:
    with pytest.raises(ValueError, match="https"):
        Client(url, "gk", "gs")


@pytest.mark.parametrize("url", ["http://localhost:8443", "http://127.0.0.1:1", "http://[::1]:1"])
def test_an_unencrypted_service_on_this_machine_is_accepted(url: str) -> None:
    Client(url, "gk", "gs").close()


DROPPED = httpx.ReadError("reset")
MAINTENANCE = refused(503, "maintenance")


@pytest.mark.parametrize(
    ("responses", "last"),
    [
        ([DROPPED, MAINTENANCE], ApiError),
        ([DROPPED], ConnectionFailed),
        ([DROPPED, httpx.ConnectError("refused")], ConnectionFailed),
        ([refused(503, "unavailable")], ApiError),
        ([refused(500), refused(401)], ApiError),
        ([DROPPED, refused(400, "idempotency_key_reused")], ApiError),
        ([DROPPED, httpx.Response(404, text="<html>")], ApiError),
        ([httpx.Response(201, text="<html>")], InvalidResponse),
        ([httpx.Response(201, json={"id": "1"})], InvalidResponse),
    ],
)
def test_an_unknown_outcome_has_the_key_that_was_sent(
    responses: list[httpx.Response | Exception], last: type[GuerdonError]
) -> None:
    service = Service(*responses)
    with pytest.raises(OutcomeUnknown) as caught:
        service.client().create_corporation("Acme")
    assert service.keys() == {caught.value.idempotency_key}
    assert isinstance(caught.value.last_error, last) and caught.value.__cause__ is caught.value.last_error


@pytest.mark.parametrize(
    ("responses", "error"),
    [
        ([MAINTENANCE], ApiError),
        ([refused(429, "rate_limited")], ApiError),
        ([DROPPED, refused(400)], ApiError),
        ([DROPPED, refused(404, "not_found")], ApiError),
        ([httpx.ConnectError("refused")], ConnectionFailed),
    ],
)
def test_a_known_outcome_keeps_its_error(
    responses: list[httpx.Response | Exception], error: type[GuerdonError]
) -> None:
    with pytest.raises(error):
        Service(*responses).client().create_corporation("Acme")


def test_requests_without_effect_have_no_unknown_outcome() -> None:
    with pytest.raises(ConnectionFailed):
        Service(DROPPED).client().preview_rate("1", 50)
    with pytest.raises(ConnectionFailed):
        Service(DROPPED).client().corporation("1")
    with pytest.raises(ApiError):
        Service(DROPPED, MAINTENANCE).client().update_corporation("1", name="Acme")


def test_a_delete_succeeds_if_an_earlier_attempt_may_have_deleted_the_object() -> None:
    missing = refused(404, "not_found")
    service = Service(DROPPED, missing)
    service.client().delete_occasion("1")
    assert len(service.requests) == 2
    for responses in ([missing], [MAINTENANCE, missing], [DROPPED, httpx.Response(404, text="<html>")]):
        with pytest.raises(ApiError):
            Service(*responses).client().delete_occasion("1")


def test_refusals_are_not_retried() -> None:
    for status in (400, 401, 404, 409, 422):
        service = Service(refused(status))
        with pytest.raises(ApiError) as caught:
            service.client().corporation("1")
        assert (caught.value.status, caught.value.message, caught.value.request_id) == (status, "no", "r1")
        assert caught.value.code == "invalid_request" and caught.value.errors == (FieldError("name", "no"),)
        assert len(service.requests) == 1 and "problem+json" in service.requests[0].headers["accept"]


def test_a_page_of_a_proxy_has_no_code() -> None:
    service = Service(httpx.Response(502, text="<html>"))
    with pytest.raises(ApiError) as caught:
        service.client().corporation("1")
    assert (caught.value.message, caught.value.code, caught.value.errors) == ("Bad Gateway", "", ())


def test_attempts_are_limited() -> None:
    for response, error in ((refused(500), ApiError), (httpx.ReadTimeout("slow"), ConnectionFailed)):
        service = Service(response)
        with pytest.raises(error):
            service.client().corporation("1")
        assert len(service.requests) == ATTEMPTS_MAX


def test_untrusted_certificates_are_not_retried() -> None:
    service = Service(httpx.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed"))
    with pytest.raises(ConnectionFailed):
        service.client().corporation("1")
    assert len(service.requests) == 1


@pytest.mark.parametrize("response", [httpx.Response(200, text="<html>"), httpx.Response(200, json=[]), httpx.Response(200, json={"id": "1"})])
def test_a_body_of_another_service_is_an_error(response: httpx.Response) -> None:
    with pytest.raises(InvalidResponse):
        Service(response).client().corporation("1")


def test_lists_end_with_their_last_page() -> None:
    def page(count: int, total: int | None) -> httpx.Response:
        return httpx.Response(200, json={"results": [CORPORATION] * count, "total_count": total})

    cases: list[tuple[list[httpx.Response], int, int]] = [
        ([page(0, 0)], 0, 1),
        ([page(100, 100)], 100, 1),
        ([page(100, 101), page(1, 101)], 101, 2),
        ([page(100, None), page(0, None)], 100, 2),
    ]
    for responses, count, requests in cases:
        service = Service(*responses)
        assert len(list(service.client().corporations())) == count
        assert len(service.requests) == requests


def test_the_feed_follows_its_cursor() -> None:
    def page(ids: list[str], following: str) -> httpx.Response:
        event = {"type": "t", "state": "pending", "attempts": 0, "created_at": "t", "next_attempt_at": None, "body": {}}
        return httpx.Response(200, json={"events": [{**event, "id": id} for id in ids], "next": following})

    service = Service(page(["1", "2"], "b"), page([], "c"), page(["3"], "d"), page([], "d"))
    feed = service.client().events(since="2026-11-20T20:01:02.345Z", limit=2)
    assert feed.cursor is None
    assert next(feed).id == "1" and feed.cursor is None
    assert next(feed).id == "2" and feed.cursor == "b"
    assert [event.id for event in feed] == ["3"] and feed.cursor == "d"
    queries = [dict(request.url.params) for request in service.requests]
    assert queries[0] == {"since": "2026-11-20T20:01:02.345Z", "limit": "2"}
    assert queries[1:] == [{"after": cursor, "limit": "2"} for cursor in "bcd"]


def test_an_endless_feed_waits_for_events() -> None:
    def page(ids: list[str], following: str) -> httpx.Response:
        event = {"type": "t", "state": "pending", "attempts": 0, "created_at": "t", "next_attempt_at": None, "body": {}}
        return httpx.Response(200, json={"events": [{**event, "id": id} for id in ids], "next": following})

    service = Service(page(["1"], "b"), page([], "b"), page([], "b"), page(["2"], "c"))
    feed = service.client().follow_events(after="a")
    assert [next(feed).id, next(feed).id] == ["1", "2"] and feed.cursor == "c"
    queries = [dict(request.url.params) for request in service.requests]
    assert queries == [{"after": cursor, "wait": "20"} for cursor in "abbb"]
    assert len(service.waits) == 2 and all(0.0 < wait <= 1.0 for wait in service.waits)


def test_the_timeout_is_longer_than_the_wait() -> None:
    service = Service(httpx.Response(200, json={"events": [], "next": "b"}))
    client = service.client()
    cases: list[tuple[float | None, int | None, float | None]] = [
        (5.0, None, 5.0),
        (5.0, 20, 30.0),
        (60.0, 20, 60.0),
        (None, 20, None),
    ]
    for configured, wait, expected in cases:
        client._http.timeout = httpx.Timeout(3.0, read=configured)
        assert list(client.events(after="b", wait=wait)) == []
        timeout = service.requests[-1].extensions["timeout"]
        assert timeout == {"connect": 3.0, "read": expected, "write": 3.0, "pool": 3.0}


def test_updates_send_only_what_is_given() -> None:
    user = {name: None for name in json.loads(USER)}
    service = Service(httpx.Response(200, json=user))
    service.client().update_user("1", title=None, first_name="Zoe")
    assert json.loads(service.requests[0].content) == {"title": None, "first_name": "Zoe"}


USER = json.dumps(
    "id company_id email first_name last_name department title supervisor_email employee_id birthday country_code "
    "work_start_date office_city office_state office_country manager company_admin corporation_admin groups "
    "custom_field_1 custom_field_2 custom_field_3 custom_field_4 custom_field_5 created_at updated_at deleted_at".split()
)


def call_everything(client: Client) -> None:
    """Sends each operation with each parameter."""
    id = "00000000-0000-0000-0000-000000000000"
    company: Any = dict(points_per_dollar=1, reserve_alert=1, reserve_bcc="a")
    names: Any = dict(domain="a", company_name="a", owner_email="a", owner_name="a", logo_url="a")
    user: Any = {name: "a" for name in json.loads(USER)[5:24]}
    named: Any = dict(email="a", first_name="a", last_name="a")
    occasion: Any = dict(name="a", title="a", default_message="a", enabled=True, visible=True)
    recognition: Any = dict(
        occasion_id=id, sender_type="user", sender_id=id, receiver_ids=[id], points_per_receiver=1, message="a", share=True
    )
    calls: list[Callable[[], Any]] = [
        lambda: next(client.companies(corporation_id=id)),
        lambda: client.create_company(corporation_id=id, **names, **company),
        lambda: client.company(id),
        lambda: client.update_company(id, **names, **company),
        lambda: next(client.company_occasions(id)),
        lambda: client.preview_rate(id, 1),
        lambda: client.reserve(id),
        lambda: next(client.reserve_transactions(id)),
        lambda: client.saml_settings(id),
        lambda: client.update_saml_settings(id, active=True, idp_certificate="a", idp_id="a", idp_url="a"),
        lambda: next(client.company_users(id, email="a", employee_id="1", updated_since="t", include_deleted=True)),
        lambda: next(client.company_balances(id)),
        lambda: next(client.corporations()),
        lambda: client.create_corporation("a"),
        lambda: client.corporation(id),
        lambda: client.update_corporation(id, name="a"),
        lambda: next(client.corporation_companies(id)),
        lambda: next(client.events(after="a", type="t", state="pending", limit=1, wait=1)),
        lambda: next(client.events(since="t")),
        lambda: client.replay_events(since="t", state="pending", idempotency_key="k"),
        lambda: client.event(id),
        lambda: client.replay_event(id, idempotency_key="k"),
        lambda: client.create_occasion(company_id=id, **occasion),
        lambda: client.delete_occasion(id),
        lambda: client.occasion(id),
        lambda: client.update_occasion(id, **occasion),
        lambda: client.send_recognition(**recognition),
        lambda: client.dry_run_recognition(**recognition),
        lambda: client.recognition(id),
        lambda: client.create_user(company_id=id, **named, **user),
        lambda: client.delete_user(id),
        lambda: client.user(id),
        lambda: client.update_user(id, **named, **user),
        lambda: client.balances(id),
        lambda: next(client.recognitions_received(id)),
        lambda: next(client.recognitions_sent(id)),
        lambda: next(client.transactions(id, "user_wallet")),
    ]
    for call in calls:
        with pytest.raises(ApiError):
            call()


def test_every_operation_of_the_description_has_a_method(openapi: dict[str, Any]) -> None:
    service = Service(refused(404))
    call_everything(service.client())
    called: dict[str, set[str]] = {}
    for request in service.requests:
        path = request.url.path.replace("00000000-0000-0000-0000-000000000000", "{id}")
        names = called.setdefault(f"{request.method} {path}", set())
        names |= set(request.url.params)
        names |= set(json.loads(request.content)) if request.content else set()
    assert called == described(openapi)


def described(openapi: dict[str, Any]) -> dict[str, set[str]]:
    def resolve(value: dict[str, Any]) -> dict[str, Any]:
        while "$ref" in value:
            target: Any = openapi
            for part in value["$ref"].removeprefix("#/").split("/"):
                target = target[part]
            value = target
        return value

    operations = {}
    for path, methods in openapi["paths"].items():
        for method, operation in methods.items():
            if method == "parameters":
                continue
            parameters = map(resolve, operation.get("parameters", []))
            names = {parameter["name"] for parameter in parameters if parameter["in"] == "query"}
            content = resolve(operation.get("requestBody", {})).get("content", {})
            names |= set(resolve(content.get("application/json", {}).get("schema", {})).get("properties", {}))
            # A user or an occasion cannot change its company.
            if method == "put" and path in ("/v1/users/{id}", "/v1/occasions/{id}"):
                names -= {"company_id"}
            operations[f"{method.upper()} {path}"] = names
    return operations
