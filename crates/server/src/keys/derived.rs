//! The keys that are derived from the master key.

use guerdon_domain::values::ProviderId;
use guerdon_http_api::SecretVerifier;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hmac;
use zeroize::Zeroizing;

use crate::platform::SecretText;
use crate::platform::random;
use crate::settings::MasterKey;

/// The keys that hash API secrets and encrypt shared secrets.
pub(crate) struct Keys {
    pepper: hmac::Key,
    secret_cipher: LessSafeKey,
    fingerprint: String,
}

/// A shared secret could not be encrypted, or could not be decrypted because it is damaged or was encrypted with
/// another key or for another provider.
#[derive(Debug)]
pub(crate) struct SecretCipherError;

impl std::fmt::Display for SecretCipherError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a shared secret cannot be encrypted or decrypted with this master key")
    }
}

impl std::error::Error for SecretCipherError {}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keys").field("fingerprint", &self.fingerprint).finish_non_exhaustive()
    }
}

impl Keys {
    /// Derives the keys from a master key.
    pub(crate) fn derive(master: &MasterKey) -> anyhow::Result<Self> {
        let secret_cipher =
            UnboundKey::new(&AES_256_GCM, master.derive("guerdon shared secret sealing").as_slice())
                .map_err(|cause| {
                    anyhow::anyhow!("cannot set up the encryption of shared secrets: {cause}")
                })?;
        Ok(Self {
            pepper: hmac::Key::new(hmac::HMAC_SHA256, master.derive("guerdon api secret pepper").as_slice()),
            secret_cipher: LessSafeKey::new(secret_cipher),
            fingerprint: master.fingerprint(),
        })
    }

    /// The master key's fingerprint.
    pub(crate) fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Hashes an API secret for the database. A slow hash is unnecessary, because the secret has 256 random bits.
    pub(crate) fn hash_secret(&self, secret: &SecretText) -> Vec<u8> {
        hmac::sign(&self.pepper, secret.expose().as_bytes()).as_ref().to_vec()
    }

    /// Encrypts a provider's shared secret. The result consists of a random nonce, the ciphertext and a tag, and is
    /// bound to the provider.
    pub(crate) fn encrypt_secret(
        &self,
        provider: ProviderId,
        secret: &SecretText,
    ) -> Result<Vec<u8>, SecretCipherError> {
        let nonce = random::generate_bytes::<NONCE_LEN>().map_err(|_cause| SecretCipherError)?;
        let mut text = secret.expose().as_bytes().to_vec();
        let associated = Aad::from(*provider.as_uuid().as_bytes());
        self.secret_cipher
            .seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), associated, &mut text)
            .map_err(|_unspecified| SecretCipherError)?;
        Ok([nonce.as_slice(), &text].concat())
    }

    /// Decrypts a shared secret. Fails if the secret is damaged, or was encrypted with another key or for another
    /// provider.
    pub(crate) fn decrypt_secret(
        &self,
        provider: ProviderId,
        sealed: &[u8],
    ) -> Result<SecretText, SecretCipherError> {
        let (nonce, text) = sealed.split_first_chunk::<NONCE_LEN>().ok_or(SecretCipherError)?;
        let mut text = Zeroizing::new(text.to_vec());
        let associated = Aad::from(*provider.as_uuid().as_bytes());
        let plain = self
            .secret_cipher
            .open_in_place(Nonce::assume_unique_for_key(*nonce), associated, &mut text)
            .map_err(|_unspecified| SecretCipherError)?;
        let plain = std::str::from_utf8(plain).map_err(|_not_utf8| SecretCipherError)?;
        Ok(SecretText::new(plain.to_owned()))
    }
}

impl SecretVerifier for Keys {
    /// Compares an API secret with its hash in constant time.
    fn verify_secret(&self, secret: &str, hash: &[u8]) -> bool {
        hmac::verify(&self.pepper, secret.as_bytes(), hash).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use guerdon_domain::values::ProviderId;
    use guerdon_http_api::SecretVerifier;
    use uuid::Uuid;

    use super::Keys;
    use crate::platform::SecretText;
    use crate::settings::MasterKey;

    fn derive_keys(digits: &str) -> Keys {
        Keys::derive(&MasterKey::parse(&digits.repeat(32)).unwrap()).unwrap()
    }

    #[test]
    fn a_secret_matches_its_hash_and_no_other() {
        let secret = SecretText::new("gs_secret".into());
        let hash = derive_keys("01").hash_secret(&secret);
        assert!(derive_keys("01").verify_secret("gs_secret", &hash));
        assert!(!derive_keys("01").verify_secret("gs_secreT", &hash));
        assert!(!derive_keys("02").verify_secret("gs_secret", &hash));
        assert!(!derive_keys("01").verify_secret("gs_secret", &[]));
    }

    #[test]
    fn a_secret_is_decrypted_only_for_its_provider_and_with_its_key() {
        let (provider, other) =
            (ProviderId::from_uuid(Uuid::from_u128(1)), ProviderId::from_uuid(Uuid::from_u128(2)));
        let sealed = derive_keys("01").encrypt_secret(provider, &SecretText::new("shared".into())).unwrap();
        assert!(!sealed.windows(6).any(|window| window == b"shared"));
        assert_eq!(derive_keys("01").decrypt_secret(provider, &sealed).unwrap().expose(), "shared");
        assert!(derive_keys("01").decrypt_secret(other, &sealed).is_err());
        assert!(derive_keys("02").decrypt_secret(provider, &sealed).is_err());
        assert!(derive_keys("01").decrypt_secret(provider, &sealed[..5]).is_err());
    }

    #[test]
    fn two_encryptions_of_a_secret_differ() {
        let provider = ProviderId::from_uuid(Uuid::from_u128(1));
        let secret = SecretText::new("shared".into());
        assert_ne!(
            derive_keys("01").encrypt_secret(provider, &secret).unwrap(),
            derive_keys("01").encrypt_secret(provider, &secret).unwrap()
        );
    }
}
