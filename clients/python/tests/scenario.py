"""The scenario that every client package passes against a running service.

The environment names the service (SCENARIO_URL, SCENARIO_API_KEY, SCENARIO_API_SECRET, SCENARIO_CA), and the command that
deposits points (SCENARIO_DEPOSIT, with ``{company}`` and ``{points}`` in it).
"""

import os
import shlex
import ssl
import subprocess
from collections.abc import Callable
from itertools import islice

from guerdon import ApiError, Client, ConnectionFailed, Event
from guerdon.webhooks import RecognitionData, parse_event


def connect(**changes: str) -> Client:
    trusted = ssl.create_default_context(cafile=os.environ["SCENARIO_CA"])
    credentials = {"api_key": os.environ["SCENARIO_API_KEY"], "api_secret": os.environ["SCENARIO_API_SECRET"]}
    return Client(os.environ["SCENARIO_URL"], **{**credentials, **changes}, verify=trusted)  # type: ignore[arg-type]


def deposit(company: str, points: int) -> None:
    command = os.environ["SCENARIO_DEPOSIT"].format(company=company, points=points)
    subprocess.run(shlex.split(command), check=True, stdout=subprocess.DEVNULL)


def wait_for_events(client: Client, count: int) -> list[Event]:
    return list(islice(client.follow_events(), count))


def main() -> None:
    client = connect()
    group = client.create_corporation("Group")
    company = client.create_company(
        domain="python.example.com",
        company_name="Python",
        owner_email="owner@python.example.com",
        owner_name="Olive Owner",
        logo_url="https://python.example.com/logo.png",
        corporation_id=group.id,
        points_per_dollar=50,
    )
    users = [
        client.create_user(
            company_id=company.id, email=f"u{number}@python.example.com", first_name="U", last_name=str(number), title="Dr"
        )
        for number in range(3)
    ]
    occasion = client.create_occasion(company_id=company.id, name="Thanks", title="Thanks", default_message="Thank you")
    deposit(company.id, 1_000)

    recognition = {
        "occasion_id": occasion.id,
        "sender_type": "company",
        "sender_id": company.id,
        "receiver_ids": [user.id for user in users[:2]],
        "points_per_receiver": 10,
        "message": "Well done",
    }
    preview = client.dry_run_recognition(**recognition)  # type: ignore[arg-type]
    assert (preview.wallet, preview.points, preview.balance_after) == ("reserve", 20, 980), preview
    sent = client.send_recognition(**recognition, idempotency_key="order-1")  # type: ignore[arg-type]
    again = client.send_recognition(**recognition, idempotency_key="order-1")  # type: ignore[arg-type]
    assert again == sent, "a retry returns the stored response and has no second effect"
    assert [entry.receiver_id for entry in sent] == recognition["receiver_ids"]
    assert client.reserve(company.id).points == 980
    assert client.balances(users[0].id).points("user_wallet") == 10
    assert [balances.id for balances in client.company_balances(company.id)][1:] == [user.id for user in users]
    credit = next(client.transactions(users[0].id, "user_wallet"))
    assert (credit.type, credit.points, credit.reason) == ("credit", 10, "recognition")
    assert [entry.reason for entry in client.reserve_transactions(company.id)][-1] == "deposit"
    assert next(client.recognitions_received(users[0].id)) == sent[0]
    assert client.preview_rate(company.id, 100).reserve.then == 1_960

    events = wait_for_events(client, 2)
    assert [event.type for event in events] == ["recognition.received"] * 2
    data = parse_event(events[0].body).data
    assert isinstance(data, RecognitionData) and data.points == 10
    assert client.event(events[0].id).body == events[0].body
    feed = client.events(limit=1)
    next(feed), next(feed)
    assert list(client.events(after=feed.cursor)) == []
    assert client.replay_events(since=events[0].created_at, state="unaddressed") == 2
    assert client.replay_event(events[0].id) <= 1

    changed = client.update_user(users[0].id, first_name="Zoe", title=None)
    assert (changed.first_name, changed.title, changed.last_name) == ("Zoe", None, "0")
    client.delete_user(users[2].id)
    assert client.user(users[2].id).deleted_at is not None
    assert len(list(client.company_users(company.id))) == 3
    assert len(list(client.company_users(company.id, include_deleted=True))) == 4
    assert [user.id for user in client.company_users(company.id, email="U1@python.example.com")] == [users[1].id]
    assert client.company_by_domain("python.example.com") == client.company(company.id)
    assert client.update_company(company.id, reserve_alert=7).reserve_alert == 7
    assert client.update_company(company.id, reserve_alert=None).reserve_alert is None
    assert [entry.id for entry in client.corporation_companies(group.id)] == [company.id]
    assert client.update_saml_settings(company.id, idp_id="https://idp.example/metadata").idp_id is not None

    costly = {**recognition, "points_per_receiver": 100_000}
    refusals: list[tuple[Callable[[], object], int, str, list[str]]] = [
        (lambda: client.company_by_domain("nobody.example.com"), 404, "not_found", ["id"]),
        (lambda: next(connect(api_secret="gs_wrong").companies()), 401, "unauthorized", []),
        (lambda: client.send_recognition(**costly), 400, "insufficient_funds", []),  # type: ignore[arg-type]
        (lambda: client.update_user(users[0].id, email="x"), 400, "invalid_request", ["email"]),
    ]
    for call, status, code, fields in refusals:
        try:
            call()
        except ApiError as error:
            assert (error.status, error.code, [entry.field for entry in error.errors]) == (status, code, fields), error
            assert len(error.request_id) == 36, error
        else:
            raise AssertionError(f"not refused with {status}")
    try:
        Client(os.environ["SCENARIO_URL"], "", "").company(company.id)
    except ConnectionFailed as error:
        assert "certificate" in str(error), error
    else:
        raise AssertionError("an unknown certificate was trusted")


if __name__ == "__main__":
    main()
    print("passed")
