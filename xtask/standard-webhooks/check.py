"""Passes a delivery to the receiver of docs/receiving-events.md, which is in receiver.py.

DELIVERY is a JSON file with the headers and the body of the delivery. The receiver reads SHARED_SECRET.
"""

import json
import os
import sys

from receiver import receive

with open(os.environ["DELIVERY"], encoding="utf-8") as file:
    delivery = json.load(file)
headers, body = delivery["headers"], delivery["body"].encode()


def check(expected_status, headers, body):
    status = receive(headers, body)
    if status != expected_status:
        sys.exit(f"{headers} {body!r}: status {status} instead of {expected_status}")


def changed(name, change):
    return {**headers, name: change(headers[name])}


check(200, headers, body)
check(401, headers, body + b" ")
check(401, headers, body.replace(b"recognition.received", b"recognition.updated"))
check(401, changed("webhook-id", lambda value: value[:-1]), body)
check(401, changed("webhook-timestamp", lambda value: str(int(value) + 1)), body)
check(401, changed("webhook-timestamp", lambda value: str(int(value) - 301)), body)
check(401, changed("webhook-signature", lambda value: "v1," + "A" * 43 + "="), body)
check(401, {name: value for name, value in headers.items() if name != "webhook-signature"}, body)
