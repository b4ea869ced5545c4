import {
  ApiError,
  ConnectionError,
  type FieldError,
  GuerdonError,
  InvalidResponseError,
  OutcomeUnknownError,
} from "./errors.js";

/** Errors are problem details (RFC 9457), which have a code. */
const ACCEPT = "application/json, application/problem+json";
export const ATTEMPTS_MAX = 6;
const FIRST_WAIT_MS = 250;
/** The longest wait that a response can ask for by Retry-After. */
const RETRY_AFTER_MAX_MS = 60_000;
/** Statuses that may be others on the next attempt; 502 and 504 come from proxies. */
const TRANSIENT_STATUSES = new Set([429, 500, 502, 503, 504]);

export type Query = Record<string, string | number | boolean | undefined>;

export interface TransportOptions {
  baseUrl: string;
  apiKey: string;
  apiSecret: string;
  fetch: typeof fetch;
  timeoutMs: number;
  sleep: (milliseconds: number) => Promise<void>;
}

export interface Request {
  query?: Query;
  body?: object;
  idempotencyKey?: string | undefined;
  /** The time limit of an attempt if it is longer than that of the transport. */
  timeoutMs?: number;
}

/** Sends each request up to six times. A POST keeps its idempotency key, so that it takes effect once. */
export class Transport {
  readonly #options: TransportOptions;
  readonly #authorization: string;

  constructor(options: TransportOptions) {
    this.#options = { ...options, baseUrl: options.baseUrl.replace(/\/+$/, "") };
    const credentials = new TextEncoder().encode(`${options.apiKey}:${options.apiSecret}`);
    this.#authorization = `Basic ${btoa(String.fromCharCode(...credentials))}`;
  }

  sleep(milliseconds: number): Promise<void> {
    return this.#options.sleep(milliseconds);
  }

  /** Sends a POST and returns what `read` makes of the decoded body of its response. */
  async post<T>(
    path: string,
    body: object,
    read: (body: unknown) => T,
    idempotencyKey: string = crypto.randomUUID(),
  ): Promise<T> {
    try {
      return read(await this.request("POST", path, { body, idempotencyKey }));
    } catch (error) {
      if (error instanceof InvalidResponseError) throw new OutcomeUnknownError(idempotencyKey, error);
      throw error;
    }
  }

  /** Returns the decoded body of a successful response; undefined if it has none. */
  async request(method: string, path: string, options: Request = {}): Promise<unknown> {
    const { query = {}, body, idempotencyKey, timeoutMs = 0 } = options;
    const headers: Record<string, string> = { Authorization: this.#authorization, Accept: ACCEPT };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    if (idempotencyKey !== undefined) headers["Idempotency-Key"] = idempotencyKey;
    new Headers(headers); // throws a TypeError if a header has an invalid character
    const text = body === undefined ? null : JSON.stringify(body);
    const url = `${this.#options.baseUrl}/v1${path}${encode(query)}`;
    let waitMs = FIRST_WAIT_MS;
    let mayHaveTakenEffect = false;
    for (let attempt = 1; ; attempt += 1) {
      let failure: GuerdonError;
      let isTransient: boolean;
      let retryAfterMs = 0;
      try {
        const response = await this.#options.fetch(url, {
          method,
          headers,
          body: text,
          redirect: "manual", // the credentials are for this address
          signal: AbortSignal.timeout(Math.max(timeoutMs, this.#options.timeoutMs)),
        });
        const content = await response.text();
        if (response.ok) return decode(response.status, content);
        const refused = refusal(response, content);
        const { status, code } = refused;
        if (method === "DELETE" && mayHaveTakenEffect && code === "not_found") return undefined; // deleted by an earlier attempt
        if ((status === 400 || status === 404) && code !== "" && code !== "idempotency_key_reused") {
          // The service checks the key before it refuses a POST for its content: no earlier attempt was executed.
          // Without a code, a proxy responded. A reused key has been executed with another body.
          mayHaveTakenEffect = false;
        } else if (status >= 500 && code !== "maintenance") {
          mayHaveTakenEffect = true;
        }
        failure = refused;
        isTransient = TRANSIENT_STATUSES.has(status);
        retryAfterMs = 1_000 * (Number(response.headers.get("retry-after")) || 0);
      } catch (error) {
        if (error instanceof GuerdonError) throw error;
        failure = new ConnectionError(describe(error), { cause: error });
        isTransient = !isPermanent(error);
        if (!isUnsent(error)) mayHaveTakenEffect = true;
      }
      if (attempt === ATTEMPTS_MAX || !isTransient) {
        if (mayHaveTakenEffect && idempotencyKey !== undefined) throw new OutcomeUnknownError(idempotencyKey, failure);
        throw failure;
      }
      // A random part of the wait, so that many clients do not retry at the same time.
      await this.sleep(Math.max(Math.min(retryAfterMs, RETRY_AFTER_MAX_MS), waitMs * Math.random()));
      waitMs *= 2;
    }
  }
}

function encode(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, String(value));
  }
  return parameters.size === 0 ? "" : `?${parameters}`;
}

function decode(status: number, text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new InvalidResponseError(`the body of a ${status} is not JSON`, { cause: error });
  }
}

function refusal(response: Response, text: string): ApiError {
  const requestId = response.headers.get("x-request-id") ?? "-";
  const problem = parseProblem(text);
  if (problem !== undefined) return new ApiError(response.status, problem.detail, requestId, problem.code, problem.errors);
  return new ApiError(response.status, response.statusText || text.slice(0, 1_000), requestId);
}

/** Undefined if the body is not one of the service, but a page of a proxy. */
function parseProblem(text: string): { detail: string; code: string; errors: FieldError[] } | undefined {
  try {
    const problem = JSON.parse(text);
    return typeof problem?.code === "string" ? problem : undefined;
  } catch {
    return undefined;
  }
}

/** The innermost error of `fetch`, which wraps the error of the connection. */
function innermost(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? innermost(error.cause) : error;
}

function describe(error: unknown): string {
  const found = innermost(error);
  return found instanceof Error ? found.message || String((found as { code?: string }).code ?? found.name) : String(found);
}

function codeOf(error: unknown): string {
  return String((innermost(error) as { code?: unknown })?.code ?? "");
}

function isPermanent(error: unknown): boolean {
  return /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS|ERR_INVALID_URL|ERR_INVALID_ARG/.test(codeOf(error));
}

/** Whether the error occurred before the request was sent. */
function isUnsent(error: unknown): boolean {
  return isPermanent(error) || /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|CONNECT_TIMEOUT/.test(codeOf(error));
}
