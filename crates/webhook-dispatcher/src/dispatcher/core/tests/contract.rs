//! Runs the contract tests of delivery stores on the store in memory.

use guerdon_domain::events::EventState;
use guerdon_domain::ports::Timestamp;
use guerdon_domain::providers::Provider;
use guerdon_domain::values::{EventId, ProviderId};

use super::build_provider;
use super::memory_store::MemoryDeliveryStore;
use crate::dispatcher::delivery_store::DeliveryStore;
use crate::testing::{ContractCase, DeliveryState, StoreHarness};

impl StoreHarness for MemoryDeliveryStore {
    fn store(&self) -> &dyn DeliveryStore {
        self
    }

    fn add_provider(&self, id: ProviderId) {
        self.with_data(|data| data.providers.insert(id, Provider { id, ..build_provider(0) }));
    }

    fn set_suspended(&self, id: ProviderId, suspended: bool) {
        self.with_data(|data| data.providers.get_mut(&id).unwrap().suspended = suspended);
    }

    fn add_event(&self, id: EventId, provider: ProviderId, due: Timestamp) {
        self.insert_event(id, provider, due);
    }

    fn replay_event(&self, id: EventId, now: Timestamp) {
        MemoryDeliveryStore::replay_event(self, id, now);
    }

    fn break_event(&self, id: Option<EventId>) {
        self.with_data(|data| data.failing_event = id);
    }

    fn load_delivery(&self, id: EventId) -> DeliveryState {
        self.with_data(|data| {
            let row = &data.rows[&id];
            let mut recorded: Vec<_> =
                row.attempts.iter().map(|attempt| (attempt.number, attempt.id)).collect();
            recorded.sort_unstable();
            DeliveryState {
                state: match row.state {
                    EventState::Pending => EventState::Pending,
                    EventState::Delivered => EventState::Delivered,
                    EventState::Exhausted => EventState::Exhausted,
                    EventState::Unaddressed => EventState::Unaddressed,
                },
                attempts: row.attempts_made,
                attempts_before_replay: row.attempts_before_replay,
                due: (row.state == EventState::Pending).then_some(row.due),
                lease: row.lease,
                recorded,
            }
        })
    }
}

fn run_case(case: ContractCase) {
    case(&MemoryDeliveryStore::default());
}

crate::delivery_store_contract!(crate::dispatcher::core::tests::contract::run_case);
