//! `guerdon verify`: every invariant of the ledger as one query that answers what breaks it.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use guerdon_domain::ports::{Audit, StoreError, Violation};

use super::super::{check_storage, id_text, wide};
use super::Unit;

#[derive(QueryableByName)]
struct Broken {
    #[diesel(sql_type = Text)]
    detail: String,
}

/// An invariant's name, and the query of what breaks it (one column, `detail`).
type Check = (&'static str, String);

impl Audit for Unit<'_> {
    fn audit(&mut self) -> Result<Vec<Violation>, StoreError> {
        self.query(super::super::take_time)?;
        let mut violations = Vec::new();
        for (invariant, sql) in checks() {
            let broken: Vec<Broken> = self.query(|conn| diesel::sql_query(sql).get_results(conn))?;
            violations.extend(broken.into_iter().map(|it| Violation { invariant, detail: it.detail }));
        }
        let storage = self.query(check_storage)?;
        violations.extend(storage.into_iter().map(|detail| Violation { invariant: "storage", detail }));
        Ok(violations)
    }

    fn unbalanced_companies(&mut self) -> Result<i64, StoreError> {
        self.query(super::super::take_time)?;
        let sql = format!(
            "(SELECT count(*) FROM (SELECT company_id FROM accounts GROUP BY company_id HAVING SUM({}) <> 0) AS u)",
            wide("credits - debits"),
        );
        self.query(|conn| diesel::select(diesel::dsl::sql::<BigInt>(&sql)).get_result(conn))
    }
}

fn checks() -> Vec<Check> {
    let mut checks = balances();
    checks.extend(transfers());
    checks.extend(recognitions());
    checks.extend(redemptions());
    checks.extend(events());
    checks.extend(people());
    checks
}

/// `account KIND of OWNER`, for people.
fn account(prefix: &str) -> String {
    format!("'account ' || {prefix}kind || ' of ' || {}", id_text(&format!("{prefix}owner_id")))
}

fn balances() -> Vec<Check> {
    let side = |name: &str, alias: &str| {
        format!(
            "LEFT JOIN (SELECT {name}_owner AS owner, {name}_kind AS kind, SUM(amount) AS total \
             FROM transfers GROUP BY {name}_owner, {name}_kind) AS {alias} \
             ON {alias}.owner = a.owner_id AND {alias}.kind = a.kind"
        )
    };
    let account = account("a.");
    vec![
        (
            "balance",
            format!(
                "SELECT {account} || ' has debits ' || a.debits || ' and credits ' || a.credits \
                 || ', its transfers say ' || COALESCE(d.total, 0) || ' and ' || COALESCE(c.total, 0) AS detail \
                 FROM accounts AS a {} {} \
                 WHERE a.debits <> COALESCE(d.total, 0) OR a.credits <> COALESCE(c.total, 0)",
                side("debit", "d"),
                side("credit", "c"),
            ),
        ),
        (
            "spent",
            format!(
                "SELECT {account} || ' says spent ' || a.spent || ', its transfers say ' || COALESCE(s.total, 0) \
                 AS detail FROM accounts AS a LEFT JOIN (SELECT debit_owner AS owner, debit_kind AS kind, \
                 SUM(amount) AS total FROM transfers WHERE reason IN (1, 2, 4) GROUP BY debit_owner, debit_kind) \
                 AS s ON s.owner = a.owner_id AND s.kind = a.kind WHERE a.spent <> COALESCE(s.total, 0)"
            ),
        ),
        (
            "never negative",
            format!(
                "SELECT {account} || ' holds ' || (a.credits - a.debits) AS detail FROM accounts AS a \
                 WHERE a.kind < 5 AND a.credits < a.debits"
            ),
        ),
        (
            "conservation",
            format!(
                "SELECT 'the accounts of company ' || {} || ' sum to ' || SUM({}) AS detail FROM accounts \
                 GROUP BY company_id HAVING SUM({1}) <> 0",
                id_text("company_id"),
                wide("credits - debits"),
            ),
        ),
        (
            "closed at zero",
            format!(
                "SELECT {account} || ' is closed and holds ' || (a.credits - a.debits) AS detail \
                 FROM accounts AS a WHERE a.closed_at IS NOT NULL AND a.credits <> a.debits"
            ),
        ),
    ]
}

fn transfers() -> Vec<Check> {
    let id = id_text("t.id");
    let missing = |name: &'static str| {
        format!(
            "SELECT 'transfer ' || {id} || ' names a {name} account that is missing or of another company' AS detail \
             FROM transfers AS t LEFT JOIN accounts AS a ON a.owner_id = t.{name}_owner AND a.kind = t.{name}_kind \
             WHERE a.owner_id IS NULL OR a.company_id <> t.company_id"
        )
    };
    // One row a reason: which kinds of account it debits and credits.
    let shapes = "(t.reason = 1 AND t.debit_kind IN (2, 3, 4) AND t.credit_kind = 1) \
                  OR (t.reason = 2 AND t.debit_kind = 1 AND t.credit_kind = 6) \
                  OR (t.reason = 3 AND t.debit_kind = 4 AND t.credit_kind IN (1, 2, 3)) \
                  OR (t.reason = 4 AND t.debit_kind IN (1, 2, 3) AND t.credit_kind = 4) \
                  OR (t.reason = 5 AND t.debit_kind = 6 AND t.credit_kind = 1) \
                  OR (t.reason = 6 AND ((t.debit_kind = 4 AND t.credit_kind <= 3) OR (t.credit_kind = 4 AND t.debit_kind <= 3))) \
                  OR (t.reason = 7 AND t.debit_kind = 5 AND t.credit_kind = 4) \
                  OR (t.reason = 8 AND t.debit_kind = 7 AND t.credit_kind <= 4 AND t.points = 0 AND t.amount <= 10000000)";
    // Half a nano-dollar either way, without a product that could overflow: whole dollars first.
    let dollars = "((t.amount / 1000000000) * t.points_per_dollar - t.points)";
    let rest = "((t.amount % 1000000000) * t.points_per_dollar)";
    vec![
        ("debited account", missing("debit")),
        ("credited account", missing("credit")),
        (
            "shape",
            format!(
                "SELECT 'transfer ' || {id} || ' of reason ' || t.reason || ' goes from kind ' || t.debit_kind \
                 || ' to kind ' || t.credit_kind AS detail FROM transfers AS t WHERE NOT ({shapes})"
            ),
        ),
        (
            "price",
            format!(
                "SELECT 'transfer ' || {id} || ' moves ' || t.amount || ' for ' || t.points || ' points at ' \
                 || t.points_per_dollar AS detail FROM transfers AS t \
                 WHERE t.reason IN (1, 2, 3, 7) AND CASE WHEN abs({dollars}) > 20000 THEN 1 = 1 \
                 ELSE abs({dollars} * 1000000000 + {rest}) * 2 > t.points_per_dollar END"
            ),
        ),
    ]
}

fn recognitions() -> Vec<Check> {
    let id = id_text("r.id");
    vec![
        (
            "recognition paid once",
            format!(
                "SELECT 'recognition ' || {id} || ' of ' || r.points || ' points has ' || COUNT(t.id) \
                 || ' matching transfers' AS detail FROM recognitions AS r \
                 LEFT JOIN transfers AS t ON t.credit_owner = r.receiver_id AND t.credit_kind = 1 \
                 AND t.created_at = r.created_at AND t.cause_id = r.id AND t.reason = 1 AND t.points = r.points \
                 AND t.debit_owner = r.sender_id \
                 GROUP BY r.id, r.points HAVING COUNT(t.id) <> CASE WHEN r.points = 0 THEN 0 ELSE 1 END"
            ),
        ),
        (
            "transfer has its recognition",
            format!(
                "SELECT 'transfer ' || {} || ' pays for a recognition that is missing' AS detail \
                 FROM transfers AS t LEFT JOIN recognitions AS r ON r.id = t.cause_id \
                 WHERE t.reason = 1 AND r.id IS NULL",
                id_text("t.id")
            ),
        ),
    ]
}

fn redemptions() -> Vec<Check> {
    let id = id_text("r.id");
    let matching = |name: &'static str, fits: &str, wanted: &str| {
        format!(
            "SELECT 'redemption ' || {id} || ' has ' || COUNT(t.id) || ' matching transfers of its {name}' AS detail \
             FROM redemptions AS r LEFT JOIN transfers AS t ON t.cause_id = r.id AND t.amount = r.amount AND {fits} \
             GROUP BY r.id, r.refunded_at HAVING COUNT(t.id) <> {wanted}"
        )
    };
    let paid = "t.reason = 2 AND t.debit_owner = r.user_id AND t.points = r.points";
    let refunded = "t.reason = 5 AND t.credit_owner = r.user_id";
    vec![
        ("redemption paid once", matching("payment", paid, "1")),
        (
            "redemption refunded once",
            matching("refund", refunded, "CASE WHEN r.refunded_at IS NULL THEN 0 ELSE 1 END"),
        ),
        (
            "transfer has its redemption",
            format!(
                "SELECT 'transfer ' || {} || ' pays or refunds a redemption that is missing' AS detail \
                 FROM transfers AS t LEFT JOIN redemptions AS r ON r.id = t.cause_id \
                 WHERE t.reason IN (2, 5) AND r.id IS NULL",
                id_text("t.id")
            ),
        ),
    ]
}

/// Every recognition and redemption has told of itself once.
fn events() -> Vec<Check> {
    let told = |noun: &'static str, table: &'static str, kind: i16| {
        format!(
            "SELECT '{noun} ' || {id} || ' has ' || COUNT(e.id) || ' events of its making' AS detail \
             FROM {table} AS r LEFT JOIN events AS e ON e.cause_id = r.id AND e.kind = {kind} \
             GROUP BY r.id HAVING COUNT(e.id) <> 1",
            id = id_text("r.id")
        )
    };
    vec![
        ("recognition told once", told("recognition", "recognitions", 1)),
        ("redemption told once", told("redemption", "redemptions", 3)),
    ]
}

fn people() -> Vec<Check> {
    let user = id_text("u.id");
    let wallet = |kind: i16, who: &str| {
        format!(
            "SELECT 'user ' || {user} || ' has no account of kind {kind}' AS detail FROM users AS u \
             LEFT JOIN accounts AS a ON a.owner_id = u.id AND a.kind = {kind} WHERE a.owner_id IS NULL{who}"
        )
    };
    vec![
        ("user wallet", wallet(1, "")),
        ("peer wallet", wallet(2, "")),
        ("manager wallet", wallet(3, " AND u.manager")),
        (
            "deleted means closed",
            format!(
                "SELECT 'user ' || {user} || ' and account ' || a.kind || ' disagree on being deleted' AS detail \
                 FROM users AS u JOIN accounts AS a ON a.owner_id = u.id \
                 WHERE (u.deleted_at IS NULL) <> (a.closed_at IS NULL)"
            ),
        ),
        (
            "wallet's company",
            format!(
                "SELECT 'user ' || {user} || ' has a wallet of another company' AS detail \
                 FROM users AS u JOIN accounts AS a ON a.owner_id = u.id WHERE a.company_id <> u.company_id"
            ),
        ),
        (
            "corporation admin",
            format!(
                "SELECT 'user ' || {user} || ' administers a corporation, its company is in none' AS detail \
                 FROM users AS u JOIN companies AS c ON c.id = u.company_id \
                 WHERE u.corporation_admin AND u.deleted_at IS NULL AND c.corporation_id IS NULL"
            ),
        ),
        (
            "company accounts",
            format!(
                "SELECT 'company ' || {0} || ' has ' || COUNT(a.kind) || ' of its four accounts' AS detail \
                 FROM companies AS c LEFT JOIN accounts AS a ON a.owner_id = c.id AND a.kind BETWEEN 4 AND 7 \
                 GROUP BY c.id HAVING COUNT(a.kind) <> 4",
                id_text("c.id")
            ),
        ),
        (
            "owner",
            format!(
                "SELECT 'company ' || {} || ' has no active administrator as its owner' AS detail \
                 FROM companies AS c LEFT JOIN users AS u ON u.id = c.owner_id \
                 AND u.company_id = c.id AND u.deleted_at IS NULL AND u.company_admin WHERE u.id IS NULL",
                id_text("c.id")
            ),
        ),
    ]
}
