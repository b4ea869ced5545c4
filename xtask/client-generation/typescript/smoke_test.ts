// The first calls of an integrator in the sandbox, by a client that openapi-typescript generated.
import createClient from "openapi-fetch";
import type { components, paths } from "./schema.d.ts";

const { BASE_URL: baseUrl, API_KEY: key, API_SECRET: secret } = process.env;
const { COMPANY_ID: company = "", USER_ID: user = "", RECEIVER_ID: receiver = "", OCCASION_ID: occasion = "" } = process.env;
const authorization = `Basic ${Buffer.from(`${key}:${secret}`).toString("base64")}`;
const client = createClient<paths>({ baseUrl: baseUrl!, headers: { Authorization: authorization } });

function assert(condition: boolean, found: unknown): void {
  if (!condition) throw new Error(JSON.stringify(found));
}

function recognition(points: number) {
  return {
    occasion_id: occasion, sender_type: "user" as const, sender_id: user, receiver_ids: receiver,
    points_per_receiver: points, message: "Well done",
  };
}

/** Follows the feed to the event of a recognition. */
async function findEvent(id: string): Promise<components["schemas"]["RecognitionReceivedEvent"]> {
  let cursor: string | undefined;
  for (;;) {
    const { data, error } = await client.GET("/v1/events", { params: { query: { after: cursor, wait: 20 } } });
    if (error) throw new Error(error.error.message);
    assert(data.events.length > 0, data);
    for (const { body } of data.events) {
      if (body.type === "recognition.received" && body.data.id === id) return body;
    }
    cursor = data.next;
  }
}

const sent = await client.POST("/v1/recognitions", {
  params: { header: { "Idempotency-Key": crypto.randomUUID() } },
  body: recognition(10),
});
if (sent.error) throw new Error(sent.error.error.message);
const [first] = sent.data.recognitions;
assert(first?.receiver_id === receiver && first.points === 10, sent.data);

const received = await findEvent(first!.id);
assert(received.data.receiver_id === receiver && received.data.message === "Well done", received);

const refused = await client.POST("/v1/recognitions", { body: recognition(200_000) });
const message: string | undefined = refused.error?.error.message;
assert(message === "Insufficient funds", refused.error);

const response = await fetch(`${baseUrl}/v1/recognitions`, {
  method: "POST",
  headers: { Authorization: authorization, "Content-Type": "application/json", Accept: "application/problem+json" },
  body: JSON.stringify(recognition(200_000)),
});
const problem = (await response.json()) as components["schemas"]["Problem"];
assert(problem.code === "insufficient_funds" && problem.errors.length === 0, problem);

const balances = await client.GET("/v1/users/{id}/balances", { params: { path: { id: receiver } } });
assert(balances.data?.wallets[0]?.type === "user_wallet", balances);
const users = await client.GET("/v1/companies/{id}/users", { params: { path: { id: company }, query: { per_page: 1 } } });
assert(users.data?.results.length === 1, users);
const changed = await client.PUT("/v1/users/{id}", { params: { path: { id: receiver } }, body: { title: "Admiral" } });
assert(changed.data?.title === "Admiral" && changed.data.deleted_at === null, changed);
console.log("passed");
