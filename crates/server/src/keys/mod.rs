//! The master key and what is derived from it: the pepper of the API secrets and the key that seals the shared ones.

mod derived;
mod find;
mod master;

pub use derived::{Keys, SealedError};
pub use find::{require, settle};
pub use master::MasterKey;
