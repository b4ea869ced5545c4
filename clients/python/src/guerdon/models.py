"""Objects in responses. Fields that the service adds later are ignored.

Ids are UUIDs as strings. Times are RFC 3339 in UTC with milliseconds, such as ``2026-11-20T20:01:02.345Z``.
"""

from __future__ import annotations

import typing
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, Literal, TypeVar, get_type_hints

from .errors import InvalidResponse

EventState = Literal["pending", "delivered", "exhausted", "unaddressed"]
SenderType = Literal["user", "company"]
WalletType = Literal["user_wallet", "peer_wallet", "manager_wallet"]

T = TypeVar("T")


@cache
def _hints(model: type[Any]) -> dict[str, Any]:
    return get_type_hints(model)


def _convert(hint: Any, value: Any) -> Any:
    if isinstance(hint, type) and hasattr(hint, "__dataclass_fields__"):
        return from_json(hint, value)
    if typing.get_origin(hint) is list and isinstance(value, list):
        (item,) = typing.get_args(hint)
        return [_convert(item, entry) for entry in value]
    return value


def from_json(model: type[T], value: Any) -> T:
    """Creates an object of a dataclass from decoded JSON."""
    if not isinstance(value, dict):
        raise InvalidResponse(f"{model.__name__}: not an object")
    hints = _hints(typing.cast(Any, model))
    # A name that is a keyword of Python has an underscore at its end.
    known = {entry.name.rstrip("_"): entry.name for entry in fields(model)}  # type: ignore[arg-type]
    values = {known[name]: entry for name, entry in value.items() if name in known}
    try:
        return model(**{name: _convert(hints[name], entry) for name, entry in values.items()})
    except TypeError as error:
        raise InvalidResponse(f"{model.__name__}: {error}") from error


@dataclass(frozen=True)
class ListedCompany:
    """A company in a list."""

    id: str
    domain: str
    company_name: str
    owner_id: str
    owner_email: str
    owner_name: str
    created_at: str
    updated_at: str


@dataclass(frozen=True)
class ChangedCompany(ListedCompany):
    """A company after it was created or updated."""

    reserve_alert: int | None
    reserve_bcc: str | None


@dataclass(frozen=True)
class Company(ChangedCompany):
    """A company."""

    #: The number of active users.
    user_count: int
    points_per_dollar: int


@dataclass(frozen=True)
class RateChange:
    """Points at the present rate and at another rate."""

    now: int
    then: int


@dataclass(frozen=True)
class RatePreview:
    """What everyone would see at another rate. Wallets are sums over the active users."""

    points_per_dollar: RateChange
    reserve: RateChange
    user_wallet: RateChange
    peer_wallet: RateChange
    manager_wallet: RateChange


@dataclass(frozen=True)
class Reserve:
    """The points that a company can send."""

    #: The id of the company.
    id: str
    points: int
    reserve_alert: int | None


@dataclass(frozen=True)
class SamlSettings:
    """The single sign-on settings of a company. The certificate is never returned."""

    idp_id: str | None
    idp_url: str | None
    sp_id: str
    active: bool


@dataclass(frozen=True)
class Corporation:
    """A group of companies."""

    id: str
    name: str
    created_at: str
    updated_at: str


@dataclass(frozen=True)
class User:
    """A user, active or deleted."""

    id: str
    company_id: str
    email: str
    first_name: str
    #: Empty for an owner who is named by a single word.
    last_name: str
    department: str | None
    title: str | None
    supervisor_email: str | None
    employee_id: str | None
    #: As mm/dd.
    birthday: str | None
    #: ISO 3166-1, two or three letters.
    country_code: str | None
    #: As mm/dd/yyyy.
    work_start_date: str | None
    office_city: str | None
    office_state: str | None
    office_country: str | None
    manager: bool
    company_admin: bool
    corporation_admin: bool
    #: Names of groups, separated by commas.
    groups: str | None
    custom_field_1: str | None
    custom_field_2: str | None
    custom_field_3: str | None
    custom_field_4: str | None
    custom_field_5: str | None
    created_at: str
    updated_at: str
    #: None for an active user.
    deleted_at: str | None = None


@dataclass(frozen=True)
class Wallet:
    """A wallet of a user."""

    type: WalletType
    points: int
    #: All points ever spent from it.
    cumulative_points_spent: int


@dataclass(frozen=True)
class Balances:
    """The wallets of a user."""

    #: The id of the user.
    id: str
    wallets: list[Wallet]

    def points(self, wallet: WalletType) -> int | None:
        """The points in a wallet; None if the user does not have it."""
        return next((entry.points for entry in self.wallets if entry.type == wallet), None)


@dataclass(frozen=True)
class Transaction:
    """A movement of points into (credit) or out of (debit) a wallet or a reserve."""

    type: Literal["credit", "debit"]
    #: At the rate of that time.
    points: int
    #: Such as ``recognition`` or ``redemption``.
    reason: str
    created_at: str


@dataclass(frozen=True)
class Occasion:
    """What a recognition is sent for."""

    id: str
    #: None for a global occasion.
    company_id: str | None
    name: str
    title: str
    default_message: str
    enabled: bool
    visible: bool
    created_at: str
    updated_at: str
    #: Whether it belongs to the service, not to a company. Read-only.
    global_: bool = False


@dataclass(frozen=True)
class Recognition:
    """A recognition that one user received."""

    id: str
    receiver_id: str
    sender_type: SenderType
    sender_id: str
    message: str
    points: int
    #: Whether it is public.
    share: bool
    occasion_id: str
    company_id: str
    created_at: str


@dataclass(frozen=True)
class DryRun:
    """What sending a recognition would do."""

    #: What would pay: ``reserve``, or a wallet of the sender.
    wallet: str
    #: The total cost in points.
    points: int
    #: The total cost in dollars with two decimals.
    dollars: str
    receivers: int
    #: The points of the payer afterwards.
    balance_after: int


@dataclass(frozen=True)
class Attempt:
    """An attempt to deliver an event."""

    #: Counted from 1.
    number: int
    started_at: str
    #: The HTTP status of the receiver's response, if there was one.
    status: int | None
    #: Why the attempt failed.
    cause: str | None
    duration_ms: int


@dataclass(frozen=True)
class Event:
    """An event and the state of its delivery."""

    id: str
    #: Such as ``redemption.created``.
    type: str
    state: EventState
    #: The number of attempts to deliver it.
    attempts: int
    created_at: str
    next_attempt_at: str | None
    #: The decoded body of its deliveries; :func:`guerdon.webhooks.parse_event` types it.
    body: dict[str, Any]
    #: The attempts, oldest first. Empty unless the event was fetched by its id.
    attempts_log: list[Attempt] = field(default_factory=list)


@dataclass(frozen=True)
class EventPage:
    """Some events, oldest first."""

    events: list[Event]
    #: The cursor after these events, for ``after``.
    next: str
