//! # guerdon-domain
//!
//! What Guerdon is about, and nothing else: the points math, the funds rule, wallets and the ledger, companies,
//! users, occasions, recognitions, and the use cases over them. No I/O, no async, no clock, no randomness, no SQL,
//! no JSON, no HTTP status: all of these stand behind the traits in [`ports`], so that the crate serves another
//! tool as it stands.
//!
//! * [`money`] holds the only conversions between points and money, and the arithmetic of a payment.
//! * [`values`] holds one parsed type per kind of value: what exists is valid.
//! * [`ports`] holds what a use case needs from the world: the store, the clock, ids, event bodies.
//! * Every other module is an aggregate: it shows its type, and has one file per use case. A use case is a plain
//!   function over a transaction: it loads through the ports, applies the rules, writes through the ports, and names
//!   those that it needs.
//!
//! Each folder imports only from those before it: `money`, `values`, `wallets`; `model`, the types of the aggregates;
//! `ports`; the use cases. The feature `use-cases`, which is on, has all but the first three and the libraries that they
//! do without; `memory` adds a store in memory with an example; `testing` what every store must do; `serde` what its
//! name says.
//!
//! ```
//! use guerdon_domain::money::{Points, PointsPerDollar};
//! let rate = PointsPerDollar::DEFAULT; // 50 points for a dollar
//! let points = Points::new(125).ok_or("negative")?;
//! let amount = rate.amount(points).ok_or("overflow")?;
//! assert_eq!(amount.nanodollars(), 2_500_000_000); // 2.50 dollars
//! assert_eq!(rate.points(amount), points);
//! # Ok::<(), &str>(())
//! ```
//!
//! To add a use case: give it a file in its aggregate, an error enum of its own that says every way it can refuse,
//! and the port methods it lacks in `ports/`; each adapter then fails to compile until it has them. One over what
//! `ports::Ledger` has gets its cases in `testing/`, which run on every store.

#[cfg(feature = "use-cases")]
pub mod audit;
#[cfg(feature = "use-cases")]
pub mod causes;
#[cfg(feature = "use-cases")]
pub mod companies;
#[cfg(feature = "use-cases")]
pub mod corporations;
#[cfg(feature = "use-cases")]
pub mod distributions;
#[cfg(feature = "use-cases")]
pub mod events;
#[cfg(feature = "use-cases")]
pub mod idempotency;
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
#[cfg(feature = "testing")]
pub mod testing;
#[cfg(feature = "use-cases")]
pub mod users;
pub mod values;
pub mod wallets;
