// Takes screenshots of every kind of page of the documentation and the console, and checks them with axe, at two widths in
// light and dark mode. The service has 3 companies, 300 users, 3,000 recognitions and a receiver that fails.
//
//     PROGRAM=target/debug/guerdon CHROMIUM=/usr/bin/chromium OUTPUT=target/pages node pages.mjs

import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import http from "node:http";
import https from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import puppeteer from "puppeteer-core";

const { PROGRAM, CHROMIUM, OUTPUT } = process.env;
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** Widths and color schemes. */
const VIEWS = [[1280, "light"], [390, "dark"], ...(process.env.QUICK ? [] : [[1280, "dark"], [390, "light"]])];
const COMPANIES = [["Acme", 150], ["Globex International Trading Company", 100], ["Initech", 50]];
const RECOGNITIONS = 3_000;
const RECEIVERS_PER_REQUEST = 10;

const data = mkdtempSync(join(tmpdir(), "guerdon-pages-"));
const settings = {
  ...process.env,
  GUERDON_DATA_DIR: data,
  GUERDON_HTTP__LISTEN: "127.0.0.1:0",
  GUERDON_OPERATOR__LISTEN: "127.0.0.1:0",
  GUERDON_RATE_LIMIT__REQUESTS_PER_SECOND: "10000",
  GUERDON_RATE_LIMIT__BURST: "10000",
  GUERDON_WEBHOOKS__ALLOW_HTTP: "true",
  GUERDON_WEBHOOKS__ALLOW_PRIVATE_NETWORKS: "true",
  GUERDON_WEBHOOKS__TIME_SCALE: "20",
};

/** Runs an operator's command and returns its output. */
function command(...words) {
  const printed = execFileSync(PROGRAM, ["--output", "json", ...words], { env: settings });
  return JSON.parse(printed.toString());
}

/** Starts the service. Returns its addresses when it listens. */
function startService() {
  const child = spawn(PROGRAM, ["serve"], { env: settings, stdio: ["ignore", "ignore", "pipe"] });
  return new Promise((resolve, reject) => {
    let log = "";
    child.stderr.setEncoding("utf8").on("data", (text) => {
      log += text;
      const [api, health] = ["api_url", "health_url"].map((name) => log.match(`${name}=(\\S+)`)?.[1]);
      if (api && health) resolve({ child, api, health });
    });
    child.on("exit", () => reject(new Error(log)));
  });
}

/** Returns a function that sends a request as a provider. */
function providerClient(api, provider) {
  const agent = new https.Agent({ keepAlive: true, rejectUnauthorized: false });
  const auth = `${provider.api_key}:${provider.api_secret}`;
  return (method, path, body) => new Promise((resolve, reject) => {
    const headers = body ? { "content-type": "application/json" } : {};
    const request = https.request(`${api}/v1${path}`, { method, agent, auth, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part) => (text += part));
      response.on("end", () => resolve({ status: response.statusCode, body: JSON.parse(text || "null") }));
    });
    request.on("error", reject);
    request.end(body && JSON.stringify(body));
  });
}

/** A receiver of events, which responds with this status. */
function startReceiver(status, text) {
  const server = http.createServer((request, response) => {
    request.resume().on("end", () => {
      response.writeHead(status, { "content-type": "text/html", "retry-after": "30", server: "gateway" });
      response.end(text);
    });
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

const url = (server) => `http://127.0.0.1:${server.address().port}/hook`;

/** Creates a company with users and points. Returns a function that sends a recognition. */
async function fillCompany(send, name, count) {
  const domain = `${name.split(" ")[0].toLowerCase()}.example`;
  const created = await send("POST", "/companies", {
    domain, company_name: name, owner_email: `ada@${domain}`, owner_name: "Ada Lovelace",
    logo_url: `https://${domain}/logo.png`, points_per_dollar: 50,
  });
  if (created.status !== 201) throw new Error(JSON.stringify(created));
  const company = created.body.id;
  const occasions = [];
  for (const title of ["Thank you", "Birthday", "Ten years"]) {
    const made = await send("POST", "/occasions", {
      company_id: company, name: title, title, default_message: `${title}!`,
    });
    occasions.push(made.body.id);
  }
  const users = [];
  for (let number = 1; number < count; number += 1) {
    const made = await send("POST", "/users", {
      company_id: company, email: `user${number}@${domain}`, first_name: "User", last_name: String(number),
    });
    users.push(made.body.id);
  }
  command("reserve", "deposit", company, "--points", "250000");
  command("distribution", "run", company, "--wallet", "peer_wallet", "--points", "500");
  command("distribution", "schedule", company, "--wallet", "peer_wallet", "--points", "100", "--every", "month",
    "--start", "2099-01-01");
  return async (round) => {
    const first = (round * RECEIVERS_PER_REQUEST) % (users.length - RECEIVERS_PER_REQUEST);
    const sent = await send("POST", "/recognitions", {
      occasion_id: occasions[round % occasions.length], sender_type: "company", sender_id: company,
      receiver_ids: users.slice(first, first + RECEIVERS_PER_REQUEST).join(","),
      points_per_receiver: 5 + (round % 20), message: "You made my day.",
    });
    if (sent.status !== 201) throw new Error(JSON.stringify(sent));
  };
}

async function fill(api, receivers) {
  const create = (name, ...more) => command("provider", "create", "--name", name, ...more);
  const all = "--manages-all-domain-resources";
  const main = create("Acme Rewards", "--callback-url", url(receivers[0]), all);
  const failing = create("Broken Gateway Ltd", "--callback-url", url(receivers[1]), all);
  create("Newcomer");
  const senders = [providerClient(api, main), providerClient(api, main), providerClient(api, failing)];
  const companies = [];
  for (const [index, [name, count]] of COMPANIES.entries()) {
    companies.push(await fillCompany(senders[index], name, count));
  }
  for (let round = 0; round < RECOGNITIONS / RECEIVERS_PER_REQUEST; round += 1) {
    await companies[round % 10 < 6 ? 0 : round % 10 < 9 ? 1 : 2](round);
  }
  for (const path of ["/users/unknown", "/companies/unknown.example", "/recognitions/1"]) {
    await senders[0]("GET", path);
  }
  command("maintenance", "on");
  await waitFor(async () => (await senders[0]("GET", "/companies")).status === 503);
  command("maintenance", "off");
  command("backup", join(data, "backup.db"));
  command("verify");
}

async function waitFor(condition) {
  const end = Date.now() + 60_000;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error("a condition did not become true within a minute");
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

/** The links of a page that lead to the same listener. */
async function links(page) {
  const found = await page.$$eval("a[href]", (all) => all.map((link) => link.href));
  const { origin } = new URL(page.url());
  return found.map((link) => new URL(link)).filter((link) => link.origin === origin);
}

/** The pages of the documentation. */
async function findDocumentation(page, api) {
  await page.goto(`${api}/docs`);
  const paths = (await links(page)).map((link) => link.pathname).filter((path) => /^\/docs(\/|$)/.test(path));
  return [...new Set(paths)].filter((path) => !path.includes("/files/")).map((path) => [`docs-${slug(path)}`, api + path]);
}

const slug = (path) => path.replace(/^\/(docs\/?)?/, "").replaceAll(/[^A-Za-z0-9]+/g, "-") || "start";

/** One page of each kind of the console. */
async function findConsole(page, health) {
  const kinds = new Map();
  const open = [`${health}/`];
  const seen = new Set(open);
  while (open.length > 0) {
    const next = open.shift();
    const response = await page.goto(next);
    if (!response.headers()["content-type"]?.includes("html")) continue;
    const kind = new URL(next).pathname.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "one");
    if (!kinds.has(kind)) kinds.set(kind, next);
    for (const link of await links(page)) {
      const shape = link.pathname.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "one");
      if (link.search || seen.has(shape)) continue;
      seen.add(shape);
      open.push(link.origin + link.pathname);
    }
  }
  const providers = command("provider", "list");
  const failing = providers.find((provider) => provider.name.startsWith("Broken")).id;
  const event = command("event", "list", "--provider", failing, "--state", "pending", "--limit", "1")[0];
  const user = command("user", "list", "--company", "acme.example")[5].id;
  kinds.set("/providers/failing", `${health}/providers/${failing}`);
  if (event) kinds.set("/events/failing", `${health}/events/${event.id}`);
  kinds.set("/users/one", `${health}/users/${user}`);
  kinds.set("/search", `${health}/search?q=acme`);
  kinds.set("/audit/all", `${health}/audit?recognitions=true`);
  return [...kinds].map(([kind, link]) => [`console-${slug(kind)}`, link]);
}

/** Words to search for in the documentation, each with a pattern of the best result, or null if there is none. */
const SEARCHES = [
  ["create user", /Create a user/], ["kudos", /recognition/i], ["companies", /compan(y|ies)/i], ["SSO", /SAML/],
  ["getUser", /Fetch a user/], ["long polling", /event/i], ["pagination", /paging/], ["/v1/recognitions", /recognition/i],
  ["idempotency", /idempotency/i], ["cognition", null], ["zzz", null],
];

/** Searches the documentation. Returns the faults. */
async function checkSearch(page, api) {
  const faults = [];
  for (const [query, expected] of SEARCHES) {
    await page.goto(`${api}/docs?q=${encodeURIComponent(query)}`);
    await page.waitForFunction('document.getElementById("results").childElementCount > 0', { timeout: 10_000 });
    const count = await page.$eval("#results p", (line) => line.textContent);
    const best = await page.$$eval("#results a", (all) => all[0]?.textContent ?? null);
    const isExpected = expected === null ? best === null && count === "No results" : expected.test(best);
    if (!isExpected) faults.push(`a search for ${query} finds ${best} (${count})`);
  }
  return faults;
}

/** Takes a screenshot. Returns the violations that axe finds, and whether the page is wider than the window. */
async function check(page, name, link, width, scheme) {
  await page.setViewport({ width, height: 900 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  await page.goto(link);
  await page.screenshot({ path: join(OUTPUT, `${name}-${width}-${scheme}.png`), fullPage: true });
  await page.evaluate(AXE);
  const { passes, violations } = await page.evaluate("axe.run()");
  if (passes.length === 0) throw new Error(`axe checked nothing on ${name}`);
  const faults = violations.map((found) => `${found.id}: ${found.nodes.map((node) => node.html.slice(0, 120)).slice(0, 3).join(" | ")}`);
  const wide = await page.evaluate("document.documentElement.scrollWidth");
  return wide > width ? [...faults, `is ${wide} wide`] : faults;
}

async function main() {
  mkdirSync(OUTPUT, { recursive: true });
  const receivers = await Promise.all([
    startReceiver(200, ""), startReceiver(502, "<html><h1>502 Bad Gateway</h1></html>"),
  ]);
  const { child, api, health } = await startService();
  const browser = await puppeteer.launch({
    executablePath: CHROMIUM, acceptInsecureCerts: true, args: ["--no-sandbox", "--disable-dev-shm-usage"],
  });
  const faults = [];
  try {
    console.log("filling the database");
    await fill(api, receivers);
    const page = await browser.newPage();
    await page.setBypassCSP(true);
    await waitFor(async () => {
      await page.goto(`${health}/`);
      return (await page.content()).includes("Broken Gateway Ltd is failing");
    });
    const pages = [...(await findDocumentation(page, api)), ...(await findConsole(page, health))];
    console.log(`${pages.length} pages`);
    faults.push(...(await checkSearch(page, api)));
    for (const [width, scheme] of VIEWS) {
      for (const [name, link] of pages) {
        const found = await check(page, name, link, width, scheme);
        faults.push(...found.map((fault) => `${name} at ${width}, ${scheme}: ${fault}`));
      }
    }
  } finally {
    await browser.close();
    child.removeAllListeners("exit");
    child.kill();
    await new Promise((resolve) => child.on("exit", resolve));
    receivers.forEach((server) => server.close());
    rmSync(data, { recursive: true });
  }
  faults.forEach((fault) => console.log(fault));
  console.log(`${faults.length} faults; screenshots in ${OUTPUT}`);
  process.exit(faults.length > 0 ? 1 : 0);
}

await main();
