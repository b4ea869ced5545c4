/**
 * The scenario that every client package passes against a running service.
 *
 * The environment names the service (SCENARIO_URL, SCENARIO_API_KEY, SCENARIO_API_SECRET, NODE_EXTRA_CA_CERTS), and the
 * command that deposits points (SCENARIO_DEPOSIT, with `{company}` and `{points}` in it).
 */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";

import { ApiError, Client, type Event } from "../src/index.js";

const { SCENARIO_URL = "", SCENARIO_API_KEY = "", SCENARIO_API_SECRET = "", SCENARIO_DEPOSIT = "" } = process.env;

function connect(apiSecret = SCENARIO_API_SECRET): Client {
  return new Client({ baseUrl: SCENARIO_URL, apiKey: SCENARIO_API_KEY, apiSecret });
}

function deposit(company: string, points: number): void {
  const command = SCENARIO_DEPOSIT.replace("{company}", company).replace("{points}", String(points));
  const [program = "", ...words] = command.split(" ");
  execFileSync(program, words, { stdio: "ignore" });
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

async function waitForEvents(client: Client, count: number): Promise<Event[]> {
  const events: Event[] = [];
  for await (const event of client.followEvents()) {
    events.push(event);
    if (events.length === count) break;
  }
  return events;
}

const client = connect();
const group = await client.createCorporation("Group");
const company = await client.createCompany({
  domain: "typescript.example.com",
  company_name: "TypeScript",
  owner_email: "owner@typescript.example.com",
  owner_name: "Olive Owner",
  logo_url: "https://typescript.example.com/logo.png",
  corporation_id: group.id,
  points_per_dollar: 50,
});
const users: string[] = [];
for (const number of [0, 1, 2]) {
  const email = `u${number}@typescript.example.com`;
  const user = { company_id: company.id, email, first_name: "U", last_name: String(number), title: "Dr" };
  users.push((await client.createUser(user)).id);
}
const [first = "", second = "", third = ""] = users;
const texts = { name: "Thanks", title: "Thanks", default_message: "Thank you" };
const occasion = await client.createOccasion({ company_id: company.id, ...texts });
deposit(company.id, 1_000);

const recognition = {
  occasion_id: occasion.id,
  sender_type: "company",
  sender_id: company.id,
  receiver_ids: [first, second],
  points_per_receiver: 10,
  message: "Well done",
} as const;
const preview = await client.dryRunRecognition(recognition);
assert.deepEqual([preview.wallet, preview.points, preview.balance_after], ["reserve", 20, 980]);
const sent = await client.sendRecognition(recognition, { idempotencyKey: "order-1" });
const again = await client.sendRecognition(recognition, { idempotencyKey: "order-1" });
assert.deepEqual(again, sent, "a retry returns the stored response and has no second effect");
assert.deepEqual(sent.map((entry) => entry.receiver_id), recognition.receiver_ids);
assert.equal((await client.reserve(company.id)).points, 980);
const wallets = (await client.balances(first)).wallets;
assert.equal(wallets.find((wallet) => wallet.type === "user_wallet")?.points, 10);
const balances = await collect(client.companyBalances(company.id));
assert.deepEqual(balances.slice(1).map((entry) => entry.id), users);
const [credit] = await collect(client.transactions(first, "user_wallet"));
assert.deepEqual([credit?.type, credit?.points, credit?.reason], ["credit", 10, "recognition"]);
assert.equal((await collect(client.reserveTransactions(company.id))).at(-1)?.reason, "deposit");
assert.deepEqual((await client.recognitionsReceived(first).next()).value, sent[0]);
assert.equal((await client.previewRate(company.id, 100)).reserve.then, 1_960);

const events = await waitForEvents(client, 2);
assert.deepEqual(events.map((event) => event.type), ["recognition.received", "recognition.received"]);
const [event] = events;
assert.ok(event && event.body.type !== "redemption.created" && event.body.data.points === 10);
assert.deepEqual((await client.event(event.id)).body, event.body);
const feed = client.events({ limit: 1 });
await feed.next();
await feed.next();
const { cursor = "" } = feed;
assert.deepEqual(await collect(client.events({ after: cursor })), []);
assert.equal(await client.replayEvents({ since: event.created_at, state: "unaddressed" }), 2);
assert.ok((await client.replayEvent(event.id)) <= 1);

const changed = await client.updateUser(first, { first_name: "Zoe", title: null });
assert.deepEqual([changed.first_name, changed.title, changed.last_name], ["Zoe", null, "0"]);
await client.deleteUser(third);
assert.notEqual((await client.user(third)).deleted_at, null);
assert.equal((await collect(client.companyUsers(company.id))).length, 3);
assert.equal((await collect(client.companyUsers(company.id, { include_deleted: true }))).length, 4);
const found = await collect(client.companyUsers(company.id, { email: "U1@typescript.example.com" }));
assert.deepEqual(found.map((user) => user.id), [second]);
assert.deepEqual(await client.companyByDomain("typescript.example.com"), await client.company(company.id));
assert.equal((await client.updateCompany(company.id, { reserve_alert: 7 })).reserve_alert, 7);
assert.equal((await client.updateCompany(company.id, { reserve_alert: null })).reserve_alert, null);
assert.deepEqual((await collect(client.corporationCompanies(group.id))).map((entry) => entry.id), [company.id]);
assert.ok((await client.updateSamlSettings(company.id, { idp_id: "https://idp.example/metadata" })).idp_id);

for (const [call, status, code, fields] of [
  [() => client.companyByDomain("nobody.example.com"), 404, "not_found", ["id"]],
  [() => connect("gs_wrong").companies().next(), 401, "unauthorized", []],
  [() => client.sendRecognition({ ...recognition, points_per_receiver: 100_000 }), 400, "insufficient_funds", []],
  [() => client.updateUser(first, { email: "x" }), 400, "invalid_request", ["email"]],
] as const) {
  await assert.rejects(call(), (error) => {
    assert.ok(error instanceof ApiError && error.requestId.length === 36, String(error));
    assert.deepEqual([error.status, error.code, error.errors.map((entry) => entry.field)], [status, code, fields]);
    return true;
  });
}
console.log("passed");
