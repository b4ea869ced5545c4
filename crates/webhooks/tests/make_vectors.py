#!/usr/bin/env python3
"""Makes the test vectors of the signature (behaviour 23.6), independently of the service's own code.

    python3 make_vectors.py > vectors.json
"""

import hashlib
import hmac
import json

SECRETS = ["whsec_5f1d7a", "", "a secret with spaces", "ключ", "k" * 64, "k" * 65, "0" * 200]

# Among them what a parser of URLs would change: each must be signed as it is written here.
URLS = [
    "https://example.com",
    "https://example.com/",
    "https://example.com//",
    "https://EXAMPLE.com/Hook",
    "HTTPS://example.com/hook",
    "https://example.com:443/hook",
    "https://example.com:0443/hook",
    "https://example.com:/hook",
    "https://example.com./hook",
    "http://example.com:80/hook",
    "https://example.com/%7e",
    "https://example.com/~",
    "https://example.com/%7E",
    "https://example.com/a/../b",
    "https://example.com/./a",
    "https://example.com/a/%2e%2e/b",
    "https://example.com?x=1",
    "https://example.com/?x=1",
    "https://example.com/?",
    "https://example.com/?x=1&y=%20&z=+",
    "https://example.com/?q='\"<>`{}|^",
    "https://bücher.example/ü",
    "https://xn--bcher-kva.example/%C3%BC",
    "https://xn--bcher-kva.example/%c3%bc",
    "https://127.1/hook",
    "https://127.0.0.1/hook",
    "https://0x7f000001/hook",
    "https://[2001:DB8::1]:8443/hook",
    "https://[2001:db8:0:0:0:0:0:1]:8443/hook",
]

BODIES = [
    b"",
    b"{}",
    b"\n",
    b'{"type":"redemption.created","version":"1.0","data":{"points":50}}',
    b'{\r\n  "type": "recognition.received"\r\n}\r\n',
    '{"message":"Спасибо 🎉 ça va"}'.encode(),
    b"\xff\xfe\x00 no text at all",
    b"\n\n",
    b" {} ",
    b"x" * 5000,
]

TIMESTAMPS = ["2026-11-20T20:01:02.345Z", "2026-02-28T23:59:59.999Z", "2024-02-29T00:00:00.000Z"]

NONCES = ["00000000000000000000000000000000", "9f86d081884c7d659a2feaa0c55ad015", "f" * 32]


def vector(secret, url, timestamp, nonce, body):
    base = b"\n".join([url.encode(), timestamp.encode(), nonce.encode(), body])
    signature = hmac.new(secret.encode(), base, hashlib.sha256).hexdigest()
    return {
        "secret": secret,
        "url": url,
        "timestamp": timestamp,
        "nonce": nonce,
        "body_hex": body.hex(),
        "signature": signature,
    }


def main():
    secret, url, timestamp, nonce, body = SECRETS[0], URLS[0], TIMESTAMPS[0], NONCES[1], BODIES[3]
    vectors = [vector(secret, it, timestamp, nonce, body) for it in URLS]
    vectors += [vector(it, url, timestamp, nonce, body) for it in SECRETS[1:]]
    vectors += [vector(secret, url, timestamp, nonce, it) for it in BODIES]
    vectors += [vector(secret, url, it, nonce, body) for it in TIMESTAMPS[1:]]
    vectors += [vector(secret, url, timestamp, it, body) for it in NONCES]
    vectors += [vector(SECRETS[3], it, TIMESTAMPS[1], NONCES[2], BODIES[5]) for it in URLS[20:24]]
    print(json.dumps(vectors, indent=1))


main()
