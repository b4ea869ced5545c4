//! The limits of a payment and the funds rule.

use super::{Amount, Points, PointsPerDollar};

/// The hard limit of a recognition, in dollars (behaviour 15.5).
const DOLLARS_MAX: i64 = 5_000;

/// The range of points that a receiver may get: A and B in the error message (behaviour 15.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PointsRange {
    /// A: 1, or 0 if the company may send recognitions of zero points.
    pub min: Points,
    /// B: 5,000 dollars in points.
    pub max: Points,
}

impl PointsRange {
    /// Whether `points` is in the range, including its ends.
    pub fn contains(&self, points: Points) -> bool {
        self.min <= points && points <= self.max
    }
}

/// The range of points per receiver for a company with this rate and this option.
pub fn points_range(rate: PointsPerDollar, allow_zero: bool) -> PointsRange {
    let min = if allow_zero { 0 } else { 1 };
    // Both numbers are small and positive for every rate, so the fallback is never used.
    let points = |count| Points::new(count).unwrap_or(Points::ZERO);
    PointsRange { min: points(min), max: points(DOLLARS_MAX * rate.get()) }
}

/// The price of a payment of the same points to each of n receivers (behaviour 16.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    /// What each receiver is credited.
    pub each: Amount,
    /// What the payer is debited: n × `each`, so that a payment neither creates nor destroys money.
    pub total: Amount,
    /// The minimum balance of the payer: the smallest balance that shows `points_total`. Zero or less for a
    /// payment of zero points, which every payer can make.
    pub threshold: Amount,
    /// The total points: n × the points for each receiver.
    pub points_total: Points,
}

impl Price {
    /// The price of moving an exact amount, shown as `points`, to one receiver.
    pub fn for_exact_amount(rate: PointsPerDollar, amount: Amount, points: Points) -> Option<Self> {
        let threshold = rate.min_balance_for_amount(amount)?;
        Some(Self { each: amount, total: amount, threshold, points_total: points })
    }

    /// This price for an outside payer, whose balance may go down to minus `credit_max`: only the threshold
    /// differs.
    pub fn with_credit(self, credit_max: Amount) -> Option<Self> {
        Some(Self { threshold: self.total.checked_sub(credit_max)?, ..self })
    }
}

/// The price of paying `points` to each of `receivers`; `None` on overflow, or if `receivers` is negative.
///
/// ```
/// use guerdon_domain::money::{Amount, Points, PointsPerDollar, payment_price, rounding_shortfall};
/// let rate = PointsPerDollar::new(6).ok_or("out of range")?;
/// let price = payment_price(rate, Points::new(1).ok_or("negative")?, 6).ok_or("overflow")?;
/// assert_eq!(price.each.nanodollars(), 166_666_667);
/// assert_eq!(price.total.nanodollars(), 1_000_000_002);
/// assert_eq!(price.threshold.nanodollars(), 999_900_000); // six points, less a hundredth of a cent
///
/// // A payer with exactly a dollar shows six points, so it can pay them: the company adds 2 nano-dollars.
/// let dollar = Amount::from_nanodollars(1_000_000_000);
/// assert_eq!(rounding_shortfall(&price, dollar), Some(Amount::from_nanodollars(2)));
/// assert_eq!(rounding_shortfall(&price, Amount::from_nanodollars(999_899_999)), None); // shows five
/// # Ok::<(), &str>(())
/// ```
pub fn payment_price(rate: PointsPerDollar, points: Points, receivers: i64) -> Option<Price> {
    let points_total = points.checked_mul(receivers)?;
    let each = rate.to_amount(points)?;
    Some(Price {
        each,
        total: each.checked_mul(receivers)?,
        threshold: rate.min_balance(points_total)?,
        points_total,
    })
}

/// What the company's outside account `rounding` must add to a payer's balance before the payment, so that
/// the payer ends at zero or above; usually zero. `None` means insufficient funds (behaviour 16.5).
pub fn rounding_shortfall(price: &Price, balance: Amount) -> Option<Amount> {
    if balance < price.threshold {
        None
    } else if balance >= price.total {
        Some(Amount::ZERO)
    } else {
        price.total.checked_sub(balance)
    }
}
