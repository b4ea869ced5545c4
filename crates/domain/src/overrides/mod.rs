//! Overrides: the operator sets the balance of a wallet (behaviour 17.7).

mod override_balance;

pub use override_balance::{OverrideBalance, OverrideError};
