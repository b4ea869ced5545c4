#![doc = include_str!("../README.md")]

#[cfg(feature = "use-cases")]
pub mod audit;
#[cfg(feature = "use-cases")]
pub mod audit_log;
#[cfg(feature = "use-cases")]
pub mod causes;
#[cfg(feature = "use-cases")]
pub mod commands;
#[cfg(feature = "use-cases")]
pub mod companies;
#[cfg(feature = "use-cases")]
pub mod corporations;
#[cfg(feature = "use-cases")]
pub mod distributions;
#[cfg(feature = "use-cases")]
pub mod events;
#[cfg(test)]
mod fixture;
#[cfg(feature = "use-cases")]
pub mod idempotency;
#[cfg(feature = "use-cases")]
pub mod ledger;
#[cfg(feature = "use-cases")]
mod look_up;
#[cfg(feature = "memory")]
pub mod memory;
#[cfg(feature = "use-cases")]
mod model;
pub mod money;
#[cfg(feature = "use-cases")]
pub mod occasions;
#[cfg(feature = "use-cases")]
pub mod overrides;
#[cfg(feature = "use-cases")]
pub mod ports;
#[cfg(feature = "use-cases")]
pub mod providers;
#[cfg(feature = "use-cases")]
pub mod recognitions;
#[cfg(feature = "use-cases")]
pub mod redemptions;
#[cfg(feature = "use-cases")]
pub mod reserve;
#[cfg(feature = "use-cases")]
pub mod saml;
#[cfg(feature = "use-cases")]
pub mod statement;
#[cfg(feature = "testing")]
pub mod testing;
#[cfg(feature = "use-cases")]
pub mod users;
pub mod values;
pub mod wallets;
