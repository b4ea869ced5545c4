//! The bodies of events: compact JSON, the keys in a set order (behaviour 23.3, 23.4).

mod envelope;
mod recognition;
mod redemption;

use guerdon_domain::events::{EventKind, RecognitionEvent, RedemptionEvent};
use guerdon_domain::ports::{EventBodies, Unrenderable};

/// Renders events (behaviour 23.3).
#[derive(Debug, Clone, Copy, Default)]
pub struct Bodies;

impl EventBodies for Bodies {
    fn recognition(&self, kind: EventKind, event: &RecognitionEvent<'_>) -> Result<Vec<u8>, Unrenderable> {
        envelope::render(kind, recognition::Data::of(event))
    }

    fn redemption(&self, event: &RedemptionEvent<'_>) -> Result<Vec<u8>, Unrenderable> {
        envelope::render(EventKind::RedemptionCreated, redemption::Data::of(event))
    }
}
