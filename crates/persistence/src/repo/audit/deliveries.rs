//! Checks of the outbox: deliveries against their events, their attempts and the retry schedule.

use guerdon_domain::audit::AuditOptions;
use guerdon_domain::events::EventState;

use super::id_range::IdRange;
use super::{Check, id_as_text, timestamp_literal};
use crate::rows::DbTimestamp;
use crate::rows::conditions::PENDING;

/// Checks that a waiting notification has a time for its next attempt, and that other notifications have neither that
/// time nor a lease.
pub(super) fn notification_check() -> Check {
    (
        "notification",
        format!(
            "SELECT 'notification ' || {} || ' is in state ' || n.state || ', which contradicts its due time or lease' AS detail \
             FROM notifications AS n WHERE (n.{PENDING}) <> (n.next_attempt_at IS NOT NULL) \
             OR (NOT n.{PENDING} AND n.lease_id IS NOT NULL)",
            id_as_text("n.id")
        ),
    )
}

/// Checks that every event has a delivery and every delivery an event, and that a pending delivery has a time for its
/// next attempt.
pub(super) fn delivery_checks(range: &IdRange) -> Vec<Check> {
    let event = id_as_text("d.event_id");
    let deliveries = range.contains("d.event_id");
    vec![
        (
            "delivery of an event",
            format!(
                "SELECT 'event ' || {} || ' has no delivery' AS detail FROM events AS e \
                 LEFT JOIN deliveries AS d ON d.event_id = e.id AND d.company_id = e.company_id \
                 AND d.provider_id = e.provider_id WHERE d.event_id IS NULL AND {}",
                id_as_text("e.id"),
                range.contains("e.id")
            ),
        ),
        (
            "delivery of an event",
            format!(
                "SELECT 'delivery ' || {event} || ' has no event' AS detail FROM deliveries AS d \
                 LEFT JOIN events AS e ON e.id = d.event_id WHERE e.id IS NULL AND {deliveries}"
            ),
        ),
        (
            "state of a delivery",
            format!(
                "SELECT 'delivery ' || {event} || ' is in state ' || d.state || ', which contradicts its due time or lease' \
                 AS detail FROM deliveries AS d WHERE ((d.{PENDING}) <> (d.next_attempt_at IS NOT NULL) \
                 OR (NOT d.{PENDING} AND d.lease_id IS NOT NULL)) AND {deliveries}"
            ),
        ),
    ]
}

/// Checks that a delivery agrees with its attempts, and that its next attempt is within the retry schedule.
pub(super) fn attempt_checks(range: &IdRange, options: &AuditOptions<'_>) -> Vec<Check> {
    let event = id_as_text("d.event_id");
    let deliveries = range.contains("d.event_id");
    let latest = timestamp_literal(DbTimestamp(options.now.saturating_add(options.next_attempt_wait_max)));
    vec![
        (
            "attempts",
            format!(
                "SELECT 'delivery ' || {event} || ' counts ' || d.attempts || ' attempts, but only ' || COUNT(t.id) \
                 || ' are stored' AS detail FROM deliveries AS d LEFT JOIN attempts AS t ON t.event_id = d.event_id \
                 WHERE {deliveries} GROUP BY d.event_id, d.attempts HAVING COUNT(t.id) < d.attempts"
            ),
        ),
        (
            "delivered by an attempt",
            format!(
                "SELECT 'delivery ' || {event} || ' is delivered, but no attempt has status 200' AS detail \
                 FROM deliveries AS d WHERE d.state = {} AND {deliveries} AND NOT EXISTS \
                 (SELECT 1 FROM attempts AS t WHERE t.event_id = d.event_id AND t.status = 200)",
                EventState::Delivered.code()
            ),
        ),
        (
            "next attempt of a delivery",
            format!(
                "SELECT 'delivery ' || {event} || ' waits longer than the retry schedule allows' AS detail \
                 FROM deliveries AS d WHERE d.{PENDING} AND d.next_attempt_at > {latest} AND {deliveries}"
            ),
        ),
    ]
}
