"""Changes generated requests whose validity JSON Schema cannot express, so that the schema predicts the response."""

import datetime
import itertools
import re

import schemathesis

numbers = itertools.count()
DAYS = {"birthday": r"\d\d/\d\d", "work_start_date": r"\d\d/\d\d/\d{4}"}


def to_integers(value):
    """JSON Schema accepts a number with a fraction of zero as an integer; the API does not (behaviour 2.3)."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [to_integers(item) for item in value]
    if isinstance(value, dict):
        return {name: to_integers(item) for name, item in value.items()}
    return value


def replace_refused_values(value):
    """The API refuses U+0000 and numbers outside the range of a double in unknown fields too (behaviour 2.2, 8.1)."""
    if isinstance(value, int) and abs(value) > 1e300:
        return 0
    if isinstance(value, str):
        return value.replace("\0", "0")
    if isinstance(value, list):
        return [replace_refused_values(item) for item in value]
    if isinstance(value, dict):
        return {replace_refused_values(name): replace_refused_values(item) for name, item in value.items()}
    return value


def is_out_of_range(value):
    """The format int64 limits integers; a maximum in the description could not be represented in JavaScript."""
    return re.fullmatch(r"\d{19,}", str(value)) is not None and int(value) >= 2**63


def is_empty_string_for_null(schema, value):
    """The API treats an empty string as null (behaviour 7.1), even if the schema excludes empty strings."""
    excludes = "format" in schema or "enum" in schema or schema.get("minLength", 0) > 0 or not re.search(schema.get("pattern", ""), "")
    return value == "" and "null" in schema.get("type", []) and excludes


def is_impossible_day(name, value):
    """`02/30` matches the pattern of a day but does not exist (behaviour 8.8)."""
    if name not in DAYS or not isinstance(value, str) or not re.fullmatch(DAYS[name], value):
        return False
    month, day, year = (value + "/2024").split("/")[:3]
    try:
        datetime.date(int(year), int(month), int(day))
    except ValueError:
        return True
    return False


def amend_field(name, schema, value):
    if schema.get("format") == "int64" and not isinstance(value, str) and is_out_of_range(value):
        return 1
    if is_empty_string_for_null(schema, value):
        return []  # wrong by its type
    if is_impossible_day(name, value):
        return "02/28/2024"[: len(value)]
    if name == "country_code" and isinstance(value, str) and re.fullmatch("[A-Za-z]{2,3}", value):
        return "US"  # only some letters are the code of a country
    if name == "receiver_ids" and isinstance(value, str) and re.fullmatch(r"[0-9A-Fa-f, \t-]+", value):
        ids = {part.strip(" \t").lower(): part for part in value.split(",")}  # duplicates are refused (behaviour 15.3)
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
        case.headers["Idempotency-Key"] = f"key-{next(numbers)}"  # a key is valid for one request only (behaviour 19.4)
    if (case.headers or {}).get("Prefer") == "handling=strict":
        del case.headers["Prefer"]  # the schema permits unknown fields, which this rejects (behaviour 7.4)
    after = (case.query or {}).get("after")
    if isinstance(after, str) and 0 < len(after) <= 255:
        case.query["after"] = "0"  # only cursors from a response are valid (behaviour 25.5)
    wait = (case.query or {}).get("wait")
    if re.fullmatch("[1-9]|1[0-9]|20", str(wait)):
        case.query["wait"] = "0"  # valid, but a response would take as many seconds (behaviour 25.8)
    for name in ("page", "per_page", "limit"):
        if is_out_of_range((case.query or {}).get(name)):
            case.query[name] = "1"
    if not isinstance(case.body, dict):
        return
    content = case.operation.definition.raw["requestBody"]["content"]
    known = content["application/json"]["schema"]["properties"]
    body = {}
    fixed_fields = ("domain", "company_id") if case.method == "PUT" else ()  # accepted only if unchanged (behaviour 7.3)
    for name, value in to_integers(case.body).items():
        if name in fixed_fields and isinstance(value, str):
            continue
        if name in known:
            body[name] = amend_field(name, known[name], value)
        else:
            body[replace_refused_values(name)] = replace_refused_values(value)
    if case.operation.path == "/v1/events/replay" and body.get("since") in (None, "") and body.get("state") in (None, "", "delivered"):
        body["since"] = "2026-11-20T20:01:02.345Z"  # required without a state, and for delivered events (behaviour 25.6)
    case.body = body
