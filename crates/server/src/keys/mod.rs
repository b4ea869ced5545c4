//! The keys that are derived from the master key: one to hash API secrets, and one to encrypt the shared secrets of
//! providers.

mod derived;
mod find;
mod signing;

pub(crate) use derived::{Keys, SecretCipherError};
pub(crate) use find::{
    MASTER_KEY_FILE, check_master_key, find_master_key, open_existing_keys, open_or_create_keys,
    require_master_key, require_matching_master_key,
};
pub(crate) use signing::SigningSecrets;
