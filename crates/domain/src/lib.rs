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
//! * Every other module is an aggregate: its type, and one file per use case. A use case is a plain function over
//!   a transaction: it loads through the ports, applies the rules, writes through the ports.
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
//! and the port methods it lacks in `ports/`; each adapter then fails to compile until it has them.

pub mod audit;
pub mod causes;
pub mod companies;
pub mod corporations;
pub mod distributions;
pub mod events;
pub mod idempotency;
#[cfg(feature = "memory")]
pub mod memory;
pub mod money;
pub mod occasions;
pub mod ports;
pub mod providers;
pub mod recognitions;
pub mod redemptions;
pub mod reserve;
pub mod saml;
#[cfg(feature = "testing")]
pub mod testing;
pub mod users;
pub mod values;
pub mod wallets;
