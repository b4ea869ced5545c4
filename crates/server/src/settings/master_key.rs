//! The master key.

use anyhow::bail;
use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use ring::hmac;
use zeroize::Zeroizing;

/// A key of 256 bits, from which all other keys are derived.
#[derive(Clone)]
pub(crate) struct MasterKey(Zeroizing<[u8; 32]>);

impl std::fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MasterKey(***)")
    }
}

impl MasterKey {
    /// Reads 64 hex digits.
    pub(crate) fn parse(text: &str) -> anyhow::Result<Self> {
        let bytes = HEXLOWER_PERMISSIVE.decode(text.trim().as_bytes()).map(Zeroizing::new);
        match bytes.ok().as_deref().and_then(|bytes| <[u8; 32]>::try_from(bytes.as_slice()).ok()) {
            Some(bytes) => Ok(Self(Zeroizing::new(bytes))),
            None => bail!("master_key must be 64 hex digits"),
        }
    }

    /// Derives the key for one purpose. Keys for different purposes reveal nothing about each other.
    pub(crate) fn derive(&self, purpose: &str) -> Zeroizing<[u8; 32]> {
        let key = hmac::Key::new(hmac::HMAC_SHA256, self.0.as_slice());
        let mut bytes = Zeroizing::new([0; 32]);
        bytes
            .iter_mut()
            .zip(hmac::sign(&key, purpose.as_bytes()).as_ref())
            .for_each(|(to, from)| *to = *from);
        bytes
    }

    /// A public identifier of the key: 16 bytes in hex.
    pub(crate) fn fingerprint(&self) -> String {
        let digest = self.derive("guerdon master key fingerprint");
        HEXLOWER.encode(digest.get(..16).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::MasterKey;

    #[test]
    fn only_64_hex_digits_are_a_key() {
        assert!(MasterKey::parse(&"aB".repeat(32)).is_ok());
        assert!(MasterKey::parse(&format!("{}\n", "00".repeat(32))).is_ok());
        for wrong in ["", "00", &"0".repeat(63), &"0".repeat(66), &"g0".repeat(32), &"é".repeat(32)] {
            assert!(MasterKey::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn fingerprints_of_keys_differ_and_debug_shows_nothing() {
        let (one, other) =
            (MasterKey::parse(&"01".repeat(32)).unwrap(), MasterKey::parse(&"02".repeat(32)).unwrap());
        assert_eq!(one.fingerprint().len(), 32);
        assert_ne!(one.fingerprint(), other.fingerprint());
        assert_eq!(format!("{one:?}"), "MasterKey(***)");
    }
}
