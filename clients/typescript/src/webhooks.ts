/**
 * Verifies webhooks and types events. Works wherever Web Crypto does: Node, Deno, Bun, workers.
 *
 * Delivery is at least once and in no particular order: handle each event id once.
 */

import { GuerdonError } from "./errors.js";
import type { WebhookEvent } from "./models.js";

export type { RecognitionData, RedemptionData, WebhookEvent } from "./models.js";

/** How far the timestamp of a delivery may differ from the clock of the receiver. */
export const REPLAY_WINDOW_MS = 300_000;
const NONCES_MAX = 1 << 20;

export type Reason = "missing_header" | "malformed" | "bad_signature" | "stale" | "replayed" | "unreadable";

/** The delivery must be rejected: respond with any status but 200. */
export class WebhookError extends GuerdonError {
  override name = "WebhookError";

  constructor(
    readonly reason: Reason,
    message: string,
  ) {
    super(message);
  }
}

/** A verified delivery. */
export interface Received {
  /** The same in all attempts to deliver the event. */
  eventId: string;
  event: WebhookEvent;
}

/** A `Headers` object, or a record such as `request.headers` of Node. */
export type HeaderSource = Headers | Record<string, string | string[] | undefined>;

/**
 * Verifies deliveries to one callback URL, and rejects replays within this process.
 *
 * `callbackUrl` is the URL exactly as the operator registered it. While the shared secret is rotated, pass the old one
 * and the new one: a delivery that is signed with either is accepted.
 */
export class Receiver {
  readonly #callbackUrl: string;
  readonly #keys: Promise<CryptoKey[]>;
  readonly #nonces = new Map<string, number>();

  constructor(callbackUrl: string, sharedSecret: string, ...otherSecrets: string[]) {
    this.#callbackUrl = callbackUrl;
    const secrets = [sharedSecret, ...otherSecrets];
    if (secrets.includes("")) throw new TypeError("a shared secret is empty: anyone could sign with it");
    this.#keys = Promise.all(secrets.map(importKey));
  }

  /**
   * Verifies a request and reads its event. `body` is the raw body, before anything parses it.
   *
   * @throws WebhookError if the delivery is not genuine, is too old, or was received before.
   */
  async receive(headers: HeaderSource, body: Uint8Array | string, now: Date = new Date()): Promise<Received> {
    const find = reader(headers);
    const header = (name: string): string => {
      const value = find(name);
      if (value === undefined) throw new WebhookError("missing_header", `the header ${name} is missing`);
      return value;
    };
    const timestamp = header("x-service-timestamp");
    const nonce = header("x-service-nonce");
    const signature = header("x-service-signature");
    const eventId = header("x-service-event-id");
    const sentAt = parseTimestamp(timestamp);
    if (nonce === "" || nonce.includes("\n")) throw new WebhookError("malformed", "the nonce is malformed");
    if (!/^[0-9a-f]{64}$/.test(signature)) throw new WebhookError("malformed", "the signature is malformed");
    const signed = message(this.#callbackUrl, timestamp, nonce, body);
    const matches = (key: CryptoKey) => crypto.subtle.verify("HMAC", key, fromHex(signature), signed);
    if (!(await Promise.all((await this.#keys).map(matches))).includes(true)) {
      throw new WebhookError("bad_signature", "the signature does not match");
    }
    if (Math.abs(now.getTime() - sentAt) > REPLAY_WINDOW_MS) {
      throw new WebhookError("stale", "the timestamp is outside the replay window");
    }
    this.#remember(nonce, now.getTime());
    return { eventId, event: parseEvent(body) };
  }

  #remember(nonce: string, now: number): void {
    // A nonce can be sent again until its timestamp, which may be ahead of this clock, leaves the window.
    for (const [oldest, time] of this.#nonces) {
      if (this.#nonces.size < NONCES_MAX && time + 2 * REPLAY_WINDOW_MS >= now) break;
      this.#nonces.delete(oldest);
    }
    if (this.#nonces.has(nonce)) throw new WebhookError("replayed", "the nonce was used before");
    this.#nonces.set(nonce, now);
  }
}

/** Reads the body of a delivery. Verify it first. */
export function parseEvent(body: Uint8Array | string): WebhookEvent {
  let event: unknown;
  try {
    event = JSON.parse(typeof body === "string" ? body : new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch (error) {
    throw new WebhookError("unreadable", `the event cannot be read: ${(error as Error).message}`);
  }
  const { type, data } = (event ?? {}) as { type?: unknown; data?: unknown };
  if (typeof type !== "string" || typeof data !== "object" || data === null) {
    throw new WebhookError("unreadable", "the event has no type or no data");
  }
  return event as WebhookEvent;
}

/** The value of `X-Service-Signature`: HMAC-SHA-256 over URL, timestamp, nonce and body, joined by line feeds. */
export async function sign(
  sharedSecret: string,
  url: string,
  timestamp: string,
  nonce: string,
  body: Uint8Array | string,
): Promise<string> {
  const signature = await crypto.subtle.sign("HMAC", await importKey(sharedSecret), message(url, timestamp, nonce, body));
  return [...new Uint8Array(signature)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function importKey(sharedSecret: string): Promise<CryptoKey> {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  return crypto.subtle.importKey("raw", new TextEncoder().encode(sharedSecret), algorithm, false, ["sign", "verify"]);
}

function message(url: string, timestamp: string, nonce: string, body: Uint8Array | string): Uint8Array<ArrayBuffer> {
  const head = new TextEncoder().encode(`${url}\n${timestamp}\n${nonce}\n`);
  const rest = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const signed = new Uint8Array(head.length + rest.length);
  signed.set(head);
  signed.set(rest, head.length);
  return signed;
}

function fromHex(value: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(value.length / 2);
  bytes.forEach((_, index) => {
    bytes[index] = parseInt(value.slice(2 * index, 2 * index + 2), 16);
  });
  return bytes;
}

function reader(headers: HeaderSource): (name: string) => string | undefined {
  if (headers instanceof Headers) return (name) => headers.get(name) ?? undefined;
  const values = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return (name) => {
    const value = values.get(name);
    return Array.isArray(value) ? value[0] : value;
  };
}

function parseTimestamp(value: string): number {
  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(value) ? Date.parse(value) : NaN;
  if (Number.isNaN(time)) throw new WebhookError("malformed", "the timestamp is malformed");
  return time;
}
