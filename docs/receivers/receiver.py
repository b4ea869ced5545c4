#!/usr/bin/env python3
"""Receives Guerdon's events: verifies each signature, ignores duplicates, and prints the others. Standard library only.

    SHARED_SECRET=gw_... CALLBACK_URL=https://your.host/hook PORT=8080 python3 receiver.py

CALLBACK_URL is the URL exactly as it was registered: it is part of the signed message. While the secret is rotated,
SHARED_SECRET has the old one and the new one, separated by a space.
"""

import hashlib
import hmac
import json
import os
import re
import sys
import threading
from collections import OrderedDict
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

missing = [name for name in ("SHARED_SECRET", "CALLBACK_URL") if not os.environ.get(name, "").strip()]
if missing:
    sys.exit(f"set {' and '.join(missing)}: they are what your operator gave you; see the first lines of this file")
SECRETS = os.environ["SHARED_SECRET"].encode().split()
URL = os.environ["CALLBACK_URL"]
WINDOW = timedelta(minutes=5)
BODY_MAX = 1 << 20
TIMEOUT = 20  # seconds; a connection that sends nothing for this long is closed

seen_nonces = OrderedDict()  # nonce -> time of its arrival, oldest first; store both in your database
seen_events = set()
one_at_a_time = threading.Lock()  # up to eight deliveries arrive concurrently


def rejection(headers, body):
    """Returns why a request is not genuine, or None."""
    timestamp = headers.get("X-Service-Timestamp", "")
    nonce = headers.get("X-Service-Nonce", "")
    signature = headers.get("X-Service-Signature", "")
    base = "\n".join([URL, timestamp, nonce, ""]).encode() + body
    expected = [hmac.new(secret, base, hashlib.sha256).hexdigest() for secret in SECRETS]
    if not any(hmac.compare_digest(value.encode(), signature.encode()) for value in expected):
        return "the signature does not match"
    now = datetime.now(timezone.utc)
    try:
        signed_at = datetime.strptime(timestamp, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc)
    except ValueError:
        return "the timestamp is malformed"
    if abs(now - signed_at) > WINDOW:
        return "the timestamp is too old or too new"
    while seen_nonces and now - next(iter(seen_nonces.values())) > 2 * WINDOW:
        seen_nonces.popitem(last=False)
    if nonce in seen_nonces:
        return "the nonce was used before"
    seen_nonces[nonce] = now
    return None


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = TIMEOUT

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not re.fullmatch("[0-9]{1,9}", length):
            self.close_connection = True
            return self.respond(400, "Content-Length must be a number")
        if int(length) > BODY_MAX:
            self.close_connection = True
            return self.respond(413, "the body is too large")
        body = self.rfile.read(int(length))  # the raw bytes: parsed and serialised again, they have another signature
        with one_at_a_time:
            status, reason = self.process(body)
        self.respond(status, reason)

    def process(self, body):
        reason = rejection(self.headers, body)
        if reason:
            print(f"rejected: {reason}", file=sys.stderr, flush=True)
            return 401, reason
        try:
            self.store(body)
        except Exception as error:  # Guerdon retries the event
            print(f"not stored: {error}", file=sys.stderr, flush=True)
            return 500, "the event could not be stored"
        return 200, ""  # only 200 confirms

    def store(self, body):
        event_id = self.headers["X-Service-Event-Id"]
        if event_id in seen_events:  # an event can arrive twice
            return
        event = json.loads(body)
        line = json.dumps({"event_id": event_id, "type": event["type"], "data": event["data"]})
        sys.stdout.write(line + "\n")  # store it, respond, and process it afterwards
        sys.stdout.flush()
        seen_events.add(event_id)  # only now: an event that was not stored must be accepted again

    def respond(self, status, reason=""):
        self.send_response(status)
        self.send_header("Content-Length", str(len(reason.encode())))
        self.end_headers()
        self.wfile.write(reason.encode())

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8080"))), Receiver)
    print(f"listening on port {server.server_address[1]}", file=sys.stderr, flush=True)
    server.serve_forever()
