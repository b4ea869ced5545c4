//! Runs the contract tests of journals on the journal in memory.

use guerdon_domain::events::EventState;
use guerdon_domain::ports::Timestamp;
use guerdon_domain::providers::Provider;
use guerdon_domain::values::{EventId, ProviderId};

use super::journal::Memory;
use super::provider;
use crate::dispatcher::journal::Journal;
use crate::testing::{Bench, Case, Delivery};

impl Bench for Memory {
    fn journal(&self) -> &dyn Journal {
        self
    }

    fn add_provider(&self, id: ProviderId) {
        self.with(|book| book.providers.insert(id, Provider { id, ..provider(0) }));
    }

    fn suspend(&self, id: ProviderId, suspended: bool) {
        self.with(|book| book.providers.get_mut(&id).unwrap().suspended = suspended);
    }

    fn add_event(&self, id: EventId, provider: ProviderId, due: Timestamp) {
        self.add_to(id, provider, due);
    }

    fn replay(&self, id: EventId, now: Timestamp) {
        Memory::replay(self, id, now);
    }

    fn break_event(&self, id: Option<EventId>) {
        self.with(|book| book.refuses = id);
    }

    fn delivery(&self, id: EventId) -> Delivery {
        self.with(|book| {
            let row = &book.rows[&id];
            let mut recorded: Vec<_> =
                row.attempts.iter().map(|attempt| (attempt.number, attempt.id)).collect();
            recorded.sort_unstable();
            Delivery {
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

fn run(case: Case) {
    case(&Memory::default());
}

crate::journal_contract!(crate::dispatcher::core::tests::contract::run);
