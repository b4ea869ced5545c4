//! What each field and parameter means, once for all requests and answers that have it, with an example.

/// A field's meaning.
pub(super) struct Word {
    /// The object that it is of, where the name alone does not say it.
    pub(super) of: Option<&'static str>,
    pub(super) name: &'static str,
    /// In Markdown.
    pub(super) meaning: &'static str,
    /// As JSON.
    pub(super) example: &'static str,
}

const fn word(name: &'static str, meaning: &'static str, example: &'static str) -> Word {
    Word { of: None, name, meaning, example }
}

const fn own(of: &'static str, name: &'static str, meaning: &'static str, example: &'static str) -> Word {
    Word { of: Some(of), name, meaning, example }
}

/// The meaning of a field of an object: the object's own word before the general one. A `ListedCompany` is a `Company`.
pub(super) fn of(object: &str, name: &str) -> Option<&'static Word> {
    let own = WORDS.iter().find(|it| it.name == name && it.of.is_some_and(|of| object.ends_with(of)));
    own.or_else(|| WORDS.iter().find(|it| it.of.is_none() && it.name == name))
}

pub(super) const WORDS: &[Word] = &[
    // Of many
    word("name", "The name that people see.", r#""Acme Group""#),
    word("created_at", "When it was made, in UTC with milliseconds.", r#""2026-11-20T20:01:02.345Z""#),
    word(
        "updated_at",
        "When it was last changed, in UTC with milliseconds.",
        r#""2026-11-20T20:01:02.345Z""#,
    ),
    word("company_id", "The company that it belongs to.", r#""019a9c3e-5d70-7c41-9d0c-6a1c0f7e2b11""#),
    word("points", "How many points, at today's rate.", "500"),
    // Lists
    word("page", "Which page, counted from 1.", "1"),
    word(
        "per_page",
        "How many items a page has; more than the list's maximum is served at the maximum.",
        "100",
    ),
    word("total_count", "How many items there are.", "1"),
    word("result_count", "How many items are on this page.", "1"),
    word("results", "The items of the page.", "[]"),
    // Companies
    own("Company", "id", "The company's id.", r#""019a9c3e-5d70-7c41-9d0c-6a1c0f7e2b11""#),
    own("Corporation", "id", "The corporation's id.", r#""019a9c3e-5d6f-7b02-b6a3-2c4d5e6f7a33""#),
    word("domain", "The company's domain name, unique over the whole service.", r#""acme.example""#),
    word("company_name", "The name that people see.", r#""Acme Robots""#),
    word("owner_id", "The user who owns the company.", r#""019a9c3e-5d71-7a10-8a52-1f0e9d3c4b22""#),
    word("owner_email", "The email of the user who owns the company.", r#""ada@acme.example""#),
    word("owner_name", "First and last name of the owner, split at the last space.", r#""Ada Lovelace""#),
    word(
        "logo_url",
        "The company's picture of 320 by 80 pixels; never fetched, and not shown in answers.",
        r#""https://acme.example/logo.png""#,
    ),
    word(
        "corporation_id",
        "The corporation that the company belongs to, for ever.",
        r#""019a9c3e-5d6f-7b02-b6a3-2c4d5e6f7a33""#,
    ),
    word("points_per_dollar", "How many points a dollar makes; 50 unless given.", "50"),
    word(
        "reserve_alert",
        "When the reserve falls below so many points, the company's admins are told.",
        "1000",
    ),
    word(
        "reserve_bcc",
        "One more address that is told when the reserve is low.",
        r#""finance@acme.example""#,
    ),
    word("user_count", "How many active users the company has.", "12"),
    own("CompanyBalances", "id", "The company.", r#""019a9c3e-5d70-7c41-9d0c-6a1c0f7e2b11""#),
    own("CompanyBalances", "users", "Its active users, oldest first.", "[]"),
    own("UserBalances", "id", "The user.", r#""019a9c3e-5d71-7a10-8a52-1f0e9d3c4b22""#),
    // Single sign-on
    word("idp_id", "The entity id of the identity provider.", r#""https://idp.acme.example/metadata""#),
    word(
        "idp_url",
        "Where the identity provider signs people in; never fetched.",
        r#""https://idp.acme.example/sso""#,
    ),
    word(
        "idp_certificate",
        "The identity provider's X.509 certificate in PEM, at most 64 KiB; never shown.",
        r#""-----BEGIN CERTIFICATE-----\nMIIB...\n-----END CERTIFICATE-----\n""#,
    ),
    word(
        "sp_id",
        "The audience that must stand in the assertions.",
        r#""https://localhost:8443/saml/acme.example""#,
    ),
    word("active", "Whether people sign in this way.", "false"),
    // Reserve and rate
    own("Reserve", "id", "The company.", r#""019a9c3e-5d70-7c41-9d0c-6a1c0f7e2b11""#),
    own("ReserveTransactions", "id", "The company.", r#""019a9c3e-5d70-7c41-9d0c-6a1c0f7e2b11""#),
    own("ReserveTransactions", "type", "The reserve.", r#""reserve""#),
    word("reserve", "What the reserve shows.", r#"{"now": 1000, "then": 1200}"#),
    word(
        "user_wallet",
        "What the user wallets of the active users show in all.",
        r#"{"now": 500, "then": 600}"#,
    ),
    word(
        "peer_wallet",
        "What the peer wallets of the active users show in all.",
        r#"{"now": 300, "then": 360}"#,
    ),
    word(
        "manager_wallet",
        "What the manager wallets of the active users show in all.",
        r#"{"now": 200, "then": 240}"#,
    ),
    word("now", "Today.", "50"),
    word("then", "At the other rate.", "60"),
    // Users
    own("User", "id", "The user's id.", r#""019a9c3e-5d71-7a10-8a52-1f0e9d3c4b22""#),
    own("User", "company_id", "The company, for ever.", r#""019a9c3e-5d70-7c41-9d0c-6a1c0f7e2b11""#),
    word(
        "email",
        "The user's email, unique among the company's active users; compared without case.",
        r#""grace@acme.example""#,
    ),
    word("first_name", "The first name.", r#""Grace""#),
    word("last_name", "The last name; empty for an owner who is named by a single word.", r#""Hopper""#),
    word("department", "The department.", r#""Compilers""#),
    word("title", "The profession's title.", r#""Rear admiral""#),
    word("supervisor_email", "The supervisor's email, who need not be a user yet.", r#""ada@acme.example""#),
    word("employee_id", "The company's own number for the person.", r#""4711""#),
    word("birthday", "Day of birth without the year, as mm/dd.", r#""12/09""#),
    word("country_code", "Country code of ISO 3166-1, in two or three letters, kept upper-case.", r#""US""#),
    word("work_start_date", "The first day of work, as mm/dd/yyyy.", r#""07/01/1949""#),
    word("office_city", "The office's city.", r#""Arlington""#),
    word("office_state", "The office's state.", r#""Virginia""#),
    word("office_country", "The office's country.", r#""United States""#),
    word("manager", "Whether the user may send from a manager wallet.", "true"),
    word("company_admin", "Whether the user administers the company.", "false"),
    word(
        "corporation_admin",
        "Whether the user administers the company's corporation; kept false outside of one.",
        "false",
    ),
    word("groups", "Names of groups, separated by commas.", r#""Engineering,Compilers""#),
    word("custom_field_1", "Free text of the company's own.", r#""Building 7""#),
    word("custom_field_2", "Free text of the company's own.", "null"),
    word("custom_field_3", "Free text of the company's own.", "null"),
    word("custom_field_4", "Free text of the company's own.", "null"),
    word("custom_field_5", "Free text of the company's own.", "null"),
    word("deleted_at", "When the user was deleted; null for an active one.", "null"),
    word(
        "updated_since",
        "Only those that were changed at this moment or later.",
        r#""2026-11-20T20:01:02.345Z""#,
    ),
    word("include_deleted", "Whether deleted users are listed too.", "false"),
    // Occasions
    own("Occasion", "id", "The occasion's id.", r#""019a9c3e-5d73-7f55-8c6e-4b3c2d1e0f55""#),
    own("Occasion", "name", "The name that people see.", r#""Thank you""#),
    own("Occasion", "title", "For the subject of a mail.", r#""You were thanked""#),
    own(
        "Occasion",
        "company_id",
        "The company whose occasion it is; null for a global one.",
        r#""019a9c3e-5d70-7c41-9d0c-6a1c0f7e2b11""#,
    ),
    word("default_message", "The message of recognitions that bring none.", r#""Thank you for your help.""#),
    word("enabled", "Whether it can be used.", "true"),
    word("visible", "Whether forms should show it.", "true"),
    word("global", "Whether the operator made it for all companies.", "false"),
    // Recognitions
    own("Recognition", "id", "The recognition's id.", r#""019a9c3e-5d75-7177-be60-6d5e4f3a2b77""#),
    own("RecognitionData", "id", "The recognition's id.", r#""019a9c3e-5d75-7177-be60-6d5e4f3a2b77""#),
    own("Recognition", "points", "How many points were sent.", "10"),
    word("recognitions", "One for each receiver, in the order of `receiver_ids`.", "[]"),
    word("receiver_id", "The user who received it.", r#""019a9c3e-5d72-7e44-9b7d-3a2b1c0d9e44""#),
    word(
        "receiver_ids",
        "The ids of 1 to 10,000 users, separated by commas; none twice, and not the sender's. Their number times the bytes of the message is at most 8 MiB.",
        r#""019a9c3e-5d72-7e44-9b7d-3a2b1c0d9e44""#,
    ),
    word("sender_type", "Who sends: a user, or the company itself.", r#""user""#),
    word("sender_id", "The id of the user or of the company.", r#""019a9c3e-5d71-7a10-8a52-1f0e9d3c4b22""#),
    word(
        "occasion_id",
        "What it is sent for: an occasion of the sender's company, or a global one.",
        r#""019a9c3e-5d73-7f55-8c6e-4b3c2d1e0f55""#,
    ),
    word(
        "points_per_receiver",
        "How many points each receiver gets, at today's rate: from 1 to what 5,000 dollars make.",
        "10",
    ),
    word("message", "What is said; the occasion's default where none is sent.", r#""You made my day.""#),
    word("share", "True is public, false is private; true unless given.", "true"),
    own("DryRun", "wallet", "Who would pay.", r#""peer_wallet""#),
    own("DryRun", "points", "What it would cost in all, in points.", "20"),
    word(
        "dollars",
        "What it would cost in all, in dollars, with half a cent rounded to the even one.",
        r#""0.40""#,
    ),
    word("receivers", "How many would receive it.", "2"),
    word("balance_after", "What the payer would show then.", "480"),
    // Wallets and transactions
    own("Balances", "id", "The user.", r#""019a9c3e-5d71-7a10-8a52-1f0e9d3c4b22""#),
    word(
        "wallets",
        "The user's wallets: `user_wallet`, `peer_wallet`, and `manager_wallet` for whoever is or was a manager.",
        "[]",
    ),
    own(
        "Wallet",
        "type",
        "What the wallet is for: earned points to spend, points to send to others, or a manager's points to send.",
        r#""peer_wallet""#,
    ),
    own("Wallet", "points", "What is in it, at today's rate.", "500"),
    word("cumulative_points_spent", "What was ever spent from it, at today's rate.", "40"),
    own("Transactions", "id", "The user.", r#""019a9c3e-5d71-7a10-8a52-1f0e9d3c4b22""#),
    own("Transactions", "type", "Which of the user's wallets.", r#""peer_wallet""#),
    word("transactions", "The movements, newest first.", "[]"),
    own("Transaction", "type", "`debit` out of the wallet, `credit` into it.", r#""credit""#),
    own("Transaction", "points", "How many points moved at that time; stays so for ever.", "10"),
    word("reason", "Why the points moved.", r#""recognition""#),
    // Events
    own(
        "Event",
        "id",
        "The event's id, the same in all its attempts and replays.",
        r#""019a9c3e-5d74-7066-ad5f-5c4d3e2f1a66""#,
    ),
    own("Event", "type", "What happened.", r#""recognition.received""#),
    own("Events", "type", "Only events of this kind.", r#""recognition.received""#),
    own(
        "Events",
        "since",
        "Where to begin where there is no `after`: with what was caused at this moment, or up to a minute before.",
        r#""2026-11-20T20:01:02.345Z""#,
    ),
    word("events", "The events, oldest first.", "[]"),
    word("next", "Where to go on: give it back as `after`.", r#""1f.019a9c3e5d747066ad5f5c4d3e2f1a66""#),
    word("after", "Where to go on: the `next` of the answer before; the beginning unless given.", r#""0""#),
    word("limit", "How many events at most, up to 100.", "100"),
    word(
        "state",
        "What became of the event: `pending` waits for its next attempt, `delivered` was confirmed, `exhausted` failed for the last time, `unaddressed` had no callback URL.",
        r#""delivered""#,
    ),
    word("since", "Only events that were caused at this moment or later.", r#""2026-11-20T20:01:02.345Z""#),
    word("attempts", "How many attempts there were.", "1"),
    word("next_attempt_at", "When the next attempt is due; null where none is.", "null"),
    word(
        "body",
        "The event as it is sent.",
        r#"{"type": "recognition.received", "version": "1.0", "data": {}}"#,
    ),
    word("attempts_log", "The attempts, oldest first.", "[]"),
    word("number", "Which attempt, counted from 1.", "1"),
    word("started_at", "When the attempt began.", r#""2026-11-20T20:01:02.345Z""#),
    own(
        "Attempt",
        "status",
        "The HTTP status that the receiver answered; null where it answered none.",
        "200",
    ),
    word("cause", "Why the attempt failed; null where it did not.", "null"),
    word("duration_ms", "How long the attempt took, in milliseconds.", "42"),
    word("replayed", "How many events are sent again; what is under way already does not count.", "1"),
    // Bodies of events
    word("version", "The version of the body's form.", r#""1.0""#),
    word("data", "What happened.", "{}"),
    word("sender_name", "The name of the user or company that sent it.", r#""Ada Lovelace""#),
    word("sender_email", "The sender's email; null for a company.", r#""ada@acme.example""#),
    word("receiver_name", "The receiver's first and last name.", r#""Grace Hopper""#),
    word("receiver_email", "The receiver's email.", r#""grace@acme.example""#),
    word("occasion_name", "The occasion's name.", r#""Thank you""#),
    own(
        "RecognitionData",
        "message",
        "What was said; null for a private recognition.",
        r#""You made my day.""#,
    ),
    own("RecognitionData", "points", "How many points were sent.", "10"),
    own("RedemptionData", "points", "How many points this redemption spent.", "20"),
    word("user_id", "The user who spent them.", r#""019a9c3e-5d72-7e44-9b7d-3a2b1c0d9e44""#),
    word("user_email", "The user's email.", r#""grace@acme.example""#),
    // Refusals
    word("error", "Why the request was refused.", r#"{"status": 404, "message": "company not found"}"#),
    own("Refusal", "status", "The HTTP status.", "404"),
    own(
        "Refusal",
        "message",
        "The reason, for people: a 400 names each field and what it must be.",
        r#""company not found""#,
    ),
    own("Problem", "type", "Always `about:blank`.", r#""about:blank""#),
    own("Problem", "title", "What the status means.", r#""Not Found""#),
    own("Problem", "status", "The HTTP status.", "404"),
    word(
        "detail",
        "The reason, for people: a 400 names each field and what it must be.",
        r#""company not found""#,
    ),
];
