//! Tests of the dispatcher in virtual time. The core, the claim step and the settlements are the production code; the
//! threads, the receivers and the database are simulated.

mod attempts;
mod contract;
mod head_of_line;
mod lost_confirmations;
pub(in crate::dispatcher) mod memory_store;
mod one_core;
mod sharing;
mod simulated_year;
mod simulation;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use guerdon_domain::ports::{IdGenerator, Timestamp};
use guerdon_domain::providers::Provider;
use guerdon_domain::values::{EventId, ProviderId};
use time::macros::datetime;
use uuid::Uuid;

use super::Core;
use crate::dispatcher::claim_step::CoreAccess;
use crate::mutex::lock_mutex;

pub(in crate::dispatcher) const START: Timestamp = Timestamp::new(datetime!(2026-01-01 00:00 UTC));

impl CoreAccess for Mutex<Core> {
    fn with_core<T>(&self, work: impl FnOnce(&mut Core) -> T) -> T {
        work(&mut lock_mutex(self))
    }
}

#[derive(Default)]
pub(in crate::dispatcher) struct SequentialIds(AtomicU64);

impl IdGenerator for SequentialIds {
    fn next_id(&self) -> Uuid {
        Uuid::from_u128(self.0.fetch_add(1, Ordering::Relaxed).into())
    }
}

fn provider_id(number: u64) -> ProviderId {
    ProviderId::from_uuid(Uuid::from_u128(u128::from(number) | 1 << 120))
}

pub(in crate::dispatcher) fn event_id(number: u64) -> EventId {
    EventId::from_uuid(Uuid::from_u128(u128::from(number) | 1 << 121))
}

fn build_provider(number: u64) -> Provider {
    Provider {
        id: provider_id(number),
        name: format!("Provider {number}"),
        api_key: String::new(),
        api_secret_hash: Vec::new(),
        encrypted_shared_secret: Vec::new(),
        former_api_secret: None,
        former_shared_secret: None,
        callback_url: Some(format!("https://{number}.example/hook")),
        manages_all_domain_resources: false,
        suspended: false,
        created_at: START,
    }
}
