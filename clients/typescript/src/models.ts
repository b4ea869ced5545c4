/**
 * Objects in responses, with the names of the API. Fields that the service adds later may be present.
 *
 * Ids are UUIDs. Times are RFC 3339 in UTC with milliseconds, such as `2026-11-20T20:01:02.345Z`.
 */

export type EventState = "pending" | "delivered" | "exhausted" | "unaddressed";
export type SenderType = "user" | "company";
export type WalletType = "user_wallet" | "peer_wallet" | "manager_wallet";

/** A company in a list. */
export interface ListedCompany {
  id: string;
  domain: string;
  company_name: string;
  owner_id: string;
  owner_email: string;
  owner_name: string;
  created_at: string;
  updated_at: string;
}

/** A company after it was created or updated. */
export interface ChangedCompany extends ListedCompany {
  reserve_alert: number | null;
  reserve_bcc: string | null;
}

export interface Company extends ChangedCompany {
  /** The number of active users. */
  user_count: number;
  points_per_dollar: number;
}

/** Points at the present rate and at another rate. */
export interface RateChange {
  now: number;
  then: number;
}

/** What everyone would see at another rate. Wallets are sums over the active users. */
export interface RatePreview {
  points_per_dollar: RateChange;
  reserve: RateChange;
  user_wallet: RateChange;
  peer_wallet: RateChange;
  manager_wallet: RateChange;
}

/** The points that a company can send. */
export interface Reserve {
  /** The id of the company. */
  id: string;
  points: number;
  reserve_alert: number | null;
}

/** The single sign-on settings of a company. The certificate is never returned. */
export interface SamlSettings {
  idp_id: string | null;
  idp_url: string | null;
  sp_id: string;
  active: boolean;
}

/** A group of companies. */
export interface Corporation {
  id: string;
  name: string;
  created_at: string;
  updated_at: string;
}

/** Fields of a user that can be empty. */
export interface OptionalUserFields {
  department: string | null;
  title: string | null;
  supervisor_email: string | null;
  employee_id: string | null;
  /** As mm/dd. */
  birthday: string | null;
  /** ISO 3166-1, two or three letters. */
  country_code: string | null;
  /** As mm/dd/yyyy. */
  work_start_date: string | null;
  office_city: string | null;
  office_state: string | null;
  office_country: string | null;
  /** Names of groups, separated by commas. */
  groups: string | null;
  custom_field_1: string | null;
  custom_field_2: string | null;
  custom_field_3: string | null;
  custom_field_4: string | null;
  custom_field_5: string | null;
}

/** A user, active or deleted. */
export interface User extends OptionalUserFields {
  id: string;
  company_id: string;
  email: string;
  first_name: string;
  /** Empty for an owner who is named by a single word. */
  last_name: string;
  manager: boolean;
  company_admin: boolean;
  corporation_admin: boolean;
  created_at: string;
  updated_at: string;
  /** Null for an active user. */
  deleted_at: string | null;
}

export interface Wallet {
  type: WalletType;
  points: number;
  /** All points ever spent from it. */
  cumulative_points_spent: number;
}

/** The wallets of a user. */
export interface Balances {
  /** The id of the user. */
  id: string;
  wallets: Wallet[];
}

/** A movement of points into (credit) or out of (debit) a wallet or a reserve. */
export interface Transaction {
  type: "credit" | "debit";
  /** At the rate of that time. */
  points: number;
  /** Such as `recognition` or `redemption`. */
  reason: string;
  created_at: string;
}

/** What a recognition is sent for. */
export interface Occasion {
  id: string;
  /** Null for a global occasion. */
  company_id: string | null;
  name: string;
  title: string;
  default_message: string;
  enabled: boolean;
  visible: boolean;
  /** Whether it belongs to the service, not to a company. Read-only. */
  global: boolean;
  created_at: string;
  updated_at: string;
}

/** A recognition that one user received. */
export interface Recognition {
  id: string;
  receiver_id: string;
  sender_type: SenderType;
  sender_id: string;
  message: string;
  points: number;
  /** Whether it is public. */
  share: boolean;
  occasion_id: string;
  company_id: string;
  created_at: string;
}

/** What sending a recognition would do. */
export interface DryRun {
  /** What would pay: `reserve`, or a wallet of the sender. */
  wallet: WalletType | "reserve";
  /** The total cost in points. */
  points: number;
  /** The total cost in dollars with two decimals. */
  dollars: string;
  receivers: number;
  /** The points of the payer afterwards. */
  balance_after: number;
}

/** An attempt to deliver an event. */
export interface Attempt {
  /** Counted from 1. */
  number: number;
  started_at: string;
  /** The HTTP status of the receiver's response, if there was one. */
  status: number | null;
  /** Why the attempt failed. */
  cause: string | null;
  duration_ms: number;
}

/** An event and the state of its delivery. */
export interface Event {
  id: string;
  /** Such as `redemption.created`. */
  type: string;
  state: EventState;
  /** The number of attempts to deliver it. */
  attempts: number;
  created_at: string;
  next_attempt_at: string | null;
  /** The body of its deliveries. */
  body: WebhookEvent;
  /** The attempts, oldest first. Only if the event was fetched by its id. */
  attempts_log?: Attempt[];
}

/** Some events, oldest first. */
export interface EventPage {
  events: Event[];
  /** The cursor after these events. */
  next: string;
}

/** The data of `recognition.received` and `recognition.updated`. */
export interface RecognitionData {
  id: string;
  sender_type: SenderType;
  /** The user or the company that sent it. */
  sender_id: string;
  sender_name: string;
  /** Null if a company sent it. */
  sender_email: string | null;
  receiver_id: string;
  receiver_name: string;
  receiver_email: string;
  occasion_id: string;
  occasion_name: string;
  points: number;
  company_id: string;
  /** Null if the recognition is private. */
  message: string | null;
  created_at: string;
  share: boolean;
}

/** The data of `redemption.created`. */
export interface RedemptionData {
  /** The user who spent the points. */
  user_id: string;
  user_email: string;
  points: number;
  /** All points that the user ever spent from this wallet, these included. */
  cumulative_points_spent: number;
  company_id: string;
}

/** A webhook event, discriminated by `type`. Respond with 200 to unknown types: later versions may add types. */
export type WebhookEvent =
  | { type: "recognition.received" | "recognition.updated"; version: string; data: RecognitionData }
  | { type: "redemption.created"; version: string; data: RedemptionData };
