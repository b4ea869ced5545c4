//! Why a request's body ended early.

use std::cell::Cell;
use std::rc::Rc;

/// Why the current body of a connection ended early. The code that frames bodies and the code that reads them share it;
/// both run on one thread.
#[derive(Debug, Clone, Default)]
pub(crate) struct BodyFailure(Rc<Cell<Option<(&'static str, bool)>>>);

impl BodyFailure {
    /// Records the reason as it is sent to the client, and whether a retry of the request can succeed.
    pub(crate) fn set_reason(&self, reason: &'static str, is_temporary: bool) {
        self.0.set(Some((reason, is_temporary)));
    }

    /// The recorded reason.
    pub(crate) fn reason(&self) -> Option<&'static str> {
        self.0.get().map(|(reason, _)| reason)
    }

    /// Whether a retry of the request can succeed.
    pub(crate) fn is_temporary(&self) -> bool {
        self.0.get().is_some_and(|(_, is_temporary)| is_temporary)
    }
}
