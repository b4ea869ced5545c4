DROP TABLE provider_statistics, service_statistics, occasion_statistics, company_statistics, failed_requests, audit_entries, idempotency_records, mails, attempts, deliveries, events, seals, transfers, accounts, recognitions, journal_entries,
  distribution_steps, distributions_under_way, missed_dates, schedules, settings, saml_settings, occasions, active_users, users, companies, corporations, providers;
DROP FUNCTION count_new_user(), count_changed_user(), refuse_undelivered_deletion(), refuse_change(), settled_before(), unsettled_transactions(), journal_position();
