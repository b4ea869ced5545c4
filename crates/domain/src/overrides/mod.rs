//! Overrides: the operator replaces the balance of a wallet (`docs/specified-behaviour.md`, points).

mod replace;

pub use replace::{ReplaceBalance, ReplaceError};
