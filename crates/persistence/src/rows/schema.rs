//! The tables, as the migrations of both databases create them.

use super::stored_columns::{StoredColumn, StoredType};

/// One `table!` for each table, with the SQL types of both databases in scope, and one list of all tables.
macro_rules! tables {
    ($($name:ident ($($key:ident),+) { $($column:ident -> $type:ty),+ $(,)? })+) => {$(
        diesel::table! {
            use diesel::sql_types::*;
            use crate::rows::types::*;
            $name ($($key),+) { $($column -> $type,)+ }
        }
    )+

        /// The names and the columns of all tables.
        pub(crate) static TABLES: &[(&str, &[StoredColumn])] = {
            use diesel::sql_types::*;
            use crate::rows::types::*;
            &[$((
                stringify!($name),
                &[$(StoredColumn {
                    name: stringify!($column),
                    kind: <$type as StoredType>::KIND,
                    is_nullable: <$type as StoredType>::IS_NULLABLE,
                }),+],
            )),+]
        };
    };
}

tables! {
    providers (id) {
        id -> Identifier,
        name -> Text,
        api_key -> Text,
        api_secret_hash -> Binary,
        encrypted_shared_secret -> Binary,
        former_api_secret_hash -> Nullable<Binary>,
        former_api_secret_until -> Nullable<SqlTimestamp>,
        former_encrypted_shared_secret -> Nullable<Binary>,
        former_shared_secret_until -> Nullable<SqlTimestamp>,
        callback_url -> Nullable<Text>,
        manages_all_domain_resources -> Bool,
        suspended -> Bool,
        created_at -> SqlTimestamp,
        updated_at -> SqlTimestamp,
    }
    corporations (id) {
        id -> Identifier,
        provider_id -> Identifier,
        name -> Text,
        created_at -> SqlTimestamp,
        updated_at -> SqlTimestamp,
    }
    companies (id) {
        id -> Identifier,
        provider_id -> Identifier,
        corporation_id -> Nullable<Identifier>,
        domain -> Text,
        company_name -> Text,
        owner_id -> Identifier,
        logo_url -> Text,
        points_per_dollar -> Integer,
        reserve_alert -> Nullable<BigInt>,
        reserve_bcc -> Nullable<Text>,
        allow_zero_points -> Bool,
        created_at -> SqlTimestamp,
        updated_at -> SqlTimestamp,
        handed_over_at -> Nullable<SqlTimestamp>,
    }
    active_users (company_id, part) {
        company_id -> Identifier,
        part -> SmallInt,
        number -> BigInt,
    }
    users (id) {
        id -> Identifier,
        company_id -> Identifier,
        email -> Text,
        email_folded -> Text,
        first_name -> Text,
        last_name -> Nullable<Text>,
        department -> Nullable<Text>,
        title -> Nullable<Text>,
        supervisor_email -> Nullable<Text>,
        employee_id -> Nullable<Text>,
        birthday -> Nullable<Text>,
        country_code -> Nullable<Text>,
        work_start_date -> Nullable<Text>,
        office_city -> Nullable<Text>,
        office_state -> Nullable<Text>,
        office_country -> Nullable<Text>,
        manager -> Bool,
        company_admin -> Bool,
        corporation_admin -> Bool,
        group_names -> Nullable<Text>,
        custom_field_1 -> Nullable<Text>,
        custom_field_2 -> Nullable<Text>,
        custom_field_3 -> Nullable<Text>,
        custom_field_4 -> Nullable<Text>,
        custom_field_5 -> Nullable<Text>,
        created_at -> SqlTimestamp,
        updated_at -> SqlTimestamp,
        deleted_at -> Nullable<SqlTimestamp>,
    }
    occasions (id) {
        id -> Identifier,
        company_id -> Nullable<Identifier>,
        name -> Text,
        title -> Text,
        default_message -> Text,
        enabled -> Bool,
        visible -> Bool,
        created_at -> SqlTimestamp,
        updated_at -> SqlTimestamp,
        deleted_at -> Nullable<SqlTimestamp>,
    }
    schedules (id) {
        id -> Identifier,
        company_id -> Identifier,
        wallet -> SmallInt,
        points -> BigInt,
        period -> SmallInt,
        start_on -> Text,
        next_on -> Text,
        due_at -> SqlTimestamp,
        failing_since -> Nullable<SqlTimestamp>,
        failure -> Nullable<Text>,
        created_at -> SqlTimestamp,
        cancelled_at -> Nullable<SqlTimestamp>,
    }
    skipped_dates (schedule_id, due_on) {
        schedule_id -> Identifier,
        due_on -> Text,
        company_id -> Identifier,
        reason -> Text,
        created_at -> SqlTimestamp,
    }
    company_moves (token) {
        token -> Identifier,
        company_id -> Identifier,
        direction -> SmallInt,
        release_code -> Nullable<Text>,
        created_at -> SqlTimestamp,
        archived_at -> Nullable<SqlTimestamp>,
        completed_at -> Nullable<SqlTimestamp>,
    }
    unfinished_distributions (id) {
        id -> Identifier,
        unpaid_receivers -> Integer,
    }
    distribution_steps (journal_entry_id, leg) {
        journal_entry_id -> Identifier,
        leg -> Integer,
        receivers -> Binary,
    }
    journal_entries (id) {
        position -> BigInt,
        id -> Identifier,
        company_id -> Identifier,
        provider_id -> Identifier,
        kind -> SmallInt,
        actor -> SmallInt,
        reference -> Nullable<Text>,
        idempotency_key -> Nullable<Text>,
        points_per_dollar -> Integer,
        points -> BigInt,
        legs -> Integer,
        wallet -> Nullable<SmallInt>,
        subject_id -> Nullable<Identifier>,
        occasion_id -> Nullable<Identifier>,
        due_on -> Nullable<Text>,
        share -> Nullable<Bool>,
        message -> Nullable<Text>,
        created_at -> SqlTimestamp,
    }
    recognitions (journal_entry_id, leg) {
        journal_entry_id -> Identifier,
        leg -> Integer,
        id -> Identifier,
        company_id -> Identifier,
        sender_id -> Identifier,
        receiver_id -> Identifier,
        share -> Bool,
        message -> Nullable<Text>,
        created_at -> SqlTimestamp,
    }
    accounts (owner_id, kind) {
        owner_id -> Identifier,
        kind -> SmallInt,
        company_id -> Identifier,
        balance -> BigInt,
        spent -> BigInt,
        entry_count -> BigInt,
        rounding_shortfall -> BigInt,
        alert_below -> Nullable<BigInt>,
        created_at -> SqlTimestamp,
        closed_at -> Nullable<SqlTimestamp>,
    }
    transfers (journal_entry_id, leg) {
        journal_entry_id -> Identifier,
        leg -> Integer,
        company_id -> Identifier,
        debit_owner -> Identifier,
        debit_kind -> SmallInt,
        debit_sequence -> BigInt,
        credit_owner -> Identifier,
        credit_kind -> SmallInt,
        credit_sequence -> BigInt,
        amount -> BigInt,
        points -> BigInt,
        points_per_dollar -> Integer,
        reason -> SmallInt,
        created_at -> SqlTimestamp,
    }
    seals (sequence) {
        sequence -> BigInt,
        format -> SmallInt,
        journal_before -> BigInt,
        journal_entries -> BigInt,
        audit_before -> BigInt,
        audit_entries -> BigInt,
        events -> BigInt,
        events_digest -> Binary,
        head -> Binary,
        created_at -> SqlTimestamp,
    }
    events (id) {
        position -> BigInt,
        id -> Identifier,
        company_id -> Identifier,
        provider_id -> Identifier,
        kind -> SmallInt,
        journal_entry_id -> Identifier,
        body -> Binary,
        original_digest -> Nullable<Binary>,
        created_at -> SqlTimestamp,
    }
    deliveries (event_id) {
        event_id -> Identifier,
        company_id -> Identifier,
        provider_id -> Identifier,
        state -> SmallInt,
        attempts -> Integer,
        attempts_before_replay -> Integer,
        next_attempt_at -> Nullable<SqlTimestamp>,
        lease_id -> Nullable<Identifier>,
    }
    attempts (event_id, id) {
        event_id -> Identifier,
        id -> Identifier,
        company_id -> Identifier,
        number -> Integer,
        started_at -> SqlTimestamp,
        duration_micros -> BigInt,
        status -> Nullable<SmallInt>,
        failure -> Nullable<Text>,
        response_headers -> Nullable<Text>,
        response -> Binary,
    }
    notifications (id) {
        id -> Identifier,
        company_id -> Identifier,
        provider_id -> Identifier,
        channel -> SmallInt,
        recipient -> Text,
        notification -> Text,
        state -> SmallInt,
        attempts -> SmallInt,
        next_attempt_at -> Nullable<SqlTimestamp>,
        lease_id -> Nullable<Identifier>,
        created_at -> SqlTimestamp,
    }
    saml_settings (company_id) {
        company_id -> Identifier,
        idp_id -> Nullable<Text>,
        idp_url -> Nullable<Text>,
        idp_certificate -> Nullable<Text>,
        active -> Bool,
        updated_at -> SqlTimestamp,
        notified_of_expiry -> Nullable<SqlTimestamp>,
    }
    idempotency_records (scope, idempotency_key) {
        scope -> Identifier,
        idempotency_key -> Text,
        company_id -> Nullable<Identifier>,
        request_hash -> Binary,
        status -> SmallInt,
        body -> Binary,
        created_at -> SqlTimestamp,
        expires_at -> SqlTimestamp,
    }
    settings (name) {
        name -> Text,
        value -> Text,
    }
    audit_entries (id) {
        position -> BigInt,
        id -> Identifier,
        actor -> SmallInt,
        reference -> Nullable<Text>,
        idempotency_key -> Nullable<Text>,
        action -> SmallInt,
        company_id -> Nullable<Identifier>,
        provider_id -> Nullable<Identifier>,
        object_id -> Nullable<Identifier>,
        detail -> Text,
        state_digest -> Nullable<Binary>,
        created_at -> SqlTimestamp,
    }
    failed_requests (id) {
        id -> Identifier,
        request_id -> Text,
        provider_id -> Nullable<Identifier>,
        method -> Text,
        route -> Nullable<Text>,
        status -> SmallInt,
        status_class -> SmallInt,
        duration_ms -> BigInt,
        reason -> Text,
        created_at -> SqlTimestamp,
    }
    company_statistics (company_id, day) {
        company_id -> Identifier,
        day -> Integer,
        recognitions -> BigInt,
        points -> BigInt,
        reserve -> BigInt,
        user_wallets -> BigInt,
        peer_wallets -> BigInt,
        manager_wallets -> BigInt,
    }
    occasion_statistics (company_id, day, occasion_id) {
        company_id -> Identifier,
        day -> Integer,
        occasion_id -> Identifier,
        recognitions -> BigInt,
        points -> BigInt,
    }
    service_statistics (hour) {
        hour -> Integer,
        recognitions -> BigInt,
        points -> BigInt,
        requests -> BigInt,
        client_errors -> BigInt,
        server_errors -> BigInt,
        duration_micros -> BigInt,
    }
    provider_statistics (provider_id, hour) {
        provider_id -> Identifier,
        hour -> Integer,
        delivered -> BigInt,
        failed -> BigInt,
        duration_micros -> BigInt,
    }
    duration_statistics (subject_id, hour, bucket) {
        subject_id -> Identifier,
        hour -> Integer,
        bucket -> SmallInt,
        number -> BigInt,
    }
    latest_attempts (provider_id) {
        provider_id -> Identifier,
        results -> BigInt,
        attempts -> SmallInt,
        ended_at -> SqlTimestamp,
    }
}

diesel::joinable!(users -> companies (company_id));
diesel::joinable!(recognitions -> journal_entries (journal_entry_id));
diesel::joinable!(skipped_dates -> schedules (schedule_id));
diesel::joinable!(deliveries -> events (event_id));
diesel::allow_tables_to_appear_in_same_query!(companies, providers, users, occasions, accounts);
diesel::allow_tables_to_appear_in_same_query!(companies, journal_entries, recognitions);
diesel::allow_tables_to_appear_in_same_query!(skipped_dates, schedules);
diesel::allow_tables_to_appear_in_same_query!(events, deliveries);
diesel::allow_tables_to_appear_in_same_query!(attempts, deliveries);
