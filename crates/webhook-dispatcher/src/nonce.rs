//! Nonces (behaviour 23.5).

use std::fmt;

use ring::rand::{SecureRandom, SystemRandom};

/// The source of nonces.
pub trait NonceSource: Send + Sync {
    /// Returns 128 fresh, unpredictable bits.
    ///
    /// # Errors
    ///
    /// If the system provides no randomness.
    fn next_nonce(&self) -> Result<[u8; 16], NoRandomness>;
}

/// The system provides no randomness, so nothing can be signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the operating system returned no random bytes")]
pub struct NoRandomness;

/// The operating system's random number generator.
#[derive(Clone)]
pub struct SystemNonces(SystemRandom);

impl Default for SystemNonces {
    fn default() -> Self {
        Self(SystemRandom::new())
    }
}

impl fmt::Debug for SystemNonces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SystemNonces")
    }
}

impl NonceSource for SystemNonces {
    fn next_nonce(&self) -> Result<[u8; 16], NoRandomness> {
        let mut nonce = [0; 16];
        self.0.fill(&mut nonce).map_err(|_unspecified| NoRandomness)?;
        Ok(nonce)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{NonceSource, SystemNonces};

    #[test]
    fn nonces_do_not_repeat() {
        let nonces = SystemNonces::default();
        let many: HashSet<_> = (0..1_000_000).map(|_| nonces.next_nonce().unwrap()).collect();
        assert_eq!(many.len(), 1_000_000);
    }
}
