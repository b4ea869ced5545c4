#!/usr/bin/env python3
"""Talks to Guerdon: sends a recognition once however often it must ask, and reads lists to their end. Standard library only.

    URL=https://localhost:8443/v1 CERTIFICATE=certificate.pem API_KEY=gk_... API_SECRET=gs_... python3 client.py

CERTIFICATE is the service's own certificate where no public authority vouches for it; leave it out otherwise.
"""

import base64
import json
import os
import random
import ssl
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

ATTEMPTS = 6
TRANSIENT = {429, 500, 503}  # everything else will be the same the next time


class Refused(Exception):
    """The service said no, with a status and a reason for people."""

    def __init__(self, status, message):
        super().__init__(f"{status}: {message}")
        self.status = status
        self.message = message


class Client:
    def __init__(self, url, key, secret, certificate=None):
        self.url = url.rstrip("/")
        self.authorization = "Basic " + base64.b64encode(f"{key}:{secret}".encode()).decode()
        self.context = ssl.create_default_context(cafile=certificate)

    def get(self, path):
        return self.call("GET", path)

    def post(self, path, body, key=None):
        """One key for all attempts: what was done in an attempt whose answer was lost is not done again."""
        return self.call("POST", path, body, {"Idempotency-Key": key or str(uuid.uuid4())})

    def put(self, path, body):
        return self.call("PUT", path, body)

    def delete(self, path):
        return self.call("DELETE", path)

    def pages(self, path):
        """The items of a list, page after page."""
        separator = "&" if "?" in path else "?"
        number = 1
        while True:
            page = self.get(f"{path}{separator}page={number}")
            yield from page["results"]
            if number * page["per_page"] >= page["total_count"]:
                return
            number += 1

    def call(self, method, path, body=None, headers=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": self.authorization, "Content-Type": "application/json", **(headers or {})}
        for attempt in range(1, ATTEMPTS + 1):
            request = urllib.request.Request(self.url + path, data, headers, method=method)
            try:
                with urllib.request.urlopen(request, timeout=30, context=self.context) as answer:
                    text = answer.read()
                    return json.loads(text) if text else None
            except urllib.error.HTTPError as error:
                refused = Refused(error.code, reason(error.read()))
                if error.code not in TRANSIENT or attempt == ATTEMPTS:
                    raise refused from None
                wait = int(error.headers.get("Retry-After") or 0)
            except (urllib.error.URLError, ConnectionError, TimeoutError) as error:
                if isinstance(getattr(error, "reason", None), ssl.SSLCertVerificationError) or attempt == ATTEMPTS:
                    raise
                wait = 0
            time.sleep(max(wait, random.uniform(0, 0.25 * 2**attempt)))


def reason(text):
    try:
        return json.loads(text)["error"]["message"]
    except (ValueError, KeyError, TypeError):
        return text.decode(errors="replace")


def walk(client):
    """A company, two people, points from one to the other."""
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
    recognition = {
        "occasion_id": occasion["id"], "sender_type": "company", "sender_id": company["id"],
        "receiver_ids": grace["id"], "points_per_receiver": 10,
    }
    try:
        sent = client.post("/recognitions", recognition)
        print("sent", sent["recognitions"][0]["id"])
    except Refused as refused:
        if refused.message != "Insufficient funds":
            raise
        print("the reserve is empty: ask the operator for a deposit")
    emails = [user["email"] for user in client.pages(f"/companies/{company['id']}/users")]
    print("users", ", ".join(emails))


if __name__ == "__main__":
    missing = [it for it in ("URL", "API_KEY", "API_SECRET") if it not in os.environ]
    if missing:
        sys.exit(f"set {', '.join(missing)}; see the first lines of this file")
    walk(Client(os.environ["URL"], os.environ["API_KEY"], os.environ["API_SECRET"], os.environ.get("CERTIFICATE")))
