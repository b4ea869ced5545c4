//! What is wrong with a body that is under way.

use std::cell::Cell;
use std::rc::Rc;

/// Between whoever frames the bodies of a connection and whoever reads them, on the one thread of both: why the body that
/// is under way ended before its end.
#[derive(Debug, Clone, Default)]
pub(crate) struct BodyFault(Rc<Cell<Option<&'static str>>>);

impl BodyFault {
    /// Says what is wrong, as the client is told.
    pub(crate) fn say(&self, what: &'static str) {
        self.0.set(Some(what));
    }

    /// What was said.
    pub(crate) fn said(&self) -> Option<&'static str> {
        self.0.get()
    }
}
