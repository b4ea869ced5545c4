//! How values look in an answer (behaviour 3).

use std::fmt;

use guerdon_domain::ports::Timestamp;
use guerdon_domain::values::Milliseconds;
use serde::{Serialize, Serializer};

/// A value shown by its `Display`: ids, addresses, dates.
pub(crate) struct Shown<T>(pub(crate) T);

impl<T: fmt::Display> Serialize for Shown<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// An optional value shown by its `Display`, or null.
pub(crate) fn shown<T>(value: Option<T>) -> Option<Shown<T>> {
    value.map(Shown)
}

/// A moment in an answer (behaviour 3.3).
pub(crate) type Moment = Shown<Milliseconds>;

/// Shows a moment.
pub(crate) fn moment(at: Timestamp) -> Moment {
    Shown(Milliseconds(at))
}
