//! Transfers of companies to another provider, and hand-overs to another cell.

use std::sync::mpsc::channel;

use guerdon_domain::companies::{
    CompanyMove, HandOverError, TransferCompanyError, hand_over, record_archive, reopen, transfer_to_provider,
};
use guerdon_domain::ports::{StoreError, StoreExt as _, Tx};
use guerdon_domain::providers::{self, UpdateProvider};
use guerdon_domain::recognitions::{SendError, Sender};

use crate::deliveries::{claim_events, create_events, current_time};
use crate::support::on_each_database;

#[test]
fn a_company_transfer_waits_for_requests_in_flight_and_blocks_the_old_provider() {
    on_each_database(|fixture| {
        let (ann, other) = (fixture.create_user("ann"), fixture.create_provider());
        fixture.deposit_points(100);
        let (kept, is_kept) = channel();
        let (let_go, may_go) = channel::<()>();
        let context = fixture.context();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let work = fixture.store.transaction(|tx| -> Result<(), StoreError> {
                    tx.lock_provider_shared(fixture.company)?;
                    kept.send(()).unwrap();
                    may_go.recv().unwrap();
                    Ok(())
                });
                work.unwrap();
            });
            is_kept.recv().unwrap();
            let moving = scope.spawn(|| {
                fixture.store.transaction(|tx| -> Result<(), TransferCompanyError> {
                    transfer_to_provider(tx, fixture.company, other, &context)
                })
            });
            let provider = || fixture.read_snapshot(|reads| reads.provider_of_company(fixture.company));
            assert_eq!(provider(), Some(fixture.provider), "the transfer waits");
            let_go.send(()).unwrap();
            moving.join().unwrap().unwrap();
            assert_eq!(provider(), Some(other));
        });
        let sent = fixture.send_recognition(Sender::Company(fixture.company), &[ann], 1);
        assert!(matches!(sent, Err(SendError::Denied(_))));
        let update = UpdateProvider { suspended: Some(true), ..UpdateProvider::default() };
        fixture.store.transaction(|tx| providers::update(tx, other, &update, &fixture.context())).unwrap();
    });
}

#[test]
fn a_hand_over_leaves_the_events_of_a_former_provider_with_it() {
    on_each_database(|fixture| {
        create_events(fixture, 1);
        let other = fixture.create_provider();
        let context = fixture.context();
        let moved = fixture.store.transaction(|tx| -> Result<(), TransferCompanyError> {
            transfer_to_provider(tx, fixture.company, other, &context)
        });
        moved.unwrap();
        let token = context.ids.next_id();
        let begin = |tx: &mut dyn Tx| hand_over(tx, fixture.company, token, "rel_1", &context);
        fixture.store.transaction(begin).unwrap();
        assert_eq!(claim_events(fixture, current_time(fixture), 1, 9).len(), 1);
    });
}

#[test]
fn a_hand_over_without_an_archive_is_replaced_and_an_open_one_is_found_after_the_clock_was_set_back() {
    on_each_database(|fixture| {
        let context = fixture.context();
        let start = context.clock.now();
        let begin = |code: &str| -> CompanyMove {
            let token = context.ids.next_id();
            let begin = |tx: &mut dyn Tx| hand_over(tx, fixture.company, token, code, &context);
            fixture.store.transaction(begin).unwrap()
        };
        let archive = |outgoing: &CompanyMove| -> Result<(), HandOverError> {
            fixture.store.transaction(|tx| record_archive(tx, outgoing, &context))
        };
        let open_with = |code: &str| -> Result<(), HandOverError> {
            fixture.store.transaction(|tx| reopen(tx, fixture.company, code, &context))
        };
        let (first, second) = (begin("rel_1"), begin("rel_2"));
        assert!(matches!(archive(&first), Err(HandOverError::Superseded)));
        assert!(matches!(open_with("rel_1"), Err(HandOverError::WrongCode)));
        archive(&second).unwrap();
        assert_eq!(begin("rel_3").token, second.token, "an archive of it exists");
        open_with("rel_2").unwrap();
        open_with("rel_2").unwrap();
        assert!(matches!(archive(&second), Err(HandOverError::Superseded)));
        fixture.clock.set_time(start);
        let again = begin("rel_4");
        assert!(again.created_at < second.created_at);
        assert!(matches!(open_with("rel_2"), Err(HandOverError::WrongCode)));
        open_with("rel_4").unwrap();
    });
}
