//! The bodies of events: compact JSON, the keys in the spec's order.

mod envelope;
mod recognition;
mod redemption;

use guerdon_domain::events::{RecognitionEvent, RedemptionEvent};
use guerdon_domain::ports::{EventBodies, EventKind};

/// Renders events as spec §6.3 and §6.4 show them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bodies;

impl EventBodies for Bodies {
    fn recognition(&self, kind: EventKind, event: &RecognitionEvent<'_>) -> Vec<u8> {
        envelope::render(kind, recognition::Data::of(event))
    }

    fn redemption(&self, event: &RedemptionEvent<'_>) -> Vec<u8> {
        envelope::render(EventKind::RedemptionCreated, redemption::Data::of(event))
    }
}
