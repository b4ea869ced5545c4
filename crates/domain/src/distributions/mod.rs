//! Distributions: points from a company's reserve to many wallets at once (spec §2.6, contract §9).

mod run;

pub use run::{DistributeError, Distribution, RunDistribution, run};
