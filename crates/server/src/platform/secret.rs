//! A secret string: `Debug` does not show it, and it is erased from memory when it is dropped. The crate `zeroize`
//! erases it; the crate `secrecy` would add only this type.

use zeroize::Zeroizing;

#[derive(Clone)]
pub(crate) struct SecretText(Zeroizing<String>);

impl SecretText {
    /// Wraps a secret string.
    pub(crate) fn new(text: String) -> Self {
        Self(Zeroizing::new(text))
    }

    /// The string itself.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for SecretText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SecretText(***)")
    }
}
