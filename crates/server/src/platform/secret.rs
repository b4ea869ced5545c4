//! Secret text: `Debug` shows none of it, and it is erased from memory when it is dropped.

use zeroize::Zeroizing;

#[derive(Clone)]
pub(crate) struct SecretText(Zeroizing<String>);

impl SecretText {
    /// Wraps a text that is secret.
    pub(crate) fn new(text: String) -> Self {
        Self(Zeroizing::new(text))
    }

    /// The text itself.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for SecretText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SecretText(***)")
    }
}
