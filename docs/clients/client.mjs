// Talks to Guerdon: sends a recognition once however often it must ask, and reads lists to their end. Node, no packages.
//
//     URL=https://localhost:8443/v1 CERTIFICATE=certificate.pem API_KEY=gk_... API_SECRET=gs_... node client.mjs
//
// CERTIFICATE is the service's own certificate where no public authority vouches for it; leave it out otherwise. With
// COMPANY_ID, OCCASION_ID and RECEIVER_ID that company sends the recognition, from its reserve; without them it makes a company
// of its own.

import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";

const ATTEMPTS = 6;
const LONGEST_WAIT = 60; // seconds; the most that Retry-After is heeded for
const TRANSIENT = new Set([429, 500, 502, 503, 504]); // everything else will be the same the next time

/** The service said no, with a status and a reason for people. */
export class Refused extends Error {
  constructor(status, reason) {
    super(`${status}: ${reason}`);
    this.status = status;
    this.reason = reason;
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

  /** One key for all attempts: what was done in an attempt whose answer was lost is not done again. */
  post(path, body, key = randomUUID()) {
    return this.call("POST", path, body, { "Idempotency-Key": key });
  }

  put(path, body) {
    return this.call("PUT", path, body);
  }

  delete(path) {
    return this.call("DELETE", path);
  }

  /** The items of a list, page after page. */
  async *pages(path) {
    const separator = path.includes("?") ? "&" : "?";
    for (let number = 1; ; number += 1) {
      const page = await this.get(`${path}${separator}page=${number}`);
      yield* page.results;
      if (number * page.per_page >= page.total_count) return;
    }
  }

  async call(method, path, body, headers = {}) {
    for (let attempt = 1; ; attempt += 1) {
      const isLast = attempt === ATTEMPTS;
      let answer;
      try {
        answer = await this.once(method, path, body, headers);
      } catch (error) {
        // A certificate that is not trusted today is not trusted in a second either.
        if (isLast || /CERT|SELF_SIGNED|ALTNAME/.test(error.code ?? "")) throw error;
      }
      if (answer?.status < 300) return answer.text ? JSON.parse(answer.text) : null;
      if (answer && (isLast || !TRANSIENT.has(answer.status))) throw new Refused(answer.status, reason(answer.text));
      const wait = Math.max(seconds(answer?.headers["retry-after"]), Math.random() * 0.25 * 2 ** attempt);
      await new Promise((resolve) => setTimeout(resolve, wait * 1000));
    }
  }

  once(method, path, body, headers) {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const all = { Authorization: this.authorization, "Content-Type": "application/json", ...headers };
    if (text !== undefined) all["Content-Length"] = Buffer.byteLength(text);
    return new Promise((resolve, reject) => {
      const options = { method, headers: all, agent: this.agent, timeout: 30_000 };
      const sent = request(this.url + path, options, (answer) => {
        const chunks = [];
        answer.on("data", (chunk) => chunks.push(chunk));
        answer.on("error", reject);
        answer.on("end", () => {
          const whole = Buffer.concat(chunks).toString();
          resolve({ status: answer.statusCode, headers: answer.headers, text: whole });
        });
      });
      sent.on("timeout", () => sent.destroy(new Error("no answer in 30 seconds")));
      sent.on("error", reject);
      sent.end(text);
    });
  }
}

/** How long to wait: a number of seconds, or a date; anything else asks for nothing. */
function seconds(retryAfter = "") {
  const wait = /^\d+$/.test(retryAfter) ? Number(retryAfter) : (Date.parse(retryAfter) - Date.now()) / 1000;
  return Math.min(Math.max(wait || 0, 0), LONGEST_WAIT);
}

function reason(text) {
  try {
    return JSON.parse(text).error.message;
  } catch {
    return text;
  }
}

/** A company with somebody to thank: its id, an occasion's and the receiver's. */
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

/** Points from a company to one of its people. */
async function walk(client, company, occasion, receiver) {
  try {
    const sent = await client.post("/recognitions", {
      occasion_id: occasion, sender_type: "company", sender_id: company, receiver_ids: receiver,
      points_per_receiver: 10,
    });
    console.log("sent", sent.recognitions[0].id);
  } catch (error) {
    if (error.reason !== "Insufficient funds") throw error;
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
