//! Redemptions: a user spends points on a reward, and may get them back (spec §2.6, contract §9).

mod create;
mod refund;

pub use create::{RedeemError, create};
pub use refund::{RefundError, refund};

pub use crate::model::Redemption;
