//! Distributions: by schedules, by several services concurrently, and under kill -9.

use std::process::Stdio;
use std::time::Duration;

use guerdon_persistence::testing::postgres_if_covered;
use serde_json::{Value, json};

use crate::support::service::TestService;
use crate::support::{SampleCompany, for_each_database, wait_until};

/// Enough users that a distribution takes some time.
const USERS: i64 = 8_000;

fn create_schedule(service: &TestService, company: &str, points: &str, start: &str) -> Value {
    service.run_json_command(&[
        "distribution",
        "schedule",
        company,
        "--wallet",
        "peer_wallet",
        "--points",
        points,
        "--every",
        "month",
        "--start",
        start,
    ])
}

/// The first day of the month `count` months before the current one.
#[expect(clippy::disallowed_methods, reason = "the service has the machine's clock too")]
fn months_ago(count: i32) -> String {
    let today = time::OffsetDateTime::now_utc().date();
    let months = today.year() * 12 + i32::from(u8::from(today.month())) - 1 - count;
    format!("{:04}-{:02}-01", months / 12, months % 12 + 1)
}

/// Inserts users with wallets directly into the tables.
fn insert_users(service: &TestService, company: &str, count: i64) {
    let plain = company.replace('-', "");
    let sqlite = format!(
        "PRAGMA busy_timeout = 5000; \
         CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count}) \
         SELECT i FROM n; BEGIN IMMEDIATE; \
         INSERT INTO users (id, company_id, email, email_folded, first_name, manager, company_admin, \
         corporation_admin, created_at, updated_at) \
         SELECT unhex(printf('0194000000007000800000%010d', i)), unhex('{plain}'), 'x' || i || '@example.com', \
         'x' || i || '@example.com', 'Crowd', 0, 0, 0, 0, 0 FROM n; \
         INSERT INTO accounts (owner_id, kind, company_id, balance, spent, entry_count, rounding_shortfall, created_at) \
         SELECT id, k.kind, company_id, 0, 0, 0, 0, created_at FROM users, \
         (SELECT 1 AS kind UNION SELECT 2) AS k WHERE first_name = 'Crowd'; COMMIT"
    );
    let postgres = format!(
        "INSERT INTO users (id, company_id, email, email_folded, first_name, manager, company_admin, \
         corporation_admin, created_at, updated_at) \
         SELECT ('01940000-0000-7000-8000-00' || lpad(i::text, 10, '0'))::uuid, '{company}', \
         'x' || i || '@example.com', 'x' || i || '@example.com', 'Crowd', false, false, false, now(), now() \
         FROM generate_series(1, {count}) AS i; \
         INSERT INTO accounts (owner_id, kind, company_id, balance, spent, entry_count, rounding_shortfall, created_at) \
         SELECT id, k, company_id, 0, 0, 0, 0, created_at FROM users, \
         generate_series(1, 2) AS k WHERE first_name = 'Crowd'; ANALYZE users; ANALYZE accounts"
    );
    service.database.execute_sql(&sqlite, &postgres);
}

#[test]
fn schedules_are_created_listed_and_cancelled() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 1);
        let created = create_schedule(service, &sample.company, "5", "9998-01-31");
        let id = created["id"].as_str().unwrap();
        let expected = json!({"id": id, "company_id": sample.company, "wallet": "peer_wallet", "points": 5,
            "every": "month", "start": "9998-01-31", "next": "9998-01-31"});
        assert_eq!(created, expected);
        let list = || service.run_json_command(&["distribution", "list", &sample.company]);
        let mut listed = list();
        let created_at = listed[0]["created_at"].take();
        assert!(created_at.as_str().unwrap().ends_with('Z'), "{created_at}");
        for (key, value) in expected.as_object().unwrap() {
            assert_eq!(&listed[0][key], value);
        }
        for key in ["cancelled_at", "failing_since", "failure"] {
            assert_eq!(listed[0].get(key), Some(&Value::Null));
        }
        assert_eq!(listed[0]["skipped"], json!([]));
        let cancel = || service.run_json_command(&["distribution", "cancel", id]);
        assert_eq!(cancel(), json!({"id": id, "cancelled": true}));
        assert_eq!(cancel(), json!({"id": id, "cancelled": true}));
        let after = list()[0].clone();
        assert_eq!(after["next"], Value::Null);
        assert!(after["cancelled_at"].is_string());
        let text = service.run_command(&["distribution", "list", &sample.company]);
        assert!(text.stdout.contains("cancelled 20"), "{}", text.stdout);
    });
}

#[test]
fn invalid_schedules_are_refused() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 1);
        let absent = "0193a5c0-0000-7000-8000-000000000001";
        let check = |company: &str, wallet: &str, points: &str, every: &str, start: &str, status: i32| {
            let words = ["distribution", "schedule", company, "--wallet", wallet, "--points", points];
            let more = ["--every", every, "--start", start];
            let printed = service.run_command(&[&words[..], &more].concat());
            assert_eq!(
                printed.status, status,
                "{company} {wallet} {points} {every} {start}: {}",
                printed.stderr
            );
        };
        check(absent, "peer_wallet", "1", "week", "2026-01-31", 1);
        check(&sample.company, "peer_wallet", "0", "week", "2026-01-31", 1);
        check(&sample.company, "peer_wallet", "1", "week", "2026-02-29", 2);
        check(&sample.company, "peer_wallet", "1", "week", "31.01.2026", 2);
        check(&sample.company, "peer_wallet", "1", "day", "2026-01-31", 2);
        check(&sample.company, "reserve", "1", "week", "2026-01-31", 2);
        check(&sample.company, "peer_wallet", "1", "week", "0226-11-01", 1); // a typo for 2026
        assert_eq!(service.run_command(&["distribution", "cancel", absent]).status, 1);
        assert_eq!(service.run_command(&["distribution", "list", absent]).status, 1);
        assert_eq!(service.database.count_rows("schedules"), 0);
    });
}

#[test]
fn two_services_on_one_postgresql_pay_each_date_once() {
    if let Some(database) = postgres_if_covered() {
        let service = TestService::start(database, &[]);
        let beside = service.start_second_process();
        let samples: Vec<SampleCompany> = (0..4).map(|_| SampleCompany::create(&service, 3)).collect();
        for sample in &samples {
            sample.deposit_points(&service, 1_000);
            create_schedule(&service, &sample.company, "2", &months_ago(5));
        }
        let paid = || service.database.count_rows("journal_entries WHERE kind = 7 AND actor = 3");
        wait_until("six dates of four schedules are paid", || (paid() == 24).then_some(()));
        assert_eq!(
            service
                .database
                .count_rows("(SELECT DISTINCT subject_id, due_on FROM journal_entries WHERE kind = 7) AS x"),
            24
        );
        for sample in &samples {
            assert_eq!(sample.read_balance(&service, &sample.users[0], "peer_wallet"), Some(12));
            assert_eq!(
                service.run_json_command(&["reserve", "show", &sample.company])["points"],
                1_000 - 6 * 4 * 2
            );
        }
        assert_eq!(service.run_command(&["verify"]).status, 0);
        drop(beside);
    }
}

#[test]
fn an_uncovered_date_is_reported_and_paid_later() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 1);
        create_schedule(service, &sample.company, "10", &months_ago(0));
        let list = || service.run_json_command(&["distribution", "list", &sample.company])[0].clone();
        let refused = "Insufficient funds: 20 points needed, but the reserve holds 0 points";
        wait_until("the refusal is recorded", || (list()["failure"] == refused).then_some(()));
        assert!(list()["failing_since"].is_string());
        assert_eq!(service.database.count_rows("notifications"), 1);
        sample.deposit_points(service, 20);
        let due = "UPDATE schedules SET due_at = created_at";
        service.database.execute_sql(due, due); // simulates that an hour has passed
        wait_until("the date is paid", || list()["failure"].is_null().then_some(()));
        assert_eq!(sample.read_balance(service, &sample.users[0], "peer_wallet"), Some(10));
    });
}

/// Checks that every user with a wallet has received points as often as the journal says, and that the reserve has paid
/// the same amount.
fn assert_all_or_nothing(service: &TestService, sample: &SampleCompany, paid_in: i64) -> i64 {
    assert_eq!(service.run_command(&["verify"]).status, 0);
    let runs = service.database.count_rows("journal_entries WHERE kind = 7");
    let received = service.database.count_rows("transfers WHERE reason = 3 AND credit_kind = 2");
    assert_eq!(received, runs * (USERS + 2), "{runs} runs");
    let reserve = service.run_json_command(&["reserve", "show", &sample.company]);
    assert_eq!(reserve["points"], paid_in - received);
    runs
}

#[test]
fn sigkill_during_a_large_distribution_leaves_it_complete_or_absent() {
    const FUNDS: i64 = 1_000_000;
    const CYCLES: u64 = 6;
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 1);
        insert_users(service, &sample.company, USERS);
        sample.deposit_points(service, FUNDS);
        let (mut runs, mut paid_in, mut interrupted) = (0, FUNDS, 0);
        for cycle in 0..CYCLES {
            let words = ["distribution", "run", &sample.company, "--wallet", "peer_wallet", "--points", "1"];
            let mut command = service.build_command();
            let mut run = command.args(words).stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
            // tidy: the distribution runs for a different time each cycle before the kill
            std::thread::sleep(Duration::from_millis(150 + 250 * cycle));
            if cycle + 1 == CYCLES {
                wait_until("the last distribution should begin", || {
                    (service.database.count_rows("journal_entries WHERE kind = 7") > runs).then_some(())
                });
            }
            run.kill().unwrap(); // on PostgreSQL the command runs in its own process
            run.wait().unwrap();
            service.running.kill().unwrap();
            let transfers = service.database.count_rows("transfers");
            let unfinished = service.database.count_rows("unfinished_distributions");
            interrupted += unfinished;
            assert_eq!(service.run_command(&["verify"]).status, 0);
            service.run_json_command(&["reserve", "show", &sample.company]);
            assert_eq!(
                service.database.count_rows("transfers"),
                transfers,
                "a read-only command finishes nothing"
            );
            if cycle % 2 == 0 {
                service.restart();
            }
            wait_until("the distribution should be finished", || {
                if cycle % 2 == 1 {
                    sample.deposit_points(service, 1); // a command that writes first finishes the distribution
                    paid_in += 1;
                }
                // On PostgreSQL a session of the killed process may still hold locks, so the rest is paid in a later
                // attempt.
                (service.database.count_rows("unfinished_distributions") == 0).then_some(())
            });
            let after = assert_all_or_nothing(service, &sample, paid_in);
            let begun = runs + unfinished;
            assert!((begun..=runs + 1).contains(&after), "{runs}, {unfinished} unfinished, {after}");
            runs = after;
            if cycle % 2 == 1 {
                service.restart();
            }
        }
        eprintln!("{}: {runs} runs, {interrupted} of them interrupted", service.database.url);
        assert!(runs > 0);
    });
}

#[test]
fn a_schedule_whose_service_is_killed_while_it_pays_pays_each_date_once() {
    const FUNDS: i64 = 1_000_000;
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 1);
        insert_users(service, &sample.company, USERS);
        sample.deposit_points(service, FUNDS);
        create_schedule(service, &sample.company, "1", &months_ago(3));
        for cycle in 0..4 {
            // tidy: the service pays for a different time each cycle before the kill
            std::thread::sleep(Duration::from_millis(300 + 200 * cycle));
            service.running.kill().unwrap();
            service.restart();
        }
        let dates = "(SELECT DISTINCT due_on FROM journal_entries WHERE kind = 7) AS dates";
        wait_until("four dates are paid", || (service.database.count_rows(dates) == 4).then_some(()));
        wait_until("the last date is paid", || {
            (service.database.count_rows("unfinished_distributions") == 0).then_some(())
        });
        assert_eq!(assert_all_or_nothing(service, &sample, FUNDS), 4);
    });
}
