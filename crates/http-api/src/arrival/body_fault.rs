//! What is wrong with a body that is under way.

use std::cell::Cell;
use std::rc::Rc;

/// Between whoever frames the bodies of a connection and whoever reads them, on the one thread of both: why the body that
/// is under way ended before its end.
#[derive(Debug, Clone, Default)]
pub(crate) struct BodyFault(Rc<Cell<Option<Fault>>>);

#[derive(Debug, Clone, Copy)]
struct Fault {
    what: &'static str,
    is_for_now: bool,
}

impl BodyFault {
    /// Says what is wrong, as the client is told, and whether the same request may be served later.
    pub(crate) fn say(&self, what: &'static str, is_for_now: bool) {
        self.0.set(Some(Fault { what, is_for_now }));
    }

    /// What was said.
    pub(crate) fn said(&self) -> Option<&'static str> {
        self.0.get().map(|it| it.what)
    }

    /// Whether the same request may be served later.
    pub(crate) fn is_for_now(&self) -> bool {
        self.0.get().is_some_and(|it| it.is_for_now)
    }
}
