//! The names of the settings.

/// Every key, in the order in which `config show` prints them.
pub(super) const SETTING_KEYS: [&str; 36] = [
    "data_dir",
    "cell",
    "database.url",
    "database.migrate",
    "http.listen",
    "http.tls.mode",
    "http.tls.certificate",
    "http.tls.private_key",
    "http.trusted_proxies",
    "http.retired_versions",
    "http.sunsets",
    "http.max_connections",
    "http.max_connections_per_address",
    "http.keep_alive_seconds",
    "http.drain_seconds",
    "operator.listen",
    "service_url",
    "rate_limit.requests_per_second",
    "rate_limit.burst",
    "rate_limit.failed_logins_per_minute",
    "webhooks.allow_private_networks",
    "webhooks.allow_http",
    "webhooks.time_scale",
    "webhooks.extra_roots",
    "mail.smtp_url",
    "mail.from",
    "mail.extra_roots",
    "retention.events_days",
    "retention.mails_days",
    "retention.idempotency_hours",
    "verify.daily_at",
    "master_key",
    "master_key_file",
    "log.level",
    "log.format",
    "log.requests",
];

/// A variable for tests, which is read only from the environment and is not a setting.
pub(super) const ALLOW_UNSAFE_POSTGRES: &str = "allow_unsafe_postgres";

/// The keys whose values are lists. In the environment, the items are separated by commas.
const LIST_KEYS: [&str; 3] = ["http.trusted_proxies", "http.retired_versions", "http.sunsets"];

/// Returns whether this is the name of a setting.
pub(super) fn is_known(key: &str) -> bool {
    SETTING_KEYS.contains(&key)
}

/// Returns whether this is the name of a section.
pub(super) fn is_section(key: &str) -> bool {
    SETTING_KEYS.iter().any(|known| known.strip_prefix(key).is_some_and(|rest| rest.starts_with('.')))
}

/// Returns whether the value of this key is a list.
pub(super) fn is_list(key: &str) -> bool {
    LIST_KEYS.contains(&key)
}
