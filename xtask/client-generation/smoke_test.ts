// The first calls of an integrator, by a client that openapi-typescript generated from docs/openapi.json.
import createClient from "openapi-fetch";
import type { paths } from "./schema.d.ts";

const { URL: base, API_KEY: key, API_SECRET: secret } = process.env;
const authorization = `Basic ${Buffer.from(`${key}:${secret}`).toString("base64")}`;
const client = createClient<paths>({ baseUrl: base!.replace(/\/v1$/, ""), headers: { Authorization: authorization } });

function unwrap<T>(result: { data?: T; error?: unknown; response: Response }): T {
  if (result.data === undefined) throw new Error(`${result.response.status} ${JSON.stringify(result.error)}`);
  return result.data;
}

const domain = `client-${crypto.randomUUID().slice(0, 8)}.example`;
const company = unwrap(await client.POST("/v1/companies", {
  body: {
    domain, company_name: "Client", owner_email: `ada@${domain}`, owner_name: "Ada Lovelace",
    logo_url: `https://${domain}/logo.png`,
  },
}));
const grace = unwrap(await client.POST("/v1/users", {
  body: { company_id: company.id, email: `grace@${domain}`, first_name: "Grace", last_name: "Hopper", manager: true },
}));
const occasion = unwrap(await client.POST("/v1/occasions", {
  body: { company_id: company.id, name: "Thank you", title: "Thank you!", default_message: "Thank you." },
}));
const refused = await client.POST("/v1/recognitions", {
  params: { header: { "Idempotency-Key": crypto.randomUUID() } },
  body: {
    occasion_id: occasion.id, sender_type: "company", sender_id: company.id, receiver_ids: grace.id,
    points_per_receiver: 10,
  },
});
if (refused.error && "error" in refused.error) {
  const message: string = refused.error.error.message;
  if (message !== "Insufficient funds") throw new Error(message);
} else throw new Error("a new company has nothing to send");
const balances = unwrap(await client.GET("/v1/users/{id}/balances", { params: { path: { id: grace.id } } }));
const kinds: string[] = balances.wallets.map((wallet) => wallet.type);
if (kinds.join() !== "user_wallet,peer_wallet,manager_wallet") throw new Error(kinds.join());
const users = unwrap(await client.GET("/v1/companies/{id}/users", { params: { path: { id: company.id }, query: { per_page: 1 } } }));
if (users.total_count !== 2 || users.results[0]?.last_name !== "Lovelace") throw new Error(JSON.stringify(users));
const changed = unwrap(await client.PUT("/v1/users/{id}", { params: { path: { id: grace.id } }, body: { title: "Admiral" } }));
if (changed.title !== "Admiral" || changed.deleted_at !== null) throw new Error(JSON.stringify(changed));
const events = unwrap(await client.GET("/v1/events", {}));
if (events.events.length !== 0) throw new Error("nothing was sent");
console.log("passed");
