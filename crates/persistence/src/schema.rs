//! The tables, as the migrations of both databases make them.

/// One `table!` for each table, with the SQL types of both databases in scope.
macro_rules! tables {
    ($($name:ident ($($key:ident),+) { $($column:ident -> $type:ty),+ $(,)? })+) => {$(
        diesel::table! {
            use diesel::sql_types::*;
            use crate::types::*;
            $name ($($key),+) { $($column -> $type,)+ }
        }
    )+};
}

tables! {
    providers (id) {
        id -> Identifier,
        name -> Text,
        api_key -> Text,
        api_secret_hash -> Binary,
        shared_secret_sealed -> Binary,
        callback_url -> Nullable<Text>,
        manages_all_domain_resources -> Bool,
        suspended -> Bool,
        created_at -> Moment,
        updated_at -> Moment,
    }
    corporations (id) {
        id -> Identifier,
        provider_id -> Identifier,
        name -> Text,
        created_at -> Moment,
        updated_at -> Moment,
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
        created_at -> Moment,
        updated_at -> Moment,
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
        created_at -> Moment,
        updated_at -> Moment,
        deleted_at -> Nullable<Moment>,
    }
    occasions (id) {
        id -> Identifier,
        company_id -> Nullable<Identifier>,
        name -> Text,
        title -> Text,
        default_message -> Text,
        enabled -> Bool,
        visible -> Bool,
        created_at -> Moment,
        updated_at -> Moment,
        deleted_at -> Nullable<Moment>,
    }
    recognitions (id) {
        id -> Identifier,
        company_id -> Identifier,
        occasion_id -> Identifier,
        sender_kind -> SmallInt,
        sender_id -> Identifier,
        receiver_id -> Identifier,
        message -> Text,
        points -> BigInt,
        share -> Bool,
        created_at -> Moment,
    }
    accounts (owner_id, kind) {
        owner_id -> Identifier,
        kind -> SmallInt,
        company_id -> Identifier,
        debits -> BigInt,
        credits -> BigInt,
        spent -> BigInt,
        made_up -> BigInt,
        created_at -> Moment,
        closed_at -> Nullable<Moment>,
    }
    transfers (id) {
        id -> Identifier,
        company_id -> Identifier,
        debit_owner -> Identifier,
        debit_kind -> SmallInt,
        credit_owner -> Identifier,
        credit_kind -> SmallInt,
        amount -> BigInt,
        points -> BigInt,
        points_per_dollar -> Integer,
        reason -> SmallInt,
        cause_id -> Nullable<Identifier>,
        created_at -> Moment,
    }
    events (id) {
        id -> Identifier,
        provider_id -> Identifier,
        kind -> SmallInt,
        body -> Binary,
        state -> SmallInt,
        attempts -> SmallInt,
        next_attempt_at -> Nullable<Moment>,
        created_at -> Moment,
        lease_id -> Nullable<Identifier>,
        attempts_before_replay -> SmallInt,
        cause_id -> Nullable<Identifier>,
    }
    attempts (id) {
        id -> Identifier,
        event_id -> Identifier,
        number -> SmallInt,
        started_at -> Moment,
        duration_micros -> BigInt,
        status -> Nullable<SmallInt>,
        cause -> Nullable<Text>,
        answer -> Binary,
    }
    mails (id) {
        id -> Identifier,
        recipient -> Text,
        subject -> Text,
        body -> Text,
        state -> SmallInt,
        attempts -> SmallInt,
        next_attempt_at -> Nullable<Moment>,
        created_at -> Moment,
        lease_id -> Nullable<Identifier>,
    }
    redemptions (id) {
        id -> Identifier,
        company_id -> Identifier,
        user_id -> Identifier,
        points -> BigInt,
        amount -> BigInt,
        created_at -> Moment,
        refunded_at -> Nullable<Moment>,
    }
    saml_settings (company_id) {
        company_id -> Identifier,
        idp_id -> Nullable<Text>,
        idp_url -> Nullable<Text>,
        idp_certificate -> Nullable<Text>,
        active -> Bool,
        updated_at -> Moment,
    }
    idempotency_records (scope, idempotency_key) {
        scope -> Identifier,
        idempotency_key -> Text,
        request_hash -> Binary,
        status -> SmallInt,
        body -> Binary,
        created_at -> Moment,
        expires_at -> Moment,
    }
    settings (name) {
        name -> Text,
        value -> Text,
    }
}

diesel::joinable!(users -> companies (company_id));
diesel::allow_tables_to_appear_in_same_query!(companies, users, occasions);
