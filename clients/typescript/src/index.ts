/** Client of the Guerdon API. To receive webhooks, import `guerdon/webhooks`. */

export { Client, EventFeed } from "./client.js";
export type {
  ClientOptions,
  CompanyUpdate,
  EventQuery,
  NewCompany,
  NewOccasion,
  NewRecognition,
  NewUser,
  OccasionUpdate,
  RequestOptions,
  SamlUpdate,
  UserFilter,
  UserUpdate,
} from "./client.js";
export type { FieldError } from "./errors.js";
export { ApiError, ConnectionError, GuerdonError, InvalidResponseError, OutcomeUnknownError } from "./errors.js";
export type * from "./models.js";
