#!/usr/bin/env python3
"""A client of Guerdon: sends a recognition exactly once, with retries, and reads whole lists. Standard library only.

    URL=https://localhost:8443/v1 CERTIFICATE=certificate.pem API_KEY=gk_... API_SECRET=gs_... python3 client.py

CERTIFICATE is the service's certificate if no public authority issued it; leave it out otherwise. With COMPANY_ID, OCCASION_ID
and RECEIVER_ID, that company sends the recognition from its reserve; without them, a new company is created.
"""

import base64
import email.utils
import http.client
import itertools
import json
import os
import random
import socket
import ssl
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

ATTEMPTS = 6
PER_PAGE = 100
LONGEST_WAIT = 60  # seconds; the longest Retry-After that is honoured
TRANSIENT = {429, 500, 502, 503, 504}  # other statuses would not change
BROKEN = (OSError, http.client.HTTPException)  # no complete response: the request may have been executed
UNSENT = (ConnectionRefusedError, socket.gaierror, ssl.SSLCertVerificationError)  # except for these reasons


class Refused(Exception):
    """The service refused the request. `code` is the reason for programs; None if a proxy responded."""

    def __init__(self, status, code, message):
        super().__init__(f"{status}: {message}")
        self.status = status
        self.code = code
        self.message = message


class OutcomeUnknown(Exception):
    """A POST may have been executed. Send it again with `key` until it succeeds or is refused with status 400 or 404, except
    `idempotency_key_reused`. The error of the last attempt is `__cause__`."""

    def __init__(self, key, last_error):
        super().__init__(f"the outcome is unknown ({last_error}); send the request again with the idempotency key {key}")
        self.key = key


class NothingFollowed(urllib.request.HTTPRedirectHandler):
    """Follows no redirects: the credentials are for this service only."""

    def redirect_request(self, *_):
        return None


class Client:
    def __init__(self, url, key, secret, certificate=None):
        self.url = url.rstrip("/")
        address = urllib.parse.urlsplit(self.url)
        if address.scheme != "https" and address.hostname not in ("localhost", "127.0.0.1"):
            raise ValueError("the address must be https: the credentials would be sent unencrypted")
        self.authorization = "Basic " + base64.b64encode(f"{key}:{secret}".encode()).decode()
        context = ssl.create_default_context(cafile=certificate)
        self.opener = urllib.request.build_opener(NothingFollowed, urllib.request.HTTPSHandler(context=context))

    def get(self, path):
        return self.call("GET", path)

    def post(self, path, body, key=None):
        """All attempts share one key, so an attempt whose response was lost is not executed twice."""
        return self.call("POST", path, body, str(uuid.uuid4()) if key is None else key)

    def put(self, path, body):
        return self.call("PUT", path, body)

    def delete(self, path):
        return self.call("DELETE", path)

    def pages(self, path):
        """Yields the items of a list, page by page, under whatever name the response has them."""
        separator = "&" if "?" in path else "?"
        for number in itertools.count(1):
            page = self.get(f"{path}{separator}page={number}&per_page={PER_PAGE}")
            items = next(value for value in page.values() if isinstance(value, list))
            yield from items
            if len(items) < PER_PAGE:
                return

    def call(self, method, path, body=None, key=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {
            "Authorization": self.authorization,
            "Content-Type": "application/json",
            "Accept": "application/json, application/problem+json",
        }
        if key is not None:
            headers["Idempotency-Key"] = key
        may_have_taken_effect = False
        for attempt in range(1, ATTEMPTS + 1):
            request = urllib.request.Request(self.url + path, data, headers, method=method)
            wait = 0
            try:
                status, retry_after, text = self.once(request)
            except BROKEN as error:
                failure, cause = error, getattr(error, "reason", None)
                may_have_taken_effect = may_have_taken_effect or not isinstance(cause, UNSENT)
                is_transient = not isinstance(cause, ssl.SSLCertVerificationError)
            else:
                if status < 300:
                    return parse(text, key)
                failure = Refused(status, *reason(text))
                if method == "DELETE" and may_have_taken_effect and failure.code == "not_found":
                    return None  # an earlier attempt deleted the object
                if status in (400, 404) and failure.code not in (None, "idempotency_key_reused"):
                    may_have_taken_effect = False  # the service checks the key before it refuses a request for its content
                elif status >= 500 and failure.code != "maintenance":
                    may_have_taken_effect = True
                is_transient = status in TRANSIENT
                wait = seconds(retry_after)
            if attempt == ATTEMPTS or not is_transient:
                if may_have_taken_effect and key is not None:
                    raise OutcomeUnknown(key, failure) from failure
                raise failure
            time.sleep(max(wait, random.uniform(0, 0.25 * 2 ** (attempt - 1))))

    def once(self, request):
        try:
            response = self.opener.open(request, timeout=30)
        except urllib.error.HTTPError as error:
            response = error  # any status from 300 on is a response as well
        with response:
            return response.status, response.headers.get("Retry-After", ""), response.read()


def parse(text, key):
    """Parses the body of a success. What an unreadable success of a POST did is unknown."""
    try:
        return json.loads(text) if text else None
    except ValueError as error:
        if key is None:
            raise
        raise OutcomeUnknown(key, error) from error


def seconds(retry_after):
    """Parses Retry-After: a number of seconds, or a date. Anything else is 0."""
    try:
        wait = int(retry_after)
    except ValueError:
        try:
            wait = email.utils.parsedate_to_datetime(retry_after).timestamp() - time.time()
        except (ValueError, TypeError, OverflowError):
            wait = 0
    return min(max(wait, 0), LONGEST_WAIT)


def reason(text):
    """Returns the code and the message of an error."""
    try:
        problem = json.loads(text)
        return problem["code"], problem["detail"]
    except (ValueError, KeyError, TypeError):
        return None, text.decode(errors="replace")


def newcomers(client):
    """Creates a company with an occasion and a receiver, and returns their ids."""
    domain = f"walk-{uuid.uuid4().hex[:12]}.example"
    company = client.post("/companies", {
        "domain": domain, "company_name": "Walk", "owner_email": f"ada@{domain}", "owner_name": "Ada Lovelace",
        "logo_url": f"https://{domain}/logo.png",
    })
    grace = client.post("/users", {
        "company_id": company["id"], "email": f"grace@{domain}", "first_name": "Grace", "last_name": "Hopper",
    })
    occasion = client.post("/occasions", {
        "company_id": company["id"], "name": "Thank you", "title": "Thank you!",
        "default_message": "Thank you for your help.",
    })
    return company["id"], occasion["id"], grace["id"]


def walk(client, company, occasion, receiver):
    """Sends points from a company to one of its users."""
    try:
        sent = client.post("/recognitions", {
            "occasion_id": occasion, "sender_type": "company", "sender_id": company, "receiver_ids": receiver,
            "points_per_receiver": 10,
        })
        print("sent", sent["recognitions"][0]["id"])
    except Refused as refused:
        if refused.code != "insufficient_funds":
            raise
        print("the reserve is empty: ask the operator for a deposit")
    emails = [user["email"] for user in client.pages(f"/companies/{company}/users")]
    print("users", ", ".join(emails))


if __name__ == "__main__":
    missing = [it for it in ("URL", "API_KEY", "API_SECRET") if not os.environ.get(it)]
    if missing:
        sys.exit(f"set {', '.join(missing)}; see the first lines of this file")
    client = Client(os.environ["URL"], os.environ["API_KEY"], os.environ["API_SECRET"], os.environ.get("CERTIFICATE"))
    named = [os.environ.get(it) for it in ("COMPANY_ID", "OCCASION_ID", "RECEIVER_ID")]
    walk(client, *(named if all(named) else newcomers(client)))
