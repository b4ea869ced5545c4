"""The client: one method per operation of the API."""

from __future__ import annotations

import ipaddress
import ssl
import time
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, NotRequired, TypedDict, TypeVar, Unpack
from urllib.parse import quote

import httpx

from .errors import InvalidResponse
from .models import (
    Balances,
    ChangedCompany,
    Company,
    Corporation,
    DryRun,
    Event,
    EventPage,
    EventState,
    ListedCompany,
    Occasion,
    RatePreview,
    Recognition,
    Reserve,
    SamlSettings,
    SenderType,
    Transaction,
    User,
    WalletType,
    from_json,
)
from .transport import Transport

T = TypeVar("T")

PER_PAGE = 100
TIMEOUT_SECONDS = 30.0
#: How long a request of an endless feed waits for an event. The service waits at most 20 seconds.
WAIT_SECONDS = 20
#: How long a response may take in addition to the time for which its request waits for an event.
WAIT_MARGIN_SECONDS = 10.0
#: The minimum interval between two requests of an endless feed if no event followed its cursor.
QUIET_INTERVAL_SECONDS = 1.0


class CompanyFields(TypedDict, total=False):
    """Fields of a company. In an update, an absent field keeps its value, and None clears an optional one."""

    points_per_dollar: int
    reserve_alert: int | None
    reserve_bcc: str | None


class NewCompanyFields(CompanyFields, total=False):
    corporation_id: str | None


class CompanyUpdate(CompanyFields, total=False):
    domain: str
    company_name: str
    owner_email: str
    owner_name: str
    logo_url: str


class UserFields(TypedDict, total=False):
    """Fields of a user. In an update, an absent field keeps its value, and None clears an optional one."""

    department: str | None
    title: str | None
    supervisor_email: str | None
    employee_id: str | None
    birthday: str | None
    country_code: str | None
    work_start_date: str | None
    office_city: str | None
    office_state: str | None
    office_country: str | None
    manager: bool
    company_admin: bool
    corporation_admin: bool
    groups: str | None
    custom_field_1: str | None
    custom_field_2: str | None
    custom_field_3: str | None
    custom_field_4: str | None
    custom_field_5: str | None


class UserUpdate(UserFields, total=False):
    email: str
    first_name: str
    last_name: str


class OccasionUpdate(TypedDict, total=False):
    name: str
    title: str
    default_message: str
    enabled: bool
    visible: bool


class SamlUpdate(TypedDict, total=False):
    idp_id: str | None
    idp_url: str | None
    #: In PEM. It is never returned.
    idp_certificate: str | None
    active: bool


class NewRecognition(TypedDict):
    """A recognition to send."""

    occasion_id: str
    sender_type: SenderType
    sender_id: str
    receiver_ids: Sequence[str]
    points_per_receiver: int
    #: Defaults to the occasion's default message.
    message: NotRequired[str]
    #: Whether the recognition is public. Default: true.
    share: NotRequired[bool]


class EventFeed(Iterator[Event]):
    """The events of a provider, oldest first, fetched page by page up to the present, or without end.

    Store :attr:`cursor` after the events have been handled. A feed that starts ``after`` it misses no event; it may
    return events of the current page again.
    """

    def __init__(self, transport: Transport, query: Mapping[str, Any], *, is_endless: bool = False) -> None:
        self._transport = transport
        self._is_endless = is_endless
        self._query = dict(query)
        self._previous: str | None = None
        self._next: str | None = self._query.pop("after", None)
        self._events: list[Event] = []
        self._has_ended = False

    @property
    def cursor(self) -> str | None:
        """Where another feed continues; None if it has to start where this one did."""
        return self._previous if self._events else self._next

    def __iter__(self) -> EventFeed:
        return self

    def __next__(self) -> Event:
        while not self._events:
            if self._has_ended:
                raise StopIteration
            self._fetch()
        return self._events.pop(0)

    def _fetch(self) -> None:
        query = self._query if self._next is None else {**self._query, "since": None, "after": self._next}
        wait = self._query.get("wait")
        read_seconds_min = wait + WAIT_MARGIN_SECONDS if wait else 0.0
        started_at = time.monotonic()
        response = self._transport.request("GET", "/events", query=query, read_seconds_min=read_seconds_min)
        elapsed = time.monotonic() - started_at
        page = from_json(EventPage, response)
        # With a filter, a page can be empty before the end: the cursor advances anyway.
        self._has_ended = not self._is_endless and not page.events and page.next == self._next
        self._previous, self._next = self._next, page.next
        self._events = page.events
        if self._is_endless and page.next == self._previous:
            # Without a wait, or when it stops, the service responds at once although there is no event.
            self._transport.sleep(max(0.0, QUIET_INTERVAL_SECONDS - elapsed))


class Client:
    """A client of one service with the API key of one provider. It can be shared between threads.

    Close it with :meth:`close`, or use it as a context manager.

    Requests that fail with status 429, 500, 502, 503 or 504 or without a response are retried, up to six attempts. A
    POST keeps its idempotency key, so it takes effect once; give ``idempotency_key`` to retry across processes.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        api_secret: str,
        *,
        verify: ssl.SSLContext | bool = True,
        http: httpx.Client | None = None,
    ) -> None:
        """``base_url`` is the address of the service without ``/v1``. ``verify`` takes an SSL context that trusts the
        certificate of the service, if no public authority issued it. ``http`` replaces the HTTP client; its base URL
        and credentials are set, and requests that wait for events extend its read timeout if necessary. Raises
        ``ValueError`` if ``base_url`` is not https, except on this machine."""
        self._http = http or httpx.Client(verify=verify, timeout=TIMEOUT_SECONDS)
        url = httpx.URL(base_url.rstrip("/"))
        if url.scheme == "http" and not _is_loopback(url.host):
            raise ValueError("base_url must be https: the credentials would be sent unencrypted")
        self._http.base_url = url
        self._http.auth = httpx.BasicAuth(api_key, api_secret)
        self._transport = Transport(self._http)

    def close(self) -> None:
        """Closes the connections."""
        self._transport.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Companies

    def create_company(
        self,
        *,
        domain: str,
        company_name: str,
        owner_email: str,
        owner_name: str,
        logo_url: str,
        idempotency_key: str | None = None,
        **optional: Unpack[NewCompanyFields],
    ) -> ChangedCompany:
        """Creates a company and its owner."""
        body = {
            "domain": domain,
            "company_name": company_name,
            "owner_email": owner_email,
            "owner_name": owner_name,
            "logo_url": logo_url,
            **optional,
        }
        return self._post(ChangedCompany, "/companies", body, idempotency_key)

    def companies(self, *, corporation_id: str | None = None) -> Iterator[ListedCompany]:
        """Lists the companies of the provider, oldest first."""
        return self._list(ListedCompany, "/companies", corporation_id=corporation_id)

    def company(self, id: str) -> Company:
        """Fetches a company by its id."""
        return self._get(Company, f"/companies/{_segment(id)}")

    def company_by_domain(self, domain: str) -> Company:
        """Fetches a company by its domain name."""
        return self._get(Company, f"/companies/{_segment(domain)}")

    def update_company(self, id: str, **changes: Unpack[CompanyUpdate]) -> ChangedCompany:
        """Changes a company."""
        return self._put(ChangedCompany, f"/companies/{_segment(id)}", changes)

    def preview_rate(self, id: str, points_per_dollar: int) -> RatePreview:
        """Computes what everyone would see at another rate. Nothing changes."""
        body = {"points_per_dollar": points_per_dollar}
        return self._post_without_effect(RatePreview, f"/companies/{_segment(id)}/rate_preview", body)

    def company_users(
        self,
        id: str,
        *,
        email: str | None = None,
        employee_id: str | None = None,
        updated_since: str | None = None,
        include_deleted: bool = False,
    ) -> Iterator[User]:
        """Lists the active users of a company, oldest first, and deleted ones if asked for."""
        return self._list(
            User,
            f"/companies/{_segment(id)}/users",
            email=email,
            employee_id=employee_id,
            updated_since=updated_since,
            include_deleted="true" if include_deleted else None,
        )

    def company_balances(self, id: str) -> Iterator[Balances]:
        """Lists the wallets of the active users of a company, oldest user first."""
        return self._list(Balances, f"/companies/{_segment(id)}/users/balances", items="users")

    def company_occasions(self, id: str) -> Iterator[Occasion]:
        """Lists the occasions that a company can use."""
        return self._list(Occasion, f"/companies/{_segment(id)}/occasions")

    def reserve(self, id: str) -> Reserve:
        """Fetches the points that a company can send."""
        return self._get(Reserve, f"/companies/{_segment(id)}/reserve")

    def reserve_transactions(self, id: str) -> Iterator[Transaction]:
        """Lists the movements of the reserve of a company, newest first."""
        return self._list(Transaction, f"/companies/{_segment(id)}/reserve/transactions", items="transactions")

    def saml_settings(self, id: str) -> SamlSettings:
        """Fetches the single sign-on settings of a company."""
        return self._get(SamlSettings, f"/companies/{_segment(id)}/saml")

    def update_saml_settings(self, id: str, **changes: Unpack[SamlUpdate]) -> SamlSettings:
        """Changes the single sign-on settings of a company."""
        return self._put(SamlSettings, f"/companies/{_segment(id)}/saml", changes)

    # Corporations

    def create_corporation(self, name: str, *, idempotency_key: str | None = None) -> Corporation:
        """Creates a corporation."""
        return self._post(Corporation, "/corporations", {"name": name}, idempotency_key)

    def corporations(self) -> Iterator[Corporation]:
        """Lists the corporations of the provider, oldest first."""
        return self._list(Corporation, "/corporations")

    def corporation(self, id: str) -> Corporation:
        """Fetches a corporation."""
        return self._get(Corporation, f"/corporations/{_segment(id)}")

    def update_corporation(self, id: str, *, name: str) -> Corporation:
        """Renames a corporation."""
        return self._put(Corporation, f"/corporations/{_segment(id)}", {"name": name})

    def corporation_companies(self, id: str) -> Iterator[ListedCompany]:
        """Lists the companies of a corporation, oldest first."""
        return self._list(ListedCompany, f"/corporations/{_segment(id)}/companies")

    # Users

    def create_user(
        self,
        *,
        company_id: str,
        email: str,
        first_name: str,
        last_name: str,
        idempotency_key: str | None = None,
        **optional: Unpack[UserFields],
    ) -> User:
        """Creates a user."""
        body = {
            "company_id": company_id,
            "email": email,
            "first_name": first_name,
            "last_name": last_name,
            **optional,
        }
        return self._post(User, "/users", body, idempotency_key)

    def user(self, id: str) -> User:
        """Fetches a user, who may be deleted."""
        return self._get(User, f"/users/{_segment(id)}")

    def update_user(self, id: str, **changes: Unpack[UserUpdate]) -> User:
        """Changes a user."""
        return self._put(User, f"/users/{_segment(id)}", changes)

    def delete_user(self, id: str) -> None:
        """Deletes a user. The points of the user return to the reserve of the company."""
        self._transport.request("DELETE", f"/users/{_segment(id)}")

    def balances(self, user_id: str) -> Balances:
        """Fetches the wallets of a user."""
        return self._get(Balances, f"/users/{_segment(user_id)}/balances")

    def transactions(self, user_id: str, wallet: WalletType) -> Iterator[Transaction]:
        """Lists the movements of a wallet, newest first."""
        path = f"/users/{_segment(user_id)}/transactions"
        return self._list(Transaction, path, items="transactions", type=wallet)

    def recognitions_received(self, user_id: str) -> Iterator[Recognition]:
        """Lists the recognitions that a user received, newest first."""
        return self._list(Recognition, f"/users/{_segment(user_id)}/recognitions_received")

    def recognitions_sent(self, user_id: str) -> Iterator[Recognition]:
        """Lists the recognitions that a user sent, newest first."""
        return self._list(Recognition, f"/users/{_segment(user_id)}/recognitions_sent")

    # Occasions

    def create_occasion(
        self,
        *,
        company_id: str,
        name: str,
        title: str,
        default_message: str,
        enabled: bool = True,
        visible: bool = True,
        idempotency_key: str | None = None,
    ) -> Occasion:
        """Creates an occasion."""
        body = {
            "company_id": company_id,
            "name": name,
            "title": title,
            "default_message": default_message,
            "enabled": enabled,
            "visible": visible,
        }
        return self._post(Occasion, "/occasions", body, idempotency_key)

    def occasion(self, id: str) -> Occasion:
        """Fetches an occasion."""
        return self._get(Occasion, f"/occasions/{_segment(id)}")

    def update_occasion(self, id: str, **changes: Unpack[OccasionUpdate]) -> Occasion:
        """Changes an occasion; a global one cannot be changed."""
        return self._put(Occasion, f"/occasions/{_segment(id)}", changes)

    def delete_occasion(self, id: str) -> None:
        """Deletes an occasion; a global one cannot be deleted."""
        self._transport.request("DELETE", f"/occasions/{_segment(id)}")

    # Recognitions

    def send_recognition(
        self, *, idempotency_key: str | None = None, **recognition: Unpack[NewRecognition]
    ) -> list[Recognition]:
        """Sends a recognition to each receiver, or to none if one of them is refused. Returns one recognition per
        receiver, in their order."""

        def read(sent: Any) -> list[Recognition]:
            return [from_json(Recognition, entry) for entry in _member(sent, "recognitions")]

        return self._transport.post("/recognitions", _recognition_body(recognition), read, idempotency_key)

    def dry_run_recognition(self, **recognition: Unpack[NewRecognition]) -> DryRun:
        """Checks whether a recognition could be sent, and computes its cost. Nothing changes."""
        return self._post_without_effect(DryRun, "/recognitions/dry_run", _recognition_body(recognition))

    def recognition(self, id: str) -> Recognition:
        """Fetches a recognition."""
        return self._get(Recognition, f"/recognitions/{_segment(id)}")

    # Events

    def events(
        self,
        *,
        after: str | None = None,
        since: str | None = None,
        type: str | None = None,
        state: EventState | None = None,
        limit: int | None = None,
        wait: int | None = None,
    ) -> EventFeed:
        """Reads the events up to the present, oldest first: from the beginning, ``after`` a cursor, or ``since`` a
        time. ``limit`` is the number of events per page, up to 100. With ``wait``, the feed ends only after ``wait``
        seconds (at most 20) without an event."""
        query = {"after": after, "since": since, "type": type, "state": state, "limit": limit, "wait": wait}
        return EventFeed(self._transport, query)

    def follow_events(
        self,
        *,
        after: str | None = None,
        since: str | None = None,
        type: str | None = None,
        state: EventState | None = None,
        wait: int = WAIT_SECONDS,
    ) -> EventFeed:
        """Reads the events like :meth:`events`, and then each new event as soon as it is created. The feed does not
        end; each of its requests waits up to ``wait`` seconds for an event."""
        query = {"after": after, "since": since, "type": type, "state": state, "wait": wait}
        return EventFeed(self._transport, query, is_endless=True)

    def event(self, id: str) -> Event:
        """Fetches an event with its attempts."""
        return self._get(Event, f"/events/{_segment(id)}")

    def replay_event(self, id: str, *, idempotency_key: str | None = None) -> int:
        """Sends an event again. Returns 0 if it is being delivered already."""
        return self._transport.post(f"/events/{_segment(id)}/replay", {}, _replayed, idempotency_key)

    def replay_events(
        self,
        *,
        since: str | None = None,
        state: EventState | None = None,
        idempotency_key: str | None = None,
    ) -> int:
        """Sends events again. At least one filter is required, and both for delivered events. Returns how many, without
        those that are being delivered already."""
        body = {name: value for name, value in (("since", since), ("state", state)) if value is not None}
        return self._transport.post("/events/replay", body, _replayed, idempotency_key)

    # Requests

    def _get(self, model: type[T], path: str) -> T:
        return from_json(model, self._transport.request("GET", path))

    def _post(
        self, model: type[T], path: str, body: Mapping[str, Any], idempotency_key: str | None = None
    ) -> T:
        return self._transport.post(path, body, lambda created: from_json(model, created), idempotency_key)

    def _post_without_effect(self, model: type[T], path: str, body: Mapping[str, Any]) -> T:
        """Sends a POST that changes nothing, and therefore needs no idempotency key."""
        return from_json(model, self._transport.request("POST", path, body=body))

    def _put(self, model: type[T], path: str, body: Mapping[str, Any]) -> T:
        return from_json(model, self._transport.request("PUT", path, body=body))

    def _list(self, model: type[T], path: str, *, items: str = "results", **filters: Any) -> Iterator[T]:
        number = 1
        while True:
            query = {**filters, "page": number, "per_page": PER_PAGE}
            page = self._transport.request("GET", path, query=query)
            entries = _member(page, items)
            for entry in entries:
                yield from_json(model, entry)
            total = page.get("total_count")
            if not entries or (len(entries) < PER_PAGE if total is None else number * PER_PAGE >= total):
                return
            number += 1


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _segment(value: str) -> str:
    return quote(str(value), safe="")


def _member(body: Any, name: str) -> Any:
    try:
        return body[name]
    except (KeyError, TypeError) as error:
        raise InvalidResponse(f"the response has no {name}") from error


def _replayed(body: Any) -> int:
    return int(_member(body, "replayed"))


def _recognition_body(recognition: NewRecognition) -> dict[str, Any]:
    receiver_ids = recognition["receiver_ids"]
    if isinstance(receiver_ids, str):
        raise TypeError("receiver_ids is a list of ids")
    return {**recognition, "receiver_ids": ",".join(receiver_ids)}
