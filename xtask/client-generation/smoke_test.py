"""The first calls of an integrator, by a client that openapi-python-client generated from docs/openapi.json."""

import os
import ssl
import uuid

from generated import AuthenticatedClient
from generated.api.companies import create_company, list_company_users
from generated.api.events import list_events
from generated.api.occasions import create_occasion
from generated.api.recognitions import send_recognition
from generated.api.users import create_user, get_user_balances, update_user
from generated.models import (
    CreateCompanyBody,
    CreateOccasionBody,
    CreateUserBody,
    Error,
    SendRecognitionBody,
    SendRecognitionBodySenderType,
    UpdateUserBody,
)
import base64

base = os.environ["URL"].removesuffix("/v1")
token = base64.b64encode(f"{os.environ['API_KEY']}:{os.environ['API_SECRET']}".encode()).decode()
context = ssl.create_default_context(cafile=os.environ["CERTIFICATE"])
client = AuthenticatedClient(base_url=base, token=token, prefix="Basic", verify_ssl=context)

domain = f"client-{uuid.uuid4().hex[:8]}.example"
company = create_company.sync(client=client, body=CreateCompanyBody(
    domain=domain, company_name="Client", owner_email=f"ada@{domain}", owner_name="Ada Lovelace",
    logo_url=f"https://{domain}/logo.png",
))
grace = create_user.sync(client=client, body=CreateUserBody(
    company_id=company.id, email=f"grace@{domain}", first_name="Grace", last_name="Hopper", manager=True,
))
occasion = create_occasion.sync(client=client, body=CreateOccasionBody(
    company_id=company.id, name="Thank you", title="Thank you!", default_message="Thank you.",
))
refused = send_recognition.sync(client=client, idempotency_key=str(uuid.uuid4()), body=SendRecognitionBody(
    occasion_id=occasion.id, sender_type=SendRecognitionBodySenderType.COMPANY, sender_id=company.id,
    receiver_ids=str(grace.id), points_per_receiver=10,
))
assert isinstance(refused, Error) and refused.error.message == "Insufficient funds", refused
balances = get_user_balances.sync(grace.id, client=client)
assert [wallet.type_.value for wallet in balances.wallets] == ["user_wallet", "peer_wallet", "manager_wallet"], balances
users = list_company_users.sync(company.id, client=client, per_page=1)
assert users.total_count == 2 and users.results[0].last_name == "Lovelace", users
changed = update_user.sync(grace.id, client=client, body=UpdateUserBody(title="Admiral"))
assert changed.title == "Admiral" and changed.deleted_at is None, changed
assert list_events.sync(client=client).events == []
print("passed")
