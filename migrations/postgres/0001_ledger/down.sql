-- These functions refer to tables, so they are dropped first.
DROP FUNCTION complete_before(), writing_transactions();
DROP TABLE latest_attempts, duration_statistics, provider_statistics, service_statistics, occasion_statistics, company_statistics, failed_requests, audit_entries, idempotency_records, notifications, attempts, deliveries, events, seals, transfers, accounts, recognitions, journal_entries,
  distribution_steps, unfinished_distributions, company_moves, skipped_dates, schedules, settings, saml_settings, occasions, active_users, users, companies, corporations, providers;
DROP FUNCTION transfer_is_valid, journal_entry_is_valid, count_new_user(), count_changed_user(), refuse_undelivered_deletion(), refuse_change(), journal_position();
