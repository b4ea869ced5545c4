//! Moving a company to another provider.

use std::sync::mpsc::channel;

use guerdon_domain::audit_log::Action;
use guerdon_domain::companies::{MoveCompanyError, move_to_provider};
use guerdon_domain::ports::{ProviderChange, StoreError, StoreExt as _};
use guerdon_domain::providers::{self, Provider};
use guerdon_domain::recognitions::{SendError, Sender};
use guerdon_domain::values::ProviderId;

use crate::support::{World, on_each};

fn another(world: &World) -> ProviderId {
    let id = ProviderId::from_uuid(world.context().ids.next());
    let provider = Provider {
        id,
        name: "Another".into(),
        api_key: "another".into(),
        api_secret_hash: vec![1; 32],
        shared_secret_sealed: vec![2; 32],
        former_api_secret: None,
        former_shared_secret: None,
        callback_url: None,
        manages_all_domain_resources: true,
        suspended: false,
        created_at: world.context().clock.now(),
    };
    let context = world.context();
    let entry = context.entry(Action::ProviderCreated).of_provider(provider.id);
    world.store.transaction(|tx| tx.insert_provider(&provider).and_then(|()| tx.note(&entry))).unwrap();
    id
}

#[test]
fn a_move_waits_for_requests_in_flight_and_none_writes_for_the_old_provider_afterwards() {
    on_each(|world| {
        let (ann, other) = (world.user("ann"), another(world));
        world.deposit(100);
        let (kept, is_kept) = channel();
        let (let_go, may_go) = channel::<()>();
        let context = world.context();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let work = world.store.transaction(|tx| -> Result<(), StoreError> {
                    tx.keep_provider(world.company)?;
                    kept.send(()).unwrap();
                    may_go.recv().unwrap();
                    Ok(())
                });
                work.unwrap();
            });
            is_kept.recv().unwrap();
            let moving = scope.spawn(|| {
                world.store.transaction(|tx| -> Result<(), MoveCompanyError> {
                    move_to_provider(tx, world.company, other, &context)
                })
            });
            let provider = || world.reading(|reads| reads.provider_of_company(world.company));
            assert_eq!(provider(), Some(world.provider), "the move waits");
            let_go.send(()).unwrap();
            moving.join().unwrap().unwrap();
            assert_eq!(provider(), Some(other));
        });
        let sent = world.send(Sender::Company(world.company), &[ann], 1);
        assert!(matches!(sent, Err(SendError::Denied(_))));
        let change = ProviderChange { suspended: Some(true), ..ProviderChange::default() };
        world.store.transaction(|tx| providers::change(tx, other, &change, &world.context())).unwrap();
    });
}
