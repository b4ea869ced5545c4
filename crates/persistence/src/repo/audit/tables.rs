//! Checks of companies, users, accounts, amendments and notifications. Each query uses one snapshot.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use guerdon_domain::audit::{AuditOptions, Findings};
use guerdon_domain::ports::StoreError;
use guerdon_domain::wallets::AccountKind;

use super::growing_tables::RangesProgress;
use super::{
    Check, PartStatus, SnapshotTimer, Unit, deliveries, id_as_text, run_storage_check, storage_checks,
};
use crate::rows::conditions::{CHANGES_COMPANY, IS_AMENDMENT, IS_ONCE_PER_SUBJECT, IS_WALLET};
use crate::rows::kind;

/// Companies whose accounts do not sum to zero. Whole dollars and remainders are summed separately, so that
/// the sums do not overflow.
pub(super) const UNBALANCED: &str = "SELECT company_id FROM accounts GROUP BY company_id \
    HAVING SUM(balance / 1000000000) + SUM(balance % 1000000000) / 1000000000 <> 0 \
    OR SUM(balance % 1000000000) % 1000000000 <> 0";

/// The maximum number of rows of a query: one more than are reported.
const FINDINGS_MAX: i64 = 101;

/// A check that reads from one snapshot.
enum TableCheck {
    Query(Check),
    Pruning,
    States,
    Schedules,
    Alerts,
}

/// How far the tables have been checked.
#[derive(Debug, Default)]
pub(super) struct TablesProgress {
    ranges: RangesProgress,
    /// The number of other checks that are complete.
    checked: usize,
}

impl Unit<'_> {
    /// Continues with the first check that is not complete.
    pub(super) fn audit_tables(
        &mut self,
        progress: &mut TablesProgress,
        timer: &SnapshotTimer<'_>,
        options: &AuditOptions<'_>,
        findings: &mut Findings,
    ) -> Result<PartStatus, StoreError> {
        if !progress.ranges.is_complete {
            self.audit_ranges(&mut progress.ranges, timer, options, findings)?;
            return Ok(PartStatus::Incomplete);
        }
        let queries = query_checks().into_iter().map(TableCheck::Query);
        let others = [TableCheck::Pruning, TableCheck::States, TableCheck::Schedules, TableCheck::Alerts];
        for check in queries.chain(others).skip(progress.checked) {
            match check {
                TableCheck::Query((invariant, sql)) => self.audit_table(invariant, &sql, findings)?,
                TableCheck::Pruning => self.audit_pruning(options.now, findings)?,
                TableCheck::States => self.audit_states(findings)?,
                TableCheck::Schedules => self.audit_schedules(options.now, findings)?,
                TableCheck::Alerts => self.audit_alerts(findings)?,
            }
            progress.checked += 1;
            if timer.is_over() {
                return Ok(PartStatus::Incomplete);
            }
        }
        Ok(PartStatus::Complete)
    }

    pub(super) fn audit_table(
        &mut self,
        invariant: &'static str,
        sql: &str,
        findings: &mut Findings,
    ) -> Result<(), StoreError> {
        // MATERIALIZED: PostgreSQL would otherwise plan for finding violations early, with a nested loop over tables
        // that it has not analyzed yet. Usually there are none, and the loop would take hours.
        let limited =
            format!("WITH broken AS MATERIALIZED ({sql}) SELECT detail FROM broken LIMIT {FINDINGS_MAX}");
        let broken: Vec<String> = self.query(|conn| diesel::dsl::sql::<Text>(&limited).get_results(conn))?;
        let is_more = i64::try_from(broken.len()).is_ok_and(|count| count >= FINDINGS_MAX);
        broken.into_iter().for_each(|detail| findings.add_violation(invariant, || detail));
        if is_more {
            let count = format!("(SELECT count(*) FROM ({sql}) AS broken)");
            let all: i64 =
                self.query(|conn| diesel::select(diesel::dsl::sql::<BigInt>(&count)).get_result(conn))?;
            (FINDINGS_MAX..all).for_each(|_| findings.add_violation(invariant, String::new));
        }
        Ok(())
    }

    /// Continues after the first `checked` checks of the database's files.
    pub(super) fn audit_storage(
        &mut self,
        checked: &mut usize,
        timer: &SnapshotTimer<'_>,
        findings: &mut Findings,
    ) -> Result<PartStatus, StoreError> {
        for check in self.query(storage_checks)?.into_iter().skip(*checked) {
            let faults = self.query(|conn| run_storage_check(conn, &check))?;
            faults.into_iter().for_each(|detail| findings.add_violation("storage", || detail));
            *checked += 1;
            if timer.is_over() {
                return Ok(PartStatus::Incomplete);
            }
        }
        Ok(PartStatus::Complete)
    }
}

fn query_checks() -> Vec<Check> {
    let mut checks = vec![(
        "conservation",
        format!(
            "SELECT 'the accounts of company ' || {} || ' do not sum to zero' AS detail FROM ({UNBALANCED}) AS u",
            id_as_text("company_id")
        ),
    )];
    checks.extend(account_checks());
    checks.extend(user_checks());
    checks.extend(deletion_checks());
    checks.extend(company_entry_checks());
    checks.extend(amendment_checks());
    checks.push(deliveries::notification_check());
    checks
}

/// Checks that every company has the rate and the provider that its journal entries record.
fn company_entry_checks() -> Vec<Check> {
    let company = id_as_text("c.id");
    let last = |column: &str, but: i16| {
        format!(
            "(SELECT {column} FROM journal_entries AS j WHERE j.company_id = c.id AND j.{CHANGES_COMPANY} AND j.kind <> {but} \
             ORDER BY j.position DESC, j.id DESC LIMIT 1)"
        )
    };
    let rate = last("j.points_per_dollar", kind::COMPANY_TRANSFER);
    let provider = last(
        &format!("CASE j.kind WHEN {} THEN j.subject_id ELSE j.provider_id END", kind::COMPANY_TRANSFER),
        kind::RATE_CHANGE,
    );
    vec![
        (
            "company's journal entries",
            format!(
                "SELECT 'company ' || {company} || ' has a different rate or provider from its journal entries' AS detail \
                 FROM companies AS c WHERE c.points_per_dollar IS DISTINCT FROM {rate} \
                 OR c.provider_id IS DISTINCT FROM {provider}"
            ),
        ),
        (
            "company's journal entries",
            format!(
                "SELECT 'company ' || {} || ' has journal entries but is missing' AS detail FROM journal_entries AS j \
                 LEFT JOIN companies AS c ON c.id = j.company_id WHERE j.{CHANGES_COMPANY} AND j.kind = {} AND c.id IS NULL",
                id_as_text("j.company_id"),
                kind::COMPANY_CREATION
            ),
        ),
    ]
}

/// Checks that every amended recognition matches its latest amendments; the journal check covers the others.
fn amendment_checks() -> Vec<Check> {
    let recognition = id_as_text("amendment.subject_id");
    let latest = |column: &str| {
        format!(
            "(SELECT j.{column} FROM journal_entries AS j WHERE j.{IS_AMENDMENT} AND j.subject_id = r.id \
             AND j.{column} IS NOT NULL ORDER BY j.position DESC, j.id DESC LIMIT 1)"
        )
    };
    let (message, share) = (latest("message"), latest("share"));
    vec![(
        "amendment",
        format!(
            "SELECT 'recognition ' || {recognition} || ' is missing, or differs from its amendments' AS detail \
             FROM journal_entries AS amendment \
             LEFT JOIN recognitions AS r ON r.id = amendment.subject_id AND r.company_id = amendment.company_id \
             LEFT JOIN journal_entries AS entry ON entry.id = r.journal_entry_id \
             WHERE amendment.{IS_AMENDMENT} AND (r.id IS NULL \
             OR r.message IS DISTINCT FROM {message} OR r.share <> COALESCE({share}, entry.share))"
        ),
    )]
}

/// Checks the owners and the creation times of accounts, and that every company has its five accounts.
fn account_checks() -> Vec<Check> {
    let account = format!("{} || ' of ' || {}", account_text("a.kind"), id_as_text("a.owner_id"));
    vec![
        (
            "owner of an account",
            format!(
                "SELECT {account} || ' belongs to no user of its company' AS detail FROM accounts AS a \
                 LEFT JOIN users AS u ON u.id = a.owner_id AND u.company_id = a.company_id \
                 WHERE a.{IS_WALLET} AND u.id IS NULL"
            ),
        ),
        (
            "owner of an account",
            format!(
                "SELECT {account} || ' belongs to no company' AS detail FROM accounts AS a \
                 LEFT JOIN companies AS c ON c.id = a.owner_id AND c.id = a.company_id \
                 WHERE NOT a.{IS_WALLET} AND c.id IS NULL"
            ),
        ),
        (
            "creation of an account",
            format!(
                "SELECT {account} || ' was not created at the same time as its owner' AS detail FROM accounts AS a \
                 LEFT JOIN users AS u ON u.id = a.owner_id LEFT JOIN companies AS c ON c.id = a.owner_id \
                 WHERE a.kind <> {} AND a.created_at <> COALESCE(u.created_at, c.created_at)",
                AccountKind::ManagerWallet.code()
            ),
        ),
        (
            "company accounts",
            format!(
                "SELECT 'company ' || {0} || ' has ' || COUNT(a.kind) || ' of its five accounts' AS detail \
                 FROM companies AS c LEFT JOIN accounts AS a ON a.owner_id = c.id AND NOT a.{IS_WALLET} \
                 GROUP BY c.id HAVING COUNT(a.kind) <> 5",
                id_as_text("c.id")
            ),
        ),
    ]
}

fn user_checks() -> Vec<Check> {
    let user = id_as_text("u.id");
    let wallet = |kind: AccountKind, condition: &str| {
        let (name, kind) = (kind.name(), kind.code());
        format!(
            "SELECT 'user ' || {user} || ' has no {name}' AS detail FROM users AS u \
             LEFT JOIN accounts AS a ON a.owner_id = u.id AND a.kind = {kind} WHERE a.owner_id IS NULL{condition}"
        )
    };
    vec![
        ("user wallet", wallet(AccountKind::UserWallet, "")),
        ("peer wallet", wallet(AccountKind::PeerWallet, "")),
        ("manager wallet", wallet(AccountKind::ManagerWallet, " AND u.manager")),
        (
            "wallets of a deleted user",
            format!(
                "SELECT 'user ' || {user} || ' and ' || {} || ' differ: only one is deleted or closed' AS detail \
                 FROM users AS u JOIN accounts AS a ON a.owner_id = u.id \
                 WHERE (u.deleted_at IS NULL) <> (a.closed_at IS NULL)",
                account_text("a.kind")
            ),
        ),
        (
            "active users",
            format!(
                "SELECT 'company ' || {} || ' counts ' || SUM(counted) || ' active users, but ' || SUM(stored) \
                 || ' are stored' AS detail \
                 FROM (SELECT company_id, number AS counted, 0 AS stored FROM active_users UNION ALL \
                 SELECT company_id, 0, 1 FROM users WHERE deleted_at IS NULL) AS counts \
                 GROUP BY company_id HAVING SUM(counted) <> SUM(stored)",
                id_as_text("company_id")
            ),
        ),
        (
            "corporation admin",
            format!(
                "SELECT 'user ' || {user} || ' is a corporation admin, but the company has no corporation' AS detail \
                 FROM users AS u JOIN companies AS c ON c.id = u.company_id \
                 WHERE u.corporation_admin AND u.deleted_at IS NULL AND c.corporation_id IS NULL"
            ),
        ),
        (
            "owner",
            format!(
                "SELECT 'the owner of company ' || {} || ' is not an active company admin' AS detail \
                 FROM companies AS c LEFT JOIN users AS u ON u.id = c.owner_id \
                 AND u.company_id = c.id AND u.deleted_at IS NULL AND u.company_admin WHERE u.id IS NULL",
                id_as_text("c.id")
            ),
        ),
    ]
}

/// Checks that a user is deleted if and only if the journal has an entry for the deletion.
fn deletion_checks() -> Vec<Check> {
    let deletion = kind::DELETION;
    vec![
        (
            "deletion of a user",
            format!(
                "SELECT 'user ' || {} || ' was deleted, but is active or missing' AS detail FROM journal_entries AS j \
                 LEFT JOIN users AS u ON u.id = j.subject_id AND u.company_id = j.company_id \
                 WHERE j.kind = {deletion} AND u.deleted_at IS NULL",
                id_as_text("j.subject_id")
            ),
        ),
        (
            "deletion of a user",
            format!(
                "SELECT 'user ' || {} || ' is deleted, but the journal has no entry for it' AS detail FROM users AS u \
                 WHERE u.deleted_at IS NOT NULL AND NOT EXISTS \
                 (SELECT 1 FROM journal_entries AS j WHERE j.subject_id = u.id AND j.{IS_ONCE_PER_SUBJECT} AND j.kind = {deletion})",
                id_as_text("u.id")
            ),
        ),
    ]
}

/// The name of an account's kind, as SQL.
fn account_text(kind: &str) -> String {
    let cases: String =
        AccountKind::ALL.iter().map(|kind| format!(" WHEN {} THEN '{}'", kind.code(), kind.name())).collect();
    format!("CASE {kind}{cases} ELSE 'account of kind ' || {kind} END")
}
