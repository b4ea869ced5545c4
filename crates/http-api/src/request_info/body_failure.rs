//! Why a request's body ended early.

use std::cell::Cell;
use std::rc::Rc;

/// Why the current body of a connection ended early. The code that frames bodies and the code that reads them share it;
/// both run on one thread.
#[derive(Debug, Clone, Default)]
pub(crate) struct BodyFailure(Rc<Cell<Option<BodyFault>>>);

/// A fault of a body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BodyFault {
    /// The reason as it is sent to the client.
    pub(crate) reason: &'static str,
    /// Whether a retry of the request can succeed.
    pub(crate) is_temporary: bool,
    /// Whether the end of the body is missing.
    pub(crate) is_incomplete: bool,
}

impl BodyFailure {
    pub(crate) fn set_fault(&self, fault: BodyFault) {
        self.0.set(Some(fault));
    }

    /// The recorded fault.
    pub(crate) fn fault(&self) -> Option<BodyFault> {
        self.0.get()
    }
}
