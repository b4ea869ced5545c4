import assert from "node:assert/strict";
import { test } from "node:test";

import { parseEvent, Receiver, sign, WebhookError } from "../src/webhooks.js";

const SECRET = "gw_0123456789abcdef";
const URL = "https://example.com/hook";
const TIMESTAMP = "2026-11-20T20:01:02.345Z";
const NOW = new Date("2026-11-20T20:01:02Z");
const EVENT_ID = "00000000-0000-0000-0000-000000000001";
const REDEMPTION = {
  type: "redemption.created",
  version: "1.0",
  data: { user_id: EVENT_ID, user_email: "ada@example.com", points: 20, cumulative_points_spent: 70, company_id: EVENT_ID },
};
const BODY = JSON.stringify(REDEMPTION);

async function headers(nonce = "n1", changes: Record<string, string> = {}): Promise<Record<string, string>> {
  return {
    "X-Service-Timestamp": TIMESTAMP,
    "X-Service-Nonce": nonce,
    "X-Service-Signature": await sign(SECRET, URL, TIMESTAMP, nonce, BODY),
    "X-Service-Event-Id": EVENT_ID,
    ...changes,
  };
}

async function reason(receiver: Receiver, sent: Record<string, string>, body = BODY, now = NOW): Promise<string> {
  try {
    await receiver.receive(sent, body, now);
  } catch (error) {
    assert.ok(error instanceof WebhookError);
    return error.reason;
  }
  return "accepted";
}

test("a genuine delivery is accepted once", async () => {
  const receiver = new Receiver(URL, SECRET);
  const received = await receiver.receive(await headers(), BODY, NOW);
  assert.equal(received.eventId, EVENT_ID);
  assert.deepEqual(received.event, REDEMPTION);
  assert.equal(await reason(receiver, await headers()), "replayed");
  const body = new TextEncoder().encode(BODY);
  assert.equal((await receiver.receive(new Headers(await headers("n2")), body, NOW)).eventId, EVENT_ID);
});

test("each fault has its reason", async () => {
  const receiver = new Receiver(URL, SECRET);
  const { "X-Service-Nonce": _nonce, ...without } = await headers();
  assert.equal(await reason(receiver, without), "missing_header");
  assert.equal(await reason(receiver, await headers("n1", { "X-Service-Timestamp": "yesterday" })), "malformed");
  assert.equal(await reason(receiver, await headers("n1", { "X-Service-Signature": "A".repeat(64) })), "malformed");
  assert.equal(await reason(receiver, await headers("n1", { "X-Service-Nonce": "n1\nx" })), "malformed");
  assert.equal(await reason(receiver, await headers("n1", { "X-Service-Signature": "0".repeat(64) })), "bad_signature");
  assert.equal(await reason(receiver, await headers(), `${BODY} `), "bad_signature");
  assert.equal(await reason(new Receiver(`${URL}/`, SECRET), await headers()), "bad_signature");
  for (const minutes of [-6, 6]) {
    const now = new Date(NOW.getTime() + minutes * 60_000);
    assert.equal(await reason(receiver, await headers(), BODY, now), "stale");
  }
  assert.equal(await reason(receiver, await headers()), "accepted", "a refusal records no nonce");
});

test("during a rotation both secrets are accepted", async () => {
  for (const [first, second] of [["gw_new", SECRET], [SECRET, "gw_new"]] as const) {
    const receiver = new Receiver(URL, first, second);
    const signedWith = async (secret: string, nonce: string): Promise<Record<string, string>> =>
      headers(nonce, { "X-Service-Signature": await sign(secret, URL, TIMESTAMP, nonce, BODY) });
    assert.equal(await reason(receiver, await headers()), "accepted");
    assert.equal(await reason(receiver, await signedWith("gw_new", "n2")), "accepted");
    assert.equal(await reason(receiver, await headers()), "replayed");
    assert.equal(await reason(receiver, await signedWith("gw_older", "n3")), "bad_signature");
  }
  assert.throws(() => new Receiver(URL, ""), TypeError);
  assert.throws(() => new Receiver(URL, SECRET, ""), TypeError);
});

test("the signature is that of the other clients", async () => {
  const expected = "35f9a8a3f7de0704f440643b0e4084535570506676cdf76cb523e32a4dd1df37";
  assert.equal(await sign("secret", URL, TIMESTAMP, "nonce", "{}"), expected);
});

test("unknown types are accepted, bodies that are no events are not", () => {
  assert.equal(parseEvent('{"type":"user.created","data":{}}').type, "user.created");
  for (const body of ["", "[]", "{}", "null", '{"type":"redemption.created"}']) {
    assert.throws(() => parseEvent(body), WebhookError);
  }
});
