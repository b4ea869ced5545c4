// Passes a delivery to the receiver of docs/receiving-events.md, which is in receiver.mjs.
//
// DELIVERY is a JSON file with the headers and the body of the delivery. The receiver reads SHARED_SECRET.

import { readFileSync } from "node:fs";

import { receive } from "./receiver.mjs";

const { headers, body } = JSON.parse(readFileSync(process.env.DELIVERY, "utf8"));

function check(expectedStatus, headers, body) {
  const status = receive(headers, body);
  if (status !== expectedStatus) {
    throw new Error(`${JSON.stringify(headers)} ${body}: status ${status} instead of ${expectedStatus}`);
  }
}

const changed = (name, change) => ({ ...headers, [name]: change(headers[name]) });
const { "webhook-signature": _signature, ...unsigned } = headers;

check(200, headers, body);
check(200, headers, Buffer.from(body));
check(401, headers, `${body} `);
check(401, headers, body.replace("recognition.received", "recognition.updated"));
check(401, changed("webhook-id", (value) => value.slice(0, -1)), body);
check(401, changed("webhook-timestamp", (value) => String(Number(value) + 1)), body);
check(401, changed("webhook-timestamp", (value) => String(Number(value) - 301)), body);
check(401, changed("webhook-signature", () => `v1,${"A".repeat(43)}=`), body);
check(401, unsigned, body);
