//! Moving a company to another provider.

use std::sync::mpsc::channel;

use guerdon_domain::audit_log::Action;
use guerdon_domain::companies::{TransferCompanyError, transfer_to_provider};
use guerdon_domain::ports::{StoreError, StoreExt as _};
use guerdon_domain::providers::{self, Provider, ProviderChange};
use guerdon_domain::recognitions::{SendError, Sender};
use guerdon_domain::values::ProviderId;

use crate::support::{LedgerFixture, on_each_database};

fn create_other_provider(fixture: &LedgerFixture) -> ProviderId {
    let id = ProviderId::from_uuid(fixture.context().ids.next_id());
    let provider = Provider {
        id,
        name: "Another".into(),
        api_key: "another".into(),
        api_secret_hash: vec![1; 32],
        encrypted_shared_secret: vec![2; 32],
        former_api_secret: None,
        former_shared_secret: None,
        callback_url: None,
        manages_all_domain_resources: true,
        suspended: false,
        created_at: fixture.context().clock.now(),
    };
    let context = fixture.context();
    let entry = context.new_audit_entry(Action::ProviderCreated).with_provider(provider.id);
    fixture
        .store
        .transaction(|tx| tx.insert_provider(&provider).and_then(|()| tx.record_audit_entry(&entry)))
        .unwrap();
    id
}

#[test]
fn a_move_waits_for_requests_in_flight_and_none_writes_for_the_old_provider_afterwards() {
    on_each_database(|fixture| {
        let (ann, other) = (fixture.create_user("ann"), create_other_provider(fixture));
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
            assert_eq!(provider(), Some(fixture.provider), "the move waits");
            let_go.send(()).unwrap();
            moving.join().unwrap().unwrap();
            assert_eq!(provider(), Some(other));
        });
        let sent = fixture.send_recognition(Sender::Company(fixture.company), &[ann], 1);
        assert!(matches!(sent, Err(SendError::Denied(_))));
        let change = ProviderChange { suspended: Some(true), ..ProviderChange::default() };
        fixture
            .store
            .transaction(|tx| providers::change_provider(tx, other, &change, &fixture.context()))
            .unwrap();
    });
}
