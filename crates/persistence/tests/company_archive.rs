//! The rows of a company are read in pages and copied into another database.

use std::num::NonZero;
use std::time::Duration;

use guerdon_domain::audit::CheckedRows;
use guerdon_domain::companies::{IncomingCompany, finish_import, insert_rows};
use guerdon_domain::idempotency::{IdempotencyKey, IdempotencyRecord};
use guerdon_domain::money::PointsPerDollar;
use guerdon_domain::ports::{
    ArchiveSection, ArchivedRow, ArchivedValue, ReadTx, Store, StoreError, StoreExt as _, Timestamp,
};
use guerdon_domain::recognitions::Sender;
use guerdon_domain::values::DomainName;
use guerdon_domain::wallets::WalletType;
use guerdon_persistence::testing::{TestDatabase, create_databases};
use uuid::Uuid;

use crate::support::{LedgerFixture, on_each_database, verify_at};

/// A company with recognitions to several receivers, a redemption, a deleted user and several rates.
fn fill_company(fixture: &LedgerFixture) {
    let users = ["ann", "bob", "cid"].map(|name| fixture.create_user(name));
    let [ann, _, cid] = users;
    fixture.deposit_points(1_000);
    for count in 1..4 {
        fixture.send_recognition(Sender::Company(fixture.company), &users, count).unwrap();
        fixture.change_rate(PointsPerDollar::new(50 + count).unwrap());
    }
    fixture.fund_wallet(WalletType::User, ann, 20);
    fixture.redeem_points(ann, 5).unwrap();
    fixture.delete_user(cid).unwrap();
}

fn read_section(
    fixture: &LedgerFixture,
    reads: &mut dyn ReadTx,
    section: ArchiveSection,
    rows_max: i64,
) -> Result<Vec<ArchivedRow>, StoreError> {
    let (mut rows, mut after) = (Vec::new(), None);
    loop {
        let now = fixture.context().clock.now();
        let page = reads.read_archive_page(fixture.company, section, after.as_ref(), rows_max, now)?;
        assert!(page.rows.len() <= usize::try_from(rows_max).unwrap());
        rows.extend(page.rows);
        match page.next {
            None => return Ok(rows),
            next => after = next,
        }
    }
}

#[test]
fn small_pages_have_the_rows_of_a_large_page() {
    on_each_database(|fixture| {
        fill_company(fixture);
        for section in ArchiveSection::ALL {
            let read =
                |rows_max| fixture.read_snapshot(|reads| read_section(fixture, reads, *section, rows_max));
            let all = read(10_000);
            for rows_max in [1, 2, 3, 7] {
                assert_eq!(read(rows_max), all, "{} with {rows_max} rows per page", section.name());
            }
        }
        let count =
            |section| fixture.read_snapshot(|reads| read_section(fixture, reads, section, 10_000)).len();
        assert_eq!([ArchiveSection::Users, ArchiveSection::Recognitions].map(count), [4, 9]);
        assert!(count(ArchiveSection::Transfers) > 9 && count(ArchiveSection::Events) > 9);
    });
}

/// Copies the company of a fixture into another database, and returns how many rows were checked. `change` may change
/// the rows.
fn copy_company(
    fixture: &LedgerFixture,
    target: &dyn Store,
    change: impl Fn(ArchiveSection, &mut Vec<ArchivedRow>),
) -> CheckedRows {
    let incoming = IncomingCompany {
        token: Uuid::max(),
        company_id: fixture.company,
        provider_id: fixture.provider,
        domain: DomainName::parse("example.com").unwrap(),
        events_pruned_before: None,
    };
    let context = fixture.context();
    target
        .transaction(|tx| -> Result<CheckedRows, Box<dyn std::error::Error + Send + Sync>> {
            for section in ArchiveSection::ALL {
                let mut rows = fixture.read_snapshot(|reads| read_section(fixture, reads, *section, 10_000));
                change(*section, &mut rows);
                insert_rows(tx, &incoming, (*section, rows), &context)?;
            }
            Ok(finish_import(tx, &incoming, context.clock.now(), &context)?)
        })
        .unwrap()
}

fn create_target(fixture: &LedgerFixture) -> TestDatabase {
    let all = create_databases();
    all.into_iter().find(|database| database.is_embedded() == fixture.database.is_embedded()).unwrap()
}

#[test]
fn a_copied_company_passes_the_audit() {
    on_each_database(|fixture| {
        fill_company(fixture);
        let database = create_target(fixture);
        let target = database.open_store();
        let checked = copy_company(fixture, target.as_ref(), |_, _| ());
        let tables = ["journal_entries", "transfers", "accounts", "recognitions"];
        let counts = [checked.journal_entries, checked.transfers, checked.accounts, checked.recognitions];
        assert_eq!(counts.map(|count| i64::try_from(count).unwrap()).to_vec(), database.count_each(&tables));
        let now = fixture.context().clock.now();
        assert_eq!(verify_at(target.as_ref(), None, now, NonZero::<usize>::MIN), []);
    });
}

#[test]
fn a_copied_company_has_its_unexpired_responses_and_they_replace_expired_ones() {
    on_each_database(|fixture| {
        fill_company(fixture);
        let database = create_target(fixture);
        let opened = database.open_store();
        let (source, target): (&dyn Store, &dyn Store) = (fixture.store.as_ref(), opened.as_ref());
        let key = |name: &str| IdempotencyKey { scope: fixture.provider.as_uuid(), key: name.to_owned() };
        let record = |name: &str, company_id, body: &str, created_at: Timestamp| IdempotencyRecord {
            key: key(name),
            company_id,
            request_hash: vec![7; 32],
            status: 201,
            body: body.as_bytes().to_vec(),
            created_at,
            expires_at: created_at.saturating_add(Duration::from_secs(72 * 3_600)),
        };
        let (company, now, long_ago) =
            (Some(fixture.company), fixture.context().clock.now(), Timestamp::UNIX_EPOCH);
        for (store, stored) in [
            (source, record("new", company, "source", now)),
            (source, record("expired", company, "source", long_ago)),
            (source, record("of no company", None, "source", now)),
            (source, record("expired in the target", company, "source", now)),
            (source, record("used in the target", company, "source", now)),
            (target, record("expired in the target", None, "target", long_ago)),
            (target, record("used in the target", None, "target", now)),
        ] {
            store.transaction(|tx| tx.store_idempotency_record(&stored)).unwrap();
        }
        copy_company(fixture, target, |_, _| ());
        let find = |name: &str, at: Timestamp| {
            target.transaction(|tx| tx.find_idempotency_record(&key(name), at)).unwrap()
        };
        for name in ["new", "expired in the target"] {
            assert_eq!(find(name, now), Some(record(name, company, "source", now)), "{name}");
        }
        let used = record("used in the target", None, "target", now);
        assert_eq!(find("used in the target", now), Some(used));
        assert_eq!(find("of no company", now), None);
        assert_eq!(find("expired", long_ago), None);
    });
}

/// After the clock was set back, the ids of later changes precede those of earlier ones.
#[test]
fn a_copied_company_keeps_the_order_of_its_changes_if_their_ids_contradict_it() {
    on_each_database(|fixture| {
        fill_company(fixture);
        let database = create_target(fixture);
        let target = database.open_store();
        copy_company(fixture, target.as_ref(), |section, rows| {
            if section == ArchiveSection::JournalEntries {
                reverse_ids_of_rate_changes(rows);
            }
        });
        let now = fixture.context().clock.now();
        assert_eq!(verify_at(target.as_ref(), None, now, NonZero::<usize>::MIN), []);
        let next = target.read_snapshot(|reads| reads.next_seal(now, 10_000)).unwrap().unwrap();
        assert!(target.transaction(|tx| tx.insert_seal(&next)).unwrap());
        let is_unsealed = |reads: &mut dyn ReadTx| {
            let end = reads.ledger_end()?;
            reads.has_unsealed_rows_before(end)
        };
        assert!(!target.read_snapshot(is_unsealed).unwrap());
        drop(target);
        database.open_store(); // refuses a database whose positions precede its transactions
    });
}

/// Exchanges the ids of the first and the last rate change. Nothing refers to these journal entries.
fn reverse_ids_of_rate_changes(rows: &mut [ArchivedRow]) {
    let is_rate_change = |row: &&mut ArchivedRow| row.get(3) == Some(&ArchivedValue::Integer(2));
    let mut changes: Vec<&mut ArchivedRow> = rows.iter_mut().filter(is_rate_change).collect();
    assert!(changes.len() > 2);
    if let [first, .., last] = changes.as_mut_slice() {
        std::mem::swap(first.first_mut().unwrap(), last.first_mut().unwrap());
    }
}
