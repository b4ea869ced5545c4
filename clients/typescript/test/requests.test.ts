import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import {
  ApiError,
  Client,
  ConnectionError,
  EventFeed,
  InvalidResponseError,
  OutcomeUnknownError,
} from "../src/index.js";
import { ATTEMPTS_MAX, Transport } from "../src/transport.js";

const ID = "00000000-0000-0000-0000-000000000000";
const CORPORATION = { id: "1", name: "Acme", created_at: "t", updated_at: "t" };

interface Sent {
  method: string;
  url: URL;
  headers: Record<string, string>;
  body: Record<string, unknown> | undefined;
}

type Reply = { status: number; body?: unknown; headers?: Record<string, string> } | Error;

/** A service that gives these responses, one after the other; the last one again and again. */
class Service {
  readonly sent: Sent[] = [];
  readonly waits: number[] = [];
  readonly #replies: Reply[];

  constructor(...replies: Reply[]) {
    this.#replies = replies;
  }

  readonly fetch: typeof fetch = async (input, init) => {
    const body = init?.body ? JSON.parse(String(init.body)) : undefined;
    this.sent.push({ method: init?.method ?? "GET", url: new URL(String(input)), headers: init?.headers as Sent["headers"], body });
    const reply = (this.#replies.length > 1 ? this.#replies.shift() : this.#replies[0]) as Reply;
    if (reply instanceof Error) throw reply;
    const text = typeof reply.body === "string" ? reply.body : JSON.stringify(reply.body ?? "");
    return new Response(reply.status === 204 ? null : text, { status: reply.status, headers: reply.headers ?? {} });
  };

  client(): Client {
    return new Client({ baseUrl: "https://guerdon.test/", apiKey: "gk", apiSecret: "gs", fetch: this.fetch });
  }

  transport(): Transport {
    const sleep = async (milliseconds: number) => void this.waits.push(milliseconds);
    return new Transport({ baseUrl: "https://guerdon.test", apiKey: "gk", apiSecret: "gs", fetch: this.fetch, timeoutMs: 1_000, sleep });
  }
}

const refused = (status: number, headers = {}, code = "invalid_request"): Reply => ({
  status,
  body: { detail: "no", code, errors: [{ field: "name", message: "no" }] },
  headers: { "X-Request-Id": "r1", ...headers },
});

const failed = (code: string) => new TypeError("fetch failed", { cause: Object.assign(new Error(code), { code }) });
const DROPPED = failed("ECONNRESET");
const MAINTENANCE = refused(503, {}, "maintenance");
const MISSING = refused(404, {}, "not_found");
const PROXY_MISSING: Reply = { status: 404, body: "<html>" };

function create(service: Service): Promise<unknown> {
  return service.transport().post("/corporations", { name: "Acme" }, (body) => body);
}

test("credentials do not leave the machine unencrypted", () => {
  const create = (baseUrl: string) => new Client({ baseUrl, apiKey: "gk", apiSecret: "gs" });
  for (const url of ["http://guerdon.test", "HTTP://guerdon.test:8443", "http://10.0.0.1", "http://[fd00::1]"]) {
    assert.throws(() => create(url), /https/, url);
  }
  ["http://localhost:8443", "http://127.0.0.1:1", "http://[::1]:1"].forEach(create);
});

test("an unknown outcome has the key that was sent", async () => {
  const cases: [Reply[], Function][] = [
    [[DROPPED, MAINTENANCE], ApiError],
    [[DROPPED], ConnectionError],
    [[DROPPED, failed("ECONNREFUSED")], ConnectionError],
    [[refused(503, {}, "unavailable")], ApiError],
    [[refused(500), refused(401)], ApiError],
    [[DROPPED, refused(400, {}, "idempotency_key_reused")], ApiError],
    [[DROPPED, PROXY_MISSING], ApiError],
    [[{ status: 201, body: "<html>" }], InvalidResponseError],
  ];
  for (const [replies, last] of cases) {
    const service = new Service(...replies);
    await assert.rejects(create(service), (error) => {
      assert.ok(error instanceof OutcomeUnknownError);
      assert.ok(error.lastError instanceof last && error.cause === error.lastError);
      const keys = new Set(service.sent.map((sent) => sent.headers["Idempotency-Key"]));
      assert.deepEqual(keys, new Set([error.idempotencyKey]));
      return true;
    });
  }
  await assert.rejects(new Service({ status: 201, body: [] }).client().createCorporation("Acme"), OutcomeUnknownError);
});

test("a known outcome keeps its error", async () => {
  const cases: [Reply[], new (...values: never[]) => Error][] = [
    [[MAINTENANCE], ApiError],
    [[refused(429, {}, "rate_limited")], ApiError],
    [[DROPPED, refused(400)], ApiError],
    [[DROPPED, MISSING], ApiError],
    [[failed("ECONNREFUSED")], ConnectionError],
  ];
  for (const [replies, kind] of cases) {
    await assert.rejects(create(new Service(...replies)), (error) => error instanceof kind);
  }
  const other = new Service(DROPPED, MAINTENANCE).transport().request("PUT", "/corporations/1", { body: {} });
  await assert.rejects(other, ApiError);
  await assert.rejects(new Service(DROPPED).client().previewRate(ID, 50), ConnectionError);
});

test("an invalid key is not sent", async () => {
  const service = new Service(DROPPED);
  await assert.rejects(service.client().createCorporation("Acme", { idempotencyKey: "line\nbreak" }), TypeError);
  assert.equal(service.sent.length, 0);
});

test("a DELETE succeeds if an earlier attempt may have deleted the object", async () => {
  const remove = (...replies: Reply[]) => new Service(...replies).transport().request("DELETE", "/occasions/1");
  assert.equal(await remove(DROPPED, MISSING), undefined);
  for (const replies of [[MISSING], [MAINTENANCE, MISSING], [DROPPED, PROXY_MISSING]]) {
    await assert.rejects(remove(...replies), ApiError);
  }
});

test("a POST is retried under one key", async () => {
  const service = new Service(refused(503), DROPPED, refused(429, { "Retry-After": "7" }), { status: 201, body: CORPORATION });
  const created = await create(service);
  assert.deepEqual(created, CORPORATION);
  assert.equal(service.sent.length, 4);
  assert.equal(new Set(service.sent.map((sent) => sent.headers["Idempotency-Key"])).size, 1);
  assert.equal(service.waits[2], 7_000);
  assert.ok(Math.max(...service.waits.slice(0, 2)) <= 500);
  await service.client().createCorporation("Acme", { idempotencyKey: "mine" });
  const last = service.sent.at(-1);
  assert.equal(last?.headers["Idempotency-Key"], "mine");
  assert.equal(last?.headers["Authorization"], `Basic ${btoa("gk:gs")}`);
});

test("refusals are not retried", async () => {
  for (const status of [400, 401, 404, 409, 422]) {
    const service = new Service(refused(status));
    await assert.rejects(service.client().corporation("1"), (error) => {
      assert.ok(error instanceof ApiError);
      assert.deepEqual([error.status, error.reason, error.requestId], [status, "no", "r1"]);
      assert.deepEqual([error.code, error.errors], ["invalid_request", [{ field: "name", message: "no" }]]);
      return true;
    });
    assert.equal(service.sent.length, 1);
    assert.match(service.sent[0]?.headers["Accept"] ?? "", /problem\+json/);
  }
});

test("a page of a proxy has no code", async () => {
  const service = new Service({ status: 404, body: "<html>" });
  await assert.rejects(service.client().corporation("1"), (error) => {
    assert.ok(error instanceof ApiError);
    assert.deepEqual([error.reason, error.code, error.errors], ["<html>", "", []]);
    return true;
  });
});

test("attempts are limited", async () => {
  for (const [reply, kind] of [[refused(500), ApiError], [new TypeError("fetch failed"), ConnectionError]] as const) {
    const service = new Service(reply);
    await assert.rejects(service.transport().request("GET", "/corporations/1"), kind);
    assert.equal(service.sent.length, ATTEMPTS_MAX);
  }
});

test("untrusted certificates are not retried", async () => {
  const cause = Object.assign(new Error("self-signed certificate"), { code: "DEPTH_ZERO_SELF_SIGNED_CERT" });
  const service = new Service(new TypeError("fetch failed", { cause }));
  await assert.rejects(service.client().corporation("1"), ConnectionError);
  assert.equal(service.sent.length, 1);
});

test("a body of another service is an error", async () => {
  for (const body of ["<html>", [], null]) {
    await assert.rejects(new Service({ status: 200, body }).client().corporation("1"), InvalidResponseError);
  }
});

test("lists end with their last page", async () => {
  const page = (count: number, total_count: number | null): Reply => ({
    status: 200,
    body: { results: Array(count).fill(CORPORATION), total_count },
  });
  const cases: [Reply[], number, number][] = [
    [[page(0, 0)], 0, 1],
    [[page(100, 100)], 100, 1],
    [[page(100, 101), page(1, 101)], 101, 2],
    [[page(100, null), page(0, null)], 100, 2],
  ];
  for (const [replies, count, requests] of cases) {
    const service = new Service(...replies);
    let seen = 0;
    for await (const _corporation of service.client().corporations()) seen += 1;
    assert.deepEqual([seen, service.sent.length], [count, requests]);
  }
});

test("the feed follows its cursor", async () => {
  const page = (ids: string[], next: string): Reply => ({ status: 200, body: { events: ids.map((id) => ({ id })), next } });
  const service = new Service(page(["1", "2"], "b"), page([], "c"), page(["3"], "d"), page([], "d"));
  const feed = service.client().events({ since: "2026-11-20T20:01:02.345Z", limit: 2 });
  assert.equal(feed.cursor, undefined);
  assert.equal((await feed.next()).value?.id, "1");
  assert.equal(feed.cursor, undefined);
  await feed.next();
  assert.equal(feed.cursor, "b");
  const rest: string[] = [];
  for await (const event of feed) rest.push(event.id);
  assert.deepEqual([rest, feed.cursor], [["3"], "d"]);
  const queries = service.sent.map((sent) => Object.fromEntries(sent.url.searchParams));
  assert.deepEqual(queries[0], { since: "2026-11-20T20:01:02.345Z", limit: "2" });
  assert.deepEqual(queries.slice(1), ["b", "c", "d"].map((after) => ({ after, limit: "2" })));
});

test("an endless feed waits for events", async () => {
  const page = (ids: string[], next: string): Reply => ({ status: 200, body: { events: ids.map((id) => ({ id })), next } });
  const service = new Service(page(["1"], "b"), page([], "b"), page([], "b"), page(["2"], "c"));
  const feed = new EventFeed(service.transport(), { after: "a", wait: 20 }, true);
  assert.deepEqual([(await feed.next()).value?.id, (await feed.next()).value?.id, feed.cursor], ["1", "2", "c"]);
  const queries = service.sent.map((sent) => Object.fromEntries(sent.url.searchParams));
  assert.deepEqual(queries, ["a", "b", "b", "b"].map((after) => ({ wait: "20", after })));
  assert.equal(service.waits.length, 2);
  assert.ok(service.waits.every((wait) => wait > 0 && wait <= 1_000));
});

test("the timeout is longer than the wait", async (context) => {
  const timeout = context.mock.method(AbortSignal, "timeout");
  const service = new Service({ status: 200, body: { events: [{ id: "1" }], next: "b" } });
  const options = { baseUrl: "https://guerdon.test", apiKey: "gk", apiSecret: "gs", fetch: service.fetch };
  const query = { wait: undefined } as unknown as { wait: number }; // as JavaScript can pass it
  await new Client({ ...options, timeoutMs: 10_000 }).followEvents(query).next();
  await new Client({ ...options, timeoutMs: 60_000 }).followEvents().next();
  await new Client({ ...options, timeoutMs: 10_000 }).events().next();
  assert.deepEqual(timeout.mock.calls.map((call) => call.arguments[0]), [30_000, 60_000, 10_000]);
  assert.deepEqual(service.sent.map((sent) => sent.url.searchParams.get("wait")), ["20", "20", null]);
});

/** Calls each operation with each parameter. */
async function callEverything(client: Client): Promise<void> {
  const names = { domain: "a", company_name: "a", owner_email: "a", owner_name: "a", logo_url: "a" };
  const company = { ...names, points_per_dollar: 1, reserve_alert: 1, reserve_bcc: "a" };
  const user = {
    email: "a", first_name: "a", last_name: "a", department: "a", title: "a", supervisor_email: "a", employee_id: "a",
    birthday: "a", country_code: "a", work_start_date: "a", office_city: "a", office_state: "a", office_country: "a",
    manager: true, company_admin: true, corporation_admin: true, groups: "a", custom_field_1: "a", custom_field_2: "a",
    custom_field_3: "a", custom_field_4: "a", custom_field_5: "a",
  };
  const occasion = { name: "a", title: "a", default_message: "a", enabled: true, visible: true };
  const recognition = {
    occasion_id: ID, sender_type: "user", sender_id: ID, receiver_ids: [ID], points_per_receiver: 1, message: "a", share: true,
  } as const;
  const filter = { email: "a", employee_id: "1", updated_since: "t", include_deleted: true };
  const calls: (() => Promise<unknown>)[] = [
    () => client.companies({ corporation_id: ID }).next(),
    () => client.createCompany({ ...company, corporation_id: ID }),
    () => client.company(ID),
    () => client.updateCompany(ID, company),
    () => client.companyOccasions(ID).next(),
    () => client.previewRate(ID, 1),
    () => client.reserve(ID),
    () => client.reserveTransactions(ID).next(),
    () => client.samlSettings(ID),
    () => client.updateSamlSettings(ID, { active: true, idp_certificate: "a", idp_id: "a", idp_url: "a" }),
    () => client.companyUsers(ID, filter).next(),
    () => client.companyBalances(ID).next(),
    () => client.corporations().next(),
    () => client.createCorporation("a"),
    () => client.corporation(ID),
    () => client.updateCorporation(ID, { name: "a" }),
    () => client.corporationCompanies(ID).next(),
    () => client.events({ after: "a", type: "t", state: "pending", limit: 1, wait: 1 }).next(),
    () => client.events({ since: "t" }).next(),
    () => client.replayEvents({ since: "t", state: "pending" }, { idempotencyKey: "k" }),
    () => client.event(ID),
    () => client.replayEvent(ID, { idempotencyKey: "k" }),
    () => client.createOccasion({ ...occasion, company_id: ID }),
    () => client.deleteOccasion(ID),
    () => client.occasion(ID),
    () => client.updateOccasion(ID, occasion),
    () => client.sendRecognition(recognition),
    () => client.dryRunRecognition(recognition),
    () => client.recognition(ID),
    () => client.createUser({ ...user, company_id: ID }),
    () => client.deleteUser(ID),
    () => client.user(ID),
    () => client.updateUser(ID, user),
    () => client.balances(ID),
    () => client.recognitionsReceived(ID).next(),
    () => client.recognitionsSent(ID).next(),
    () => client.transactions(ID, "user_wallet").next(),
  ];
  for (const call of calls) await assert.rejects(call(), ApiError);
}

test("every operation of the description has a method", async () => {
  const service = new Service(refused(404));
  await callEverything(service.client());
  const called: Record<string, string[]> = {};
  for (const { method, url, body } of service.sent) {
    const operation = `${method} ${url.pathname.replace(ID, "{id}")}`;
    const names = [...(called[operation] ?? []), ...url.searchParams.keys(), ...Object.keys(body ?? {})];
    called[operation] = [...new Set(names)].sort();
  }
  assert.deepEqual(called, described());
});

/** The names of the query parameters and body fields of each operation. */
function described(): Record<string, string[]> {
  const openapi: any = JSON.parse(readFileSync(new URL("../../../../docs/openapi.json", import.meta.url), "utf8"));
  const resolve = (value: any): any =>
    value?.$ref ? resolve(value.$ref.slice(2).split("/").reduce((target: any, part: string) => target[part], openapi)) : value;
  const operations: Record<string, string[]> = {};
  for (const [path, methods] of Object.entries<any>(openapi.paths)) {
    for (const [method, operation] of Object.entries<any>(methods)) {
      if (method === "parameters") continue;
      const query = (operation.parameters ?? []).map(resolve).filter((parameter: any) => parameter.in === "query");
      const schema = resolve(resolve(operation.requestBody)?.content?.["application/json"]?.schema);
      const fields = Object.keys(schema?.properties ?? {});
      // A user or an occasion cannot change its company.
      const isFixed = method === "put" && ["/v1/users/{id}", "/v1/occasions/{id}"].includes(path);
      const names = [...query.map((parameter: any) => parameter.name), ...fields.filter((name) => !(isFixed && name === "company_id"))];
      operations[`${method.toUpperCase()} ${path}`] = names.sort();
    }
  }
  return operations;
}
