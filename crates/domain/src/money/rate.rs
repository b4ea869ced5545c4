//! A company's conversion rate.

use super::amount::NANODOLLARS_PER_DOLLAR;
use super::whole_number::whole_number;
use super::{Amount, InvalidNumber, Points};

/// A hundredth of a point, times the rate, in nano-dollars × points per dollar.
const HUNDREDTH_OF_A_POINT_SCALED: i64 = 10_000_000;
/// A hundredth of a cent in nano-dollars. The smaller of the two limits is the tolerance.
const HUNDREDTH_OF_A_CENT_NANODOLLARS: i64 = 100_000;

/// A number of points per dollar: 1 to 10,000, by default 50 (behaviour 8.11, 11.1).
///
/// This type has the only conversions between points and money (behaviour 16.5).
///
/// ```
/// use guerdon_domain::money::{Amount, Points, PointsPerDollar};
/// let three = PointsPerDollar::new(3).ok_or("out of range")?;
/// let point = three.to_amount(Points::new(1).ok_or("negative")?).ok_or("overflow")?;
/// assert_eq!(point.nanodollars(), 333_333_333); // a third of a dollar is not a whole number of nano-dollars
///
/// // Three single points make 999,999,999 nano-dollars; the tolerance lets the wallet show all three.
/// let wallet = point.checked_mul(3).ok_or("overflow")?;
/// assert_eq!(three.shown_points(wallet).get(), 3);
/// assert_eq!(PointsPerDollar::new(10_001), None);
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "i64", into = "i64")
)]
pub struct PointsPerDollar(i64);

impl PointsPerDollar {
    /// The rate of a company that was created without one: 50.
    pub const DEFAULT: Self = Self(50);

    /// The maximum number of points per dollar.
    pub const MAX: i64 = 10_000;

    /// A rate, or `None` outside 1 to 10,000.
    pub const fn new(points: i64) -> Option<Self> {
        if points < 1 || points > Self::MAX { None } else { Some(Self(points)) }
    }

    /// The number of points per dollar.
    pub const fn get(self) -> i64 {
        self.0
    }

    /// The value of points, rounded half to even; `None` if it exceeds the largest [`Amount`].
    pub fn to_amount(self, points: Points) -> Option<Amount> {
        let nanodollars = i128::from(points.get()) * i128::from(NANODOLLARS_PER_DOLLAR);
        i64::try_from(divide_half_even(nanodollars, self.0.into())).ok().map(Amount::from_nanodollars)
    }

    /// The points that an amount is worth exactly; `None` if that is not a whole number of points, or
    /// negative.
    pub fn to_whole_points(self, amount: Amount) -> Option<Points> {
        let scaled = i128::from(amount.nanodollars()) * i128::from(self.0);
        let whole = scaled % i128::from(NANODOLLARS_PER_DOLLAR) == 0;
        let points = i64::try_from(scaled / i128::from(NANODOLLARS_PER_DOLLAR)).ok();
        points.filter(|_| whole).and_then(Points::new)
    }

    /// The tolerance, which is the largest shortfall at which a wallet still shows a point, times the rate. The product
    /// is a whole number (behaviour 16.5).
    fn scaled_tolerance(self) -> i128 {
        i128::from(HUNDREDTH_OF_A_POINT_SCALED.min(HUNDREDTH_OF_A_CENT_NANODOLLARS * self.0))
    }

    /// The points that a balance shows: the largest P ≥ 0 whose worth, P × 10⁹ / rate, less the tolerance
    /// does not exceed the balance; 0 for a negative balance. Exact for every `i64`: only the result is
    /// rounded, down.
    pub fn shown_points(self, balance: Amount) -> Points {
        if balance.is_negative() {
            return Points::ZERO;
        }
        let scaled = i128::from(balance.nanodollars()) * i128::from(self.0) + self.scaled_tolerance();
        // At the highest rate this is about 9 × 10¹³, so the fallbacks are never used.
        let points = i64::try_from(scaled / i128::from(NANODOLLARS_PER_DOLLAR)).unwrap_or(i64::MAX);
        Points::new(points).unwrap_or(Points::ZERO)
    }

    /// The smallest balance that shows these points: their worth less the tolerance, rounded up. Negative for
    /// zero points. `None` if it exceeds the largest [`Amount`].
    pub fn min_balance(self, points: Points) -> Option<Amount> {
        self.less_tolerance(i128::from(points.get()) * i128::from(NANODOLLARS_PER_DOLLAR))
    }

    /// An exact amount less the tolerance, rounded up. A payer of the amount must hold at least this balance.
    pub(super) fn min_balance_for_amount(self, amount: Amount) -> Option<Amount> {
        self.less_tolerance(i128::from(amount.nanodollars()) * i128::from(self.0))
    }

    /// Subtracts the tolerance from an amount, and rounds up. `scaled` is the amount times the rate.
    fn less_tolerance(self, scaled: i128) -> Option<Amount> {
        let (rate, scaled) = (i128::from(self.0), scaled - self.scaled_tolerance());
        let rounding = i128::from(scaled.rem_euclid(rate) > 0);
        i64::try_from(scaled.div_euclid(rate) + rounding).ok().map(Amount::from_nanodollars)
    }
}

/// The quotient of a non-negative numerator and a positive divisor, rounded half to even.
pub(super) fn divide_half_even(numerator: i128, divisor: i128) -> i128 {
    let (floor, rest) = (numerator / divisor, numerator % divisor);
    let rounds_up = rest * 2 > divisor || (rest * 2 == divisor && floor % 2 == 1);
    floor + i128::from(rounds_up)
}

impl Default for PointsPerDollar {
    fn default() -> Self {
        Self::DEFAULT
    }
}

whole_number!(PointsPerDollar, "a rate of 1 to 10,000 points per dollar");
