//! Overrides: what a wallet holds, replaced by the operator (`docs/specified-behaviour.md`, points).

mod replace;

pub use replace::{ReplaceBalance, ReplaceError};
