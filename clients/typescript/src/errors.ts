/** Base class of the errors that this package throws. */
export class GuerdonError extends Error {
  override name = "GuerdonError";
}

/** An invalid field of the path, the query or the body. */
export interface FieldError {
  field: string;
  message: string;
}

/** The service refused the request, or kept refusing it until the last retry. */
export class ApiError extends GuerdonError {
  override name = "ApiError";

  constructor(
    /** The HTTP status. */
    readonly status: number,
    /** The reason, for people. */
    readonly reason: string,
    /** The id by which the operator finds the request in the log. */
    readonly requestId: string,
    /** The reason, for programs, such as `insufficient_funds`. Empty if a proxy responded. */
    readonly code = "",
    /** The invalid fields. */
    readonly errors: readonly FieldError[] = [],
  ) {
    super(`${status}: ${reason} (request ${requestId})`);
  }
}

/** The last attempt got no response. */
export class ConnectionError extends GuerdonError {
  override name = "ConnectionError";
}

/** The response is not one of this API. */
export class InvalidResponseError extends GuerdonError {
  override name = "InvalidResponseError";
}

/**
 * A POST may have taken effect: an attempt got no valid response or a server error, and no later response settled whether
 * it was executed. Retry the call with `idempotencyKey` within 72 hours, until it succeeds or is refused with
 * status 400 or 404; no other refusal settles the outcome. It takes effect at most once. The code
 * `idempotency_key_reused` means that a different request with this key took effect.
 */
export class OutcomeUnknownError extends GuerdonError {
  override name = "OutcomeUnknownError";

  constructor(
    /** The key of all attempts. */
    readonly idempotencyKey: string,
    /** The error of the last attempt. */
    readonly lastError: GuerdonError,
  ) {
    const advice = `retry the request with the idempotency key ${idempotencyKey}`;
    super(`the outcome is unknown (${lastError.message}); ${advice}`, { cause: lastError });
  }
}
