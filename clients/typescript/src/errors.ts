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

/** No attempt got a response. A POST may have taken effect: retry it with the same idempotency key. */
export class ConnectionError extends GuerdonError {
  override name = "ConnectionError";
}

/** The response is not one of this API. */
export class InvalidResponseError extends GuerdonError {
  override name = "InvalidResponseError";
}
