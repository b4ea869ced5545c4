// Receives Guerdon's events: verifies each signature, ignores duplicates, and prints the others. Node, no packages.
//
//     SHARED_SECRET=gw_... CALLBACK_URL=https://your.host/hook PORT=8080 node receiver.mjs
//
// CALLBACK_URL is the URL exactly as it was registered: it is part of the signed message. While the secret is rotated,
// SHARED_SECRET has the old one and the new one, separated by a space.

import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const missing = ["SHARED_SECRET", "CALLBACK_URL"].filter((name) => !process.env[name]?.trim());
if (missing.length > 0) {
  console.error(`set ${missing.join(" and ")}: they are what your operator gave you; see the first lines of this file`);
  process.exit(1);
}
const secrets = process.env.SHARED_SECRET.trim().split(/\s+/);
const url = process.env.CALLBACK_URL;
const windowMs = 5 * 60 * 1000;
const bodyMax = 1 << 20;

const seenNonces = new Map(); // nonce -> time of its arrival, oldest first; store both in your database
const seenEvents = new Set();

/** Returns why a request is not genuine, or null. */
function rejection(headers, body) {
  const timestamp = headers["x-service-timestamp"] ?? "";
  const nonce = headers["x-service-nonce"] ?? "";
  const signature = Buffer.from(headers["x-service-signature"] ?? "");
  const matches = (secret) => {
    const hmac = createHmac("sha256", secret).update(`${url}\n${timestamp}\n${nonce}\n`).update(body);
    const expected = Buffer.from(hmac.digest("hex"));
    return expected.length === signature.length && timingSafeEqual(expected, signature);
  };
  if (!secrets.some(matches)) return "the signature does not match";
  const now = Date.now();
  const signedAt = Date.parse(timestamp);
  if (Number.isNaN(signedAt)) return "the timestamp is malformed";
  if (!(Math.abs(now - signedAt) <= windowMs)) return "the timestamp is too old or too new";
  for (const [old, at] of seenNonces) {
    if (now - at <= 2 * windowMs) break;
    seenNonces.delete(old);
  }
  if (seenNonces.has(nonce)) return "the nonce was used before";
  seenNonces.set(nonce, now);
  return null;
}

function store(eventId, body) {
  if (seenEvents.has(eventId)) return; // an event can arrive twice
  const { type, data } = JSON.parse(body);
  console.log(JSON.stringify({ event_id: eventId, type, data })); // store it, respond, and process it afterwards
  seenEvents.add(eventId); // only now: an event that was not stored must be accepted again
}

const server = createServer((request, response) => {
  const respond = (status, reason = "") =>
    response.writeHead(status, { "Content-Length": Buffer.byteLength(reason) }).end(reason);
  const chunks = [];
  let length = 0;
  request.on("data", (chunk) => {
    length += chunk.length;
    if (length > bodyMax) request.destroy();
    else chunks.push(chunk);
  });
  request.on("end", () => {
    const body = Buffer.concat(chunks); // the raw bytes: parsed and serialised again, they have another signature
    const reason = rejection(request.headers, body);
    if (reason) {
      console.error(`rejected: ${reason}`);
      return respond(401, reason);
    }
    try {
      store(request.headers["x-service-event-id"], body);
    } catch (error) { // Guerdon retries the event
      console.error(`not stored: ${error.message}`);
      return respond(500, "the event could not be stored");
    }
    respond(200); // only 200 confirms
  });
});

server.listen(Number(process.env.PORT ?? 8080), "127.0.0.1", () => {
  console.error(`listening on port ${server.address().port}`);
});
