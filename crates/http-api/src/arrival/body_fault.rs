//! Why a request's body ended early.

use std::cell::Cell;
use std::rc::Rc;

/// Why the current body of a connection ended early. Shared, on one thread, by the code that frames bodies and the code that reads
/// them.
#[derive(Debug, Clone, Default)]
pub(crate) struct BodyFault(Rc<Cell<Option<Fault>>>);

#[derive(Debug, Clone, Copy)]
struct Fault {
    what: &'static str,
    is_for_now: bool,
}

impl BodyFault {
    /// Records the reason, as the client will read it, and whether a retry of the request can succeed.
    pub(crate) fn say(&self, what: &'static str, is_for_now: bool) {
        self.0.set(Some(Fault { what, is_for_now }));
    }

    /// The recorded reason.
    pub(crate) fn said(&self) -> Option<&'static str> {
        self.0.get().map(|fault| fault.what)
    }

    /// Whether a retry of the request can succeed.
    pub(crate) fn is_for_now(&self) -> bool {
        self.0.get().is_some_and(|fault| fault.is_for_now)
    }
}
