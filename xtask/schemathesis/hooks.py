"""Requests that are right or wrong for a reason that no JSON Schema can tell are made to be so for another."""

import datetime
import itertools
import re

import schemathesis

numbers = itertools.count()
DAYS = {"birthday": r"\d\d/\d\d", "work_start_date": r"\d\d/\d\d/\d{4}"}


def whole(value):
    """A number with a fraction of zero is an integer to JSON Schema, and none to the API (behaviour 2.3)."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [whole(item) for item in value]
    if isinstance(value, dict):
        return {name: whole(item) for name, item in value.items()}
    return value


def harmless(value):
    """U+0000, and numbers that no double holds, are refused in unknown fields too (behaviour 2.2, 8.1)."""
    if isinstance(value, int) and abs(value) > 1e300:
        return 0
    if isinstance(value, str):
        return value.replace("\0", "0")
    if isinstance(value, list):
        return [harmless(item) for item in value]
    if isinstance(value, dict):
        return {harmless(name): harmless(item) for name, item in value.items()}
    return value


def is_empty_for_null(form, value):
    """An empty text is the same as null (behaviour 7.1), also where no text of the form is empty."""
    excludes = "format" in form or "enum" in form or form.get("minLength", 0) > 0 or not re.search(form.get("pattern", ""), "")
    return value == "" and "null" in form.get("type", []) and excludes


def is_no_day(name, value):
    """`02/30` has the form of a day, and is none (behaviour 8.8)."""
    if name not in DAYS or not isinstance(value, str) or not re.fullmatch(DAYS[name], value):
        return False
    month, day, year = (value + "/2024").split("/")[:3]
    try:
        datetime.date(int(year), int(month), int(day))
    except ValueError:
        return True
    return False


def amended(name, form, value):
    if is_empty_for_null(form, value):
        return []  # wrong by its type
    if is_no_day(name, value):
        return "02/28/2024"[: len(value)]
    if name == "country_code" and isinstance(value, str) and re.fullmatch("[A-Za-z]{2,3}", value):
        return "US"  # not every two letters are a country
    if name == "receiver_ids" and isinstance(value, str) and re.fullmatch(r"[0-9A-Fa-f, \t-]+", value):
        ids = {it.strip(" \t").lower(): it for it in value.split(",")}  # nobody receives twice (behaviour 15.3)
        return ",".join(ids.values())
    # Only one company has a domain, and one active user of a company an email (behaviour 11.4, 13.2).
    if name == "domain" and isinstance(value, str) and re.fullmatch(r"[a-z0-9.-]{4,200}", value):
        return f"n{next(numbers)}.{value}"
    if name == "email" and isinstance(value, str) and re.fullmatch(r"[a-z0-9]{1,40}@[a-z0-9.-]{4,180}", value):
        return f"n{next(numbers)}{value}"
    return value


@schemathesis.hook
def before_call(context, case, kwargs):
    key = (case.headers or {}).get("Idempotency-Key")
    if key and key.isascii() and key.isprintable() and " " not in key and len(key) <= 255:
        case.headers["Idempotency-Key"] = f"key-{next(numbers)}"  # nobody means two things by one (behaviour 19.4)
    after = (case.query or {}).get("after")
    if isinstance(after, str) and 0 < len(after) <= 255:
        case.query["after"] = "0"  # not every text is a cursor that an answer had (behaviour 25.5)
    if not isinstance(case.body, dict):
        return
    content = case.operation.definition.raw["requestBody"]["content"]
    known = content["application/json"]["schema"]["properties"]
    body = {}
    stays = ("domain", "company_id") if case.method == "PUT" else ()  # only with the present value (behaviour 7.3)
    for name, value in whole(case.body).items():
        if name in stays and isinstance(value, str):
            continue
        if name in known:
            body[name] = amended(name, known[name], value)
        else:
            body[harmless(name)] = harmless(value)
    if case.operation.path == "/v1/events/replay" and body.get("since") in (None, "") and body.get("state") in (None, "", "delivered"):
        body["since"] = "2026-11-20T20:01:02.345Z"  # one of the two at least, both for what was delivered (behaviour 25.6)
    case.body = body
