//! How values look in an answer (behaviour 3).

use std::fmt;

use serde::{Serialize, Serializer};

/// A value shown by its `Display`: ids, addresses, dates, moments.
pub(crate) struct Shown<T>(pub(crate) T);

impl<T: fmt::Display> Serialize for Shown<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}
