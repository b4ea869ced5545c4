import { InvalidResponseError } from "./errors.js";
import type {
  Balances,
  ChangedCompany,
  Company,
  Corporation,
  DryRun,
  Event,
  EventPage,
  EventState,
  ListedCompany,
  Occasion,
  OptionalUserFields,
  RatePreview,
  Recognition,
  Reserve,
  SamlSettings,
  SenderType,
  Transaction,
  User,
  WalletType,
} from "./models.js";
import { type Query, Transport } from "./transport.js";

const PER_PAGE = 100;
const TIMEOUT_MS = 30_000;
/** How long a request of an endless feed waits for an event. The service waits at most 20 seconds. */
const WAIT_SECONDS = 20;
/** How long a response may take in addition to the time for which its request waits for an event. */
const WAIT_MARGIN_MS = 10_000;
/** The minimum interval between two requests of an endless feed if no event followed its cursor. */
const QUIET_INTERVAL_MS = 1_000;

export interface ClientOptions {
  /** The address of the service without `/v1`. */
  baseUrl: string;
  apiKey: string;
  apiSecret: string;
  /** Replaces the global `fetch`, for example to trust another certificate. */
  fetch?: typeof fetch;
  /** The time limit of an attempt; 30 seconds unless set. Requests that wait for events extend it if necessary. */
  timeoutMs?: number;
}

/** Options of a request that creates something. */
export interface RequestOptions {
  /** A retry with the same key returns the stored response; a random one unless set. */
  idempotencyKey?: string;
}

export interface NewCompany {
  domain: string;
  company_name: string;
  owner_email: string;
  owner_name: string;
  logo_url: string;
  corporation_id?: string | null;
  points_per_dollar?: number;
  reserve_alert?: number | null;
  reserve_bcc?: string | null;
}

/** An absent field keeps its value; null clears an optional one. The same is true of the other updates. */
export type CompanyUpdate = Partial<Omit<NewCompany, "corporation_id">>;

interface UserFlags {
  manager: boolean;
  company_admin: boolean;
  corporation_admin: boolean;
}

interface RequiredUserFields {
  email: string;
  first_name: string;
  last_name: string;
}

export type NewUser = { company_id: string } & RequiredUserFields & Partial<OptionalUserFields & UserFlags>;
export type UserUpdate = Partial<RequiredUserFields & OptionalUserFields & UserFlags>;

export interface UserFilter {
  email?: string;
  employee_id?: string;
  /** Only users changed at this time or later. */
  updated_since?: string;
  include_deleted?: boolean;
}

export interface NewOccasion {
  company_id: string;
  name: string;
  title: string;
  default_message: string;
  enabled?: boolean;
  visible?: boolean;
}

export type OccasionUpdate = Partial<Omit<NewOccasion, "company_id">>;

export interface SamlUpdate {
  idp_id?: string | null;
  idp_url?: string | null;
  /** In PEM. It is never returned. */
  idp_certificate?: string | null;
  active?: boolean;
}

export interface NewRecognition {
  occasion_id: string;
  sender_type: SenderType;
  sender_id: string;
  receiver_ids: readonly string[];
  points_per_receiver: number;
  /** Defaults to the occasion's default message. */
  message?: string;
  /** Whether the recognition is public. Default: true. */
  share?: boolean;
}

/** Filters for events. Default: all events. */
export interface EventQuery {
  /** Start after this cursor. */
  after?: string;
  /** Start with events at this time or later. Some may be up to a minute older. */
  since?: string;
  /** Such as `redemption.created`. */
  type?: string;
  state?: EventState;
  /** The number of events per page, up to 100. */
  limit?: number;
  /** The feed ends only after `wait` seconds (at most 20) without an event. */
  wait?: number;
}

/** The events of a provider, oldest first, fetched page by page up to the present, or without end. */
export class EventFeed implements AsyncIterableIterator<Event> {
  readonly #transport: Transport;
  readonly #query: EventQuery;
  #previous: string | undefined;
  #next: string | undefined;
  #events: Event[] = [];
  readonly #isEndless: boolean;
  #hasEnded = false;

  constructor(transport: Transport, { after, ...query }: EventQuery, isEndless = false) {
    this.#transport = transport;
    this.#isEndless = isEndless;
    this.#query = query;
    this.#next = after;
  }

  /**
   * Where another feed continues without missing an event: store it after the events have been handled. That feed may
   * return events of the current page again. Undefined if it has to start where this one did.
   */
  get cursor(): string | undefined {
    return this.#events.length > 0 ? this.#previous : this.#next;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Event, undefined>> {
    for (;;) {
      const event = this.#events.shift();
      if (event !== undefined) return { value: event, done: false };
      if (this.#hasEnded) return { value: undefined, done: true };
      await this.#fetch();
    }
  }

  async #fetch(): Promise<void> {
    const { since, ...filters } = this.#query;
    const start = this.#next === undefined ? { since } : { after: this.#next };
    const timeoutMs = filters.wait ? 1_000 * filters.wait + WAIT_MARGIN_MS : 0;
    const options = { query: { ...filters, ...start }, timeoutMs };
    const startedAt = performance.now();
    const page = (await this.#transport.request("GET", "/events", options)) as EventPage;
    const elapsedMs = performance.now() - startedAt;
    if (!Array.isArray(page?.events)) throw new InvalidResponseError("the response has no events");
    // With a filter, a page can be empty before the end: the cursor advances anyway.
    this.#hasEnded = !this.#isEndless && page.events.length === 0 && page.next === this.#next;
    this.#previous = this.#next;
    this.#next = page.next;
    this.#events = page.events;
    if (this.#isEndless && page.next === this.#previous) {
      // Without a wait, or when it stops, the service responds at once although there is no event.
      await this.#transport.sleep(Math.max(0, QUIET_INTERVAL_MS - elapsedMs));
    }
  }
}

/**
 * A client of one service with the API key of one provider.
 *
 * Requests that fail with status 429, 500, 502, 503 or 504 or without a response are retried, up to six attempts. A POST
 * keeps its idempotency key, so it takes effect once. Lists are async iterators that fetch pages as they are needed.
 */
export class Client {
  readonly #transport: Transport;

  /** Throws a TypeError if `baseUrl` is not https, except on this machine. */
  constructor({ baseUrl, apiKey, apiSecret, fetch: send, timeoutMs = TIMEOUT_MS }: ClientOptions) {
    const { protocol, hostname } = new URL(baseUrl);
    if (protocol === "http:" && !/^(localhost|127\.[\d.]+|\[::1\])$/.test(hostname)) {
      throw new TypeError("baseUrl must be https: the credentials would be sent unencrypted");
    }
    const sleep = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));
    const options = { baseUrl, apiKey, apiSecret, timeoutMs, sleep };
    this.#transport = new Transport({ ...options, fetch: send ?? ((input, init) => fetch(input, init)) });
  }

  // Companies

  /** Creates a company and its owner. */
  createCompany(company: NewCompany, options?: RequestOptions): Promise<ChangedCompany> {
    return this.#post("/companies", company, options);
  }

  /** Lists the companies of the provider, oldest first. */
  companies(filter: { corporation_id?: string } = {}): AsyncGenerator<ListedCompany, void> {
    return this.#list("/companies", { ...filter });
  }

  company(id: string): Promise<Company> {
    return this.#get(`/companies/${segment(id)}`);
  }

  companyByDomain(domain: string): Promise<Company> {
    return this.#get(`/companies/${segment(domain)}`);
  }

  updateCompany(id: string, changes: CompanyUpdate): Promise<ChangedCompany> {
    return this.#put(`/companies/${segment(id)}`, changes);
  }

  /** Computes what everyone would see at another rate. Nothing changes. */
  previewRate(id: string, pointsPerDollar: number): Promise<RatePreview> {
    return this.#postWithoutEffect(`/companies/${segment(id)}/rate_preview`, { points_per_dollar: pointsPerDollar });
  }

  /** Lists the active users of a company, oldest first, and deleted ones if asked for. */
  companyUsers(id: string, filter: UserFilter = {}): AsyncGenerator<User, void> {
    return this.#list(`/companies/${segment(id)}/users`, { ...filter });
  }

  /** Lists the wallets of the active users of a company, oldest user first. */
  companyBalances(id: string): AsyncGenerator<Balances, void> {
    return this.#list(`/companies/${segment(id)}/users/balances`, {}, "users");
  }

  /** Lists the occasions that a company can use. */
  companyOccasions(id: string): AsyncGenerator<Occasion, void> {
    return this.#list(`/companies/${segment(id)}/occasions`);
  }

  /** Fetches the points that a company can send. */
  reserve(id: string): Promise<Reserve> {
    return this.#get(`/companies/${segment(id)}/reserve`);
  }

  /** Lists the movements of the reserve of a company, newest first. */
  reserveTransactions(id: string): AsyncGenerator<Transaction, void> {
    return this.#list(`/companies/${segment(id)}/reserve/transactions`, {}, "transactions");
  }

  samlSettings(id: string): Promise<SamlSettings> {
    return this.#get(`/companies/${segment(id)}/saml`);
  }

  updateSamlSettings(id: string, changes: SamlUpdate): Promise<SamlSettings> {
    return this.#put(`/companies/${segment(id)}/saml`, changes);
  }

  // Corporations

  createCorporation(name: string, options?: RequestOptions): Promise<Corporation> {
    return this.#post("/corporations", { name }, options);
  }

  /** Lists the corporations of the provider, oldest first. */
  corporations(): AsyncGenerator<Corporation, void> {
    return this.#list("/corporations");
  }

  corporation(id: string): Promise<Corporation> {
    return this.#get(`/corporations/${segment(id)}`);
  }

  updateCorporation(id: string, changes: { name: string }): Promise<Corporation> {
    return this.#put(`/corporations/${segment(id)}`, changes);
  }

  /** Lists the companies of a corporation, oldest first. */
  corporationCompanies(id: string): AsyncGenerator<ListedCompany, void> {
    return this.#list(`/corporations/${segment(id)}/companies`);
  }

  // Users

  createUser(user: NewUser, options?: RequestOptions): Promise<User> {
    return this.#post("/users", user, options);
  }

  /** Fetches a user, who may be deleted. */
  user(id: string): Promise<User> {
    return this.#get(`/users/${segment(id)}`);
  }

  updateUser(id: string, changes: UserUpdate): Promise<User> {
    return this.#put(`/users/${segment(id)}`, changes);
  }

  /** Deletes a user. The points of the user return to the reserve of the company. */
  async deleteUser(id: string): Promise<void> {
    await this.#transport.request("DELETE", `/users/${segment(id)}`);
  }

  /** Fetches the wallets of a user. */
  balances(userId: string): Promise<Balances> {
    return this.#get(`/users/${segment(userId)}/balances`);
  }

  /** Lists the movements of a wallet, newest first. */
  transactions(userId: string, wallet: WalletType): AsyncGenerator<Transaction, void> {
    return this.#list(`/users/${segment(userId)}/transactions`, { type: wallet }, "transactions");
  }

  /** Lists the recognitions that a user received, newest first. */
  recognitionsReceived(userId: string): AsyncGenerator<Recognition, void> {
    return this.#list(`/users/${segment(userId)}/recognitions_received`);
  }

  /** Lists the recognitions that a user sent, newest first. */
  recognitionsSent(userId: string): AsyncGenerator<Recognition, void> {
    return this.#list(`/users/${segment(userId)}/recognitions_sent`);
  }

  // Occasions

  createOccasion(occasion: NewOccasion, options?: RequestOptions): Promise<Occasion> {
    return this.#post("/occasions", occasion, options);
  }

  occasion(id: string): Promise<Occasion> {
    return this.#get(`/occasions/${segment(id)}`);
  }

  /** Changes an occasion; a global one cannot be changed. */
  updateOccasion(id: string, changes: OccasionUpdate): Promise<Occasion> {
    return this.#put(`/occasions/${segment(id)}`, changes);
  }

  /** Deletes an occasion; a global one cannot be deleted. */
  async deleteOccasion(id: string): Promise<void> {
    await this.#transport.request("DELETE", `/occasions/${segment(id)}`);
  }

  // Recognitions

  /** Sends a recognition to each receiver, or to none if one of them is refused. Returns one per receiver, in their order. */
  async sendRecognition(recognition: NewRecognition, options?: RequestOptions): Promise<Recognition[]> {
    const read = (sent: unknown) => member(object<{ recognitions: Recognition[] }>(sent), "recognitions");
    return this.#transport.post("/recognitions", joined(recognition), read, options?.idempotencyKey);
  }

  /** Fetches a recognition. */
  recognition(id: string): Promise<Recognition> {
    return this.#get(`/recognitions/${segment(id)}`);
  }

  /** Checks whether a recognition could be sent, and computes its cost. Nothing changes. */
  dryRunRecognition(recognition: NewRecognition): Promise<DryRun> {
    return this.#postWithoutEffect("/recognitions/dry_run", joined(recognition));
  }

  // Events

  /** Reads the events up to the present, oldest first. */
  events(query: EventQuery = {}): EventFeed {
    return new EventFeed(this.#transport, query);
  }

  /**
   * Reads the events up to the present, and then each new event as soon as it is created. The feed does not end; each of
   * its requests waits up to `wait` seconds for an event (default: 20).
   */
  followEvents(query: Omit<EventQuery, "limit"> = {}): EventFeed {
    return new EventFeed(this.#transport, { ...query, wait: query.wait ?? WAIT_SECONDS }, true);
  }

  /** Fetches an event with its attempts. */
  event(id: string): Promise<Event> {
    return this.#get(`/events/${segment(id)}`);
  }

  /** Sends an event again. Returns 0 if it is being delivered already. */
  async replayEvent(id: string, { idempotencyKey }: RequestOptions = {}): Promise<number> {
    return this.#transport.post(`/events/${segment(id)}/replay`, {}, replayed, idempotencyKey);
  }

  /** Sends events again. At least one filter is required, and both for delivered events. Returns how many. */
  async replayEvents(
    filter: { since?: string; state?: EventState },
    { idempotencyKey }: RequestOptions = {},
  ): Promise<number> {
    return this.#transport.post("/events/replay", filter, replayed, idempotencyKey);
  }

  async #get<T>(path: string): Promise<T> {
    return object(await this.#transport.request("GET", path));
  }

  async #post<T>(path: string, body: object, { idempotencyKey }: RequestOptions = {}): Promise<T> {
    return this.#transport.post(path, body, object<T>, idempotencyKey);
  }

  /** Sends a POST that changes nothing, and therefore needs no idempotency key. */
  async #postWithoutEffect<T>(path: string, body: object): Promise<T> {
    return object(await this.#transport.request("POST", path, { body }));
  }

  async #put<T>(path: string, body: object): Promise<T> {
    return object(await this.#transport.request("PUT", path, { body }));
  }

  async *#list<T>(path: string, filters: Query = {}, items = "results"): AsyncGenerator<T, void> {
    for (let page = 1; ; page += 1) {
      const query = { ...filters, page, per_page: PER_PAGE };
      const body = object<Record<string, unknown>>(await this.#transport.request("GET", path, { query }));
      const entries = body[items];
      if (!Array.isArray(entries)) throw new InvalidResponseError(`the response has no ${items}`);
      yield* entries as T[];
      const total = body["total_count"];
      const isLast = typeof total === "number" ? page * PER_PAGE >= total : entries.length < PER_PAGE;
      if (isLast || entries.length === 0) return;
    }
  }
}

function segment(value: string): string {
  return encodeURIComponent(value);
}

function joined({ receiver_ids, ...recognition }: NewRecognition): object {
  return { ...recognition, receiver_ids: receiver_ids.join(",") };
}

function object<T>(body: unknown): T {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw new InvalidResponseError("the response is not an object");
  }
  return body as T;
}

function replayed(body: unknown): number {
  return member(object<{ replayed: number }>(body), "replayed");
}

function member<T, K extends keyof T & string>(body: T, name: K): T[K] {
  if (body[name] === undefined) throw new InvalidResponseError(`the response has no ${name}`);
  return body[name];
}
