"""The first calls of an integrator in the sandbox, by a client that openapi-python-client generated."""

import base64
import os
import ssl
import uuid

from generated import AuthenticatedClient
from generated.api.companies import list_company_users
from generated.api.events import list_events
from generated.api.recognitions import send_recognition
from generated.api.users import get_user_balances, update_user
from generated.models import (
    Balances,
    Error,
    Events,
    ListCompanyUsersResponse200,
    Problem,
    RecognitionReceivedEvent,
    Recognitions,
    SendRecognitionBody,
    SendRecognitionBodySenderType,
    UpdateUserBody,
    User,
)
from generated.types import UNSET

company, user, receiver, occasion = (
    uuid.UUID(os.environ[name]) for name in ("COMPANY_ID", "USER_ID", "RECEIVER_ID", "OCCASION_ID")
)
token = base64.b64encode(f"{os.environ['API_KEY']}:{os.environ['API_SECRET']}".encode()).decode()
context = ssl.create_default_context(cafile=os.environ["CERTIFICATE"])
client = AuthenticatedClient(base_url=os.environ["BASE_URL"], token=token, prefix="Basic", verify_ssl=context)


def recognition(points: int) -> SendRecognitionBody:
    return SendRecognitionBody(
        occasion_id=occasion,
        sender_type=SendRecognitionBodySenderType.USER,
        sender_id=user,
        receiver_ids=str(receiver),
        points_per_receiver=points,
        message="Well done",
    )


def find_event(recognition_id: uuid.UUID) -> RecognitionReceivedEvent:
    """Follows the feed to the event of a recognition."""
    cursor = None
    while True:
        page = list_events.sync(client=client, after=cursor or UNSET, wait=20)
        assert isinstance(page, Events) and page.events, page
        for event in page.events:
            if isinstance(event.body, RecognitionReceivedEvent) and event.body.data.id == recognition_id:
                return event.body
        cursor = page.next_


sent = send_recognition.sync(client=client, idempotency_key=str(uuid.uuid4()), body=recognition(10))
assert isinstance(sent, Recognitions), sent
assert sent.recognitions[0].receiver_id == receiver and sent.recognitions[0].points == 10, sent

body = find_event(sent.recognitions[0].id)
assert body.data.receiver_id == receiver and body.data.message == "Well done", body

refused = send_recognition.sync(client=client, body=recognition(200_000))
assert isinstance(refused, Error) and refused.error.message == "Insufficient funds", refused

response = client.get_httpx_client().post(
    "/v1/recognitions", json=recognition(200_000).to_dict(), headers={"Accept": "application/problem+json"}
)
problem = Problem.from_dict(response.json())
assert problem.code.value == "insufficient_funds" and problem.errors == [], problem

balances = get_user_balances.sync(receiver, client=client)
assert isinstance(balances, Balances) and balances.wallets[0].type_.value == "user_wallet", balances
users = list_company_users.sync(company, client=client, per_page=1)
assert isinstance(users, ListCompanyUsersResponse200) and len(users.results) == 1, users
changed = update_user.sync(receiver, client=client, body=UpdateUserBody(title="Admiral"))
assert isinstance(changed, User) and changed.title == "Admiral" and changed.deleted_at is None, changed
print("passed")
