//! Who counts.

/// Is told what became of attempts; for metrics.
pub trait Observer: Send + Sync {
    /// A mail was handed over.
    fn sent(&self) {}

    /// An attempt failed; the mail will be tried again.
    fn failed(&self) {}

    /// An attempt failed, and the mail is not tried again.
    fn given_up(&self) {}
}

/// An observer that counts nothing.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl Observer for Silent {}
