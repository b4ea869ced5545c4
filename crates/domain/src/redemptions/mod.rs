//! Redemptions: a user spends points on a reward, and may get them refunded (behaviour 17.5, 17.7).

mod create;
mod refund;

pub use create::{Redeem, RedeemError};
pub use refund::{Refund, RefundError};

pub use crate::model::Redemption;
