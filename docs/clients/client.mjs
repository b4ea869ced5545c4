// A client of Guerdon: sends a recognition exactly once, with retries, and reads whole lists. Node, no packages.
//
//     URL=https://localhost:8443/v1 CERTIFICATE=certificate.pem API_KEY=gk_... API_SECRET=gs_... node client.mjs
//
// CERTIFICATE is the service's certificate if no public authority issued it; leave it out otherwise. With COMPANY_ID,
// OCCASION_ID and RECEIVER_ID, that company sends the recognition from its reserve; without them, a new company is created.

import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";

const ATTEMPTS = 6;
const PER_PAGE = 100;
const LONGEST_WAIT = 60; // seconds; the longest Retry-After that is honoured
const TRANSIENT = new Set([429, 500, 502, 503, 504]); // other statuses would not change

/** The service refused the request. `code` is the reason for programs; undefined if a proxy responded. */
export class Refused extends Error {
  constructor(status, { code, reason }) {
    super(`${status}: ${reason}`);
    this.status = status;
    this.code = code;
    this.reason = reason;
  }
}

/**
 * A POST may have been executed. Send it again with `key` until it succeeds or is refused with status 400 or 404, except
 * `idempotency_key_reused`. The error of the last attempt is `cause`.
 */
export class OutcomeUnknown extends Error {
  constructor(key, cause) {
    super(`the outcome is unknown (${cause.message}); send the request again with the idempotency key ${key}`, { cause });
    this.key = key;
  }
}

export class Client {
  constructor(url, key, secret, certificate) {
    this.url = url.replace(/\/+$/, "");
    this.authorization = `Basic ${Buffer.from(`${key}:${secret}`).toString("base64")}`;
    this.agent = new Agent({ keepAlive: true, ca: certificate && readFileSync(certificate) });
  }

  get(path) {
    return this.call("GET", path);
  }

  /** All attempts share one key, so an attempt whose response was lost is not executed twice. */
  post(path, body, key = randomUUID()) {
    return this.call("POST", path, body, key);
  }

  put(path, body) {
    return this.call("PUT", path, body);
  }

  delete(path) {
    return this.call("DELETE", path);
  }

  /** Yields the items of a list, page by page, under whatever name the response has them. */
  async *pages(path) {
    const separator = path.includes("?") ? "&" : "?";
    for (let number = 1; ; number += 1) {
      const page = await this.get(`${path}${separator}page=${number}&per_page=${PER_PAGE}`);
      const items = Object.values(page).find(Array.isArray);
      yield* items;
      if (items.length < PER_PAGE) return;
    }
  }

  async call(method, path, body, key) {
    const headers = key === undefined ? {} : { "Idempotency-Key": key };
    const content = body === undefined ? undefined : JSON.stringify(body);
    let mayHaveTakenEffect = false;
    for (let attempt = 1; ; attempt += 1) {
      let response, failure, isTransient;
      try {
        response = await this.once(method, path, content, headers);
      } catch (error) {
        failure = error;
        // A retry would not make the certificate trusted, or the headers valid.
        isTransient = !/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ALTNAME|ERR_INVALID/.test(error.code ?? "");
        if (isTransient && !/ECONNREFUSED|ENOTFOUND|EAI_AGAIN/.test(error.code ?? "")) mayHaveTakenEffect = true;
      }
      if (response?.status < 300) return parse(response.text, key);
      if (response) {
        const { status } = response;
        failure = new Refused(status, parseError(response.text));
        if (method === "DELETE" && mayHaveTakenEffect && failure.code === "not_found") return null; // by an earlier attempt
        // The service checks the key before it refuses a request for its content.
        const isSettled = failure.code && failure.code !== "idempotency_key_reused";
        if ((status === 400 || status === 404) && isSettled) mayHaveTakenEffect = false;
        else if (status >= 500 && failure.code !== "maintenance") mayHaveTakenEffect = true;
        isTransient = TRANSIENT.has(status);
      }
      if (attempt === ATTEMPTS || !isTransient) {
        throw mayHaveTakenEffect && key !== undefined ? new OutcomeUnknown(key, failure) : failure;
      }
      const wait = Math.max(seconds(response?.headers["retry-after"]), Math.random() * 0.25 * 2 ** (attempt - 1));
      await new Promise((resolve) => setTimeout(resolve, wait * 1000));
    }
  }

  once(method, path, text, headers) {
    const accept = "application/json, application/problem+json";
    const all = { Authorization: this.authorization, "Content-Type": "application/json", Accept: accept, ...headers };
    if (text !== undefined) all["Content-Length"] = Buffer.byteLength(text);
    return new Promise((resolve, reject) => {
      const options = { method, headers: all, agent: this.agent, timeout: 30_000 };
      const sent = request(this.url + path, options, (response) => {
        const chunks = [];
        response.on("data", (chunk) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          const whole = Buffer.concat(chunks).toString();
          resolve({ status: response.statusCode, headers: response.headers, text: whole });
        });
      });
      sent.on("timeout", () => sent.destroy(new Error("no response within 30 seconds")));
      sent.on("error", reject);
      sent.end(text);
    });
  }
}

/** Parses the body of a success. What an unreadable success of a POST did is unknown. */
function parse(text, key) {
  try {
    return text ? JSON.parse(text) : null;
  } catch (error) {
    throw key === undefined ? error : new OutcomeUnknown(key, error);
  }
}

/** Parses Retry-After: a number of seconds, or a date. Anything else is 0. */
function seconds(retryAfter = "") {
  const wait = /^\d+$/.test(retryAfter) ? Number(retryAfter) : (Date.parse(retryAfter) - Date.now()) / 1000;
  return Math.min(Math.max(wait || 0, 0), LONGEST_WAIT);
}

/** Returns the code and the reason of an error. */
function parseError(text) {
  try {
    const { code, detail } = JSON.parse(text);
    if (typeof code === "string" && typeof detail === "string") return { code, reason: detail };
  } catch {
    // A proxy's page is not JSON.
  }
  return { reason: text };
}

/** Creates a company with an occasion and a receiver, and returns their ids. */
async function newcomers(client) {
  const domain = `walk-${randomUUID().slice(0, 8)}.example`;
  const company = await client.post("/companies", {
    domain, company_name: "Walk", owner_email: `ada@${domain}`, owner_name: "Ada Lovelace",
    logo_url: `https://${domain}/logo.png`,
  });
  const grace = await client.post("/users", {
    company_id: company.id, email: `grace@${domain}`, first_name: "Grace", last_name: "Hopper",
  });
  const occasion = await client.post("/occasions", {
    company_id: company.id, name: "Thank you", title: "Thank you!", default_message: "Thank you for your help.",
  });
  return [company.id, occasion.id, grace.id];
}

/** Sends points from a company to one of its users. */
async function walk(client, company, occasion, receiver) {
  try {
    const sent = await client.post("/recognitions", {
      occasion_id: occasion, sender_type: "company", sender_id: company, receiver_ids: receiver,
      points_per_receiver: 10,
    });
    console.log("sent", sent.recognitions[0].id);
  } catch (error) {
    if (error.code !== "insufficient_funds") throw error;
    console.log("the reserve is empty: ask the operator for a deposit");
  }
  const emails = [];
  for await (const user of client.pages(`/companies/${company}/users`)) emails.push(user.email);
  console.log("users", emails.join(", "));
  client.agent.destroy();
}

if (process.argv[1] === import.meta.filename) {
  const { URL: url, API_KEY: key, API_SECRET: secret, CERTIFICATE: certificate } = process.env;
  const missing = Object.entries({ URL: url, API_KEY: key, API_SECRET: secret }).filter(([, it]) => !it);
  if (missing.length > 0) {
    console.error(`set ${missing.map(([name]) => name).join(", ")}; see the first lines of this file`);
    process.exit(1);
  }
  const client = new Client(url, key, secret, certificate);
  const { COMPANY_ID: company, OCCASION_ID: occasion, RECEIVER_ID: receiver } = process.env;
  await walk(client, ...(company && occasion && receiver ? [company, occasion, receiver] : await newcomers(client)));
}
