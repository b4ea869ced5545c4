//! The master key and what is derived from it: the pepper of the API secrets and the key that seals the shared ones.

mod derived;
mod find;
mod signing;

pub(crate) use derived::{Keys, SealedError};
pub(crate) use find::{FILE, given, in_file, is_own, look_up, require, require_own, settle};
pub(crate) use signing::SigningSecrets;
