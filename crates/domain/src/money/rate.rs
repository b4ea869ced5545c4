//! A company's conversion rate.

use super::{Amount, Points};

const NANODOLLARS_PER_DOLLAR: i64 = 1_000_000_000;
/// A hundredth of a dollar's worth of points is this many nano-dollars, divided by the rate.
const HUNDREDTH_OF_A_DOLLAR: i64 = 10_000_000;
/// A hundredth of a cent.
const TOLERANCE_MAX: i64 = 100_000;

/// How many points a dollar buys: 1 to 10,000 (contract §4.3), 50 where a company says nothing (spec §8).
///
/// It holds the only conversions between points and money (contract §5.1).
///
/// ```
/// use guerdon_domain::money::{Amount, Points, PointsPerDollar};
/// let three = PointsPerDollar::new(3).ok_or("out of range")?;
/// let point = three.amount(Points::new(1).ok_or("negative")?).ok_or("overflow")?;
/// assert_eq!(point.nanodollars(), 333_333_333); // a third of a dollar is no whole number of nano-dollars
///
/// // Three single points make 999,999,999 nano-dollars; the tolerance lets the wallet show all three.
/// let wallet = point.checked_mul(3).ok_or("overflow")?;
/// assert_eq!(three.points(wallet).get(), 3);
/// assert_eq!(PointsPerDollar::new(10_001), None);
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PointsPerDollar(i64);

impl PointsPerDollar {
    /// The rate of a company that was created without one: 50.
    pub const DEFAULT: Self = Self(50);

    /// A rate, or `None` outside 1 to 10,000.
    pub const fn new(points: i64) -> Option<Self> {
        if points < 1 || points > 10_000 { None } else { Some(Self(points)) }
    }

    /// The points that a dollar buys.
    pub const fn get(self) -> i64 {
        self.0
    }

    /// What so many points are worth, rounded half to even; `None` where that is more than an [`Amount`] holds.
    pub fn amount(self, points: Points) -> Option<Amount> {
        let rate = i128::from(self.0);
        let numerator = i128::from(points.get()) * i128::from(NANODOLLARS_PER_DOLLAR);
        let (floor, rest) = (numerator / rate, numerator % rate);
        let is_up = match (2 * rest).cmp(&rate) {
            std::cmp::Ordering::Less => false,
            std::cmp::Ordering::Equal => floor % 2 == 1,
            std::cmp::Ordering::Greater => true,
        };
        i64::try_from(floor + i128::from(is_up)).ok().map(Amount::from_nanodollars)
    }

    /// What may be missing from a wallet that still shows a point: a hundredth of a point and at most a hundredth
    /// of a cent, in whole nano-dollars, rounded down. It absorbs the rounding of [`Self::amount`].
    pub fn tolerance(self) -> Amount {
        Amount::from_nanodollars((HUNDREDTH_OF_A_DOLLAR / self.0).min(TOLERANCE_MAX))
    }

    /// What a balance shows: the largest P ≥ 0 with `amount(P)` less the tolerance not above the balance; 0 for a
    /// negative balance. Exact for every `i64`: this inverts the rounding instead of trying values.
    pub fn points(self, balance: Amount) -> Points {
        if balance.is_negative() {
            return Points::ZERO;
        }
        // amount(P) ≤ limit holds up to P × 10⁹ / rate = limit + ½; that half itself rounds down to an even limit only.
        let limit = i128::from(balance.nanodollars()) + i128::from(self.tolerance().nanodollars());
        let numerator = (2 * limit + 1) * i128::from(self.0);
        let denominator = 2 * i128::from(NANODOLLARS_PER_DOLLAR);
        let is_rounded_up = numerator % denominator == 0 && limit % 2 == 1;
        let points = numerator / denominator - i128::from(is_rounded_up);
        // At the highest rate this is some 9 × 10¹³, so that the fallbacks are never taken.
        Points::new(i64::try_from(points).unwrap_or(i64::MAX)).unwrap_or(Points::ZERO)
    }
}

impl Default for PointsPerDollar {
    fn default() -> Self {
        Self::DEFAULT
    }
}
