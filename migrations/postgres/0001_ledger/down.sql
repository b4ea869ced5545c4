DROP TABLE provider_figures, service_figures, occasion_figures, company_figures, audit_entries, idempotency_records, mails, attempts, deliveries, events, seals, transfers, accounts, recognitions, causes,
  distribution_steps, distributions_under_way, missed_dates, schedules, settings, saml_settings, occasions, active_users, users, companies, corporations, providers;
DROP FUNCTION count_new_user(), count_changed_user(), refuse_loss_of_event(), refuse_change(), settled_before(), unsettled_transactions(), journal_position();
