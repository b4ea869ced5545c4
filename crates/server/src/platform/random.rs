//! Random bytes, names and secrets, from the operating system.

use anyhow::anyhow;
use data_encoding::HEXLOWER;
use ring::rand::{SecureRandom, SystemRandom};
use zeroize::Zeroizing;

use crate::platform::SecretText;

/// Random bytes.
pub(crate) fn generate_bytes<const N: usize>() -> anyhow::Result<[u8; N]> {
    let mut bytes = [0; N];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_unspecified| anyhow!("the operating system returned no random bytes"))?;
    Ok(bytes)
}

/// Returns a name that cannot be guessed: the prefix followed by 128 random bits in hex.
pub(crate) fn generate_name(prefix: &str) -> anyhow::Result<String> {
    Ok(format!("{prefix}{}", HEXLOWER.encode(&generate_bytes::<16>()?)))
}

/// Returns the prefix followed by 256 random bits in hex.
pub(crate) fn generate_secret(prefix: &str) -> anyhow::Result<SecretText> {
    let bytes = Zeroizing::new(generate_bytes::<32>()?);
    let digits = Zeroizing::new(HEXLOWER.encode(bytes.as_slice()));
    Ok(SecretText::new(format!("{prefix}{}", digits.as_str())))
}
