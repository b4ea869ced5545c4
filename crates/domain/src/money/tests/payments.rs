//! The funds rule and the price of a payment.

use proptest::prelude::*;

use super::*;
use crate::money::{payment_price, points_range, rounding_shortfall};

/// Pays `count` points to each of `receivers` from `balance`. Returns the changes of the payer, the receivers
/// and `rounding`, or `None` for insufficient funds.
fn pay_from_balance(
    rate: PointsPerDollar,
    count: i64,
    receivers: i64,
    balance: Amount,
) -> Option<(Amount, Amount, Amount)> {
    let price = payment_price(rate, points(count), receivers).unwrap();
    let given = rounding_shortfall(&price, balance)?;
    let payer = balance.checked_add(given).unwrap().checked_sub(price.total).unwrap();
    let rounding = Amount::ZERO.checked_sub(given).unwrap();
    Some((payer, price.each.checked_mul(receivers).unwrap(), rounding))
}

#[test]
fn the_range_is_from_a_to_5_000_dollars_in_points() {
    let check = |r, allow_zero, min, max| {
        let range = points_range(rate(r), allow_zero);
        assert_eq!((range.min.get(), range.max.get()), (min, max), "{r}");
        assert!(range.contains(points(min)) && range.contains(points(max)), "{r}");
        assert!(!range.contains(points(max + 1)), "{r}");
        assert_eq!(range.contains(Points::ZERO), allow_zero, "{r}");
    };
    check(50, false, 1, 250_000);
    check(50, true, 0, 250_000);
    check(1, false, 1, 5_000);
    check(10_000, true, 0, 50_000_000);
}

#[test]
fn a_payer_that_shows_exactly_enough_can_pay_and_one_with_a_point_less_cannot() {
    for rate in every_rate() {
        for (count, receivers) in [(1, 1), (1, 3), (7, 11), (hard_limit(rate), 1), (3, 10_000)] {
            let price = payment_price(rate, points(count), receivers).unwrap();
            assert_eq!(
                rate.shown_points(price.threshold),
                price.points_total,
                "{count} × {receivers} at {rate:?}"
            );
            assert!(
                rounding_shortfall(&price, price.threshold).is_some(),
                "{count} × {receivers} at {rate:?}"
            );
            let less = price.threshold.checked_sub(nanodollars(1)).unwrap();
            assert_eq!(rate.shown_points(less).get(), price.points_total.get() - 1, "{rate:?}");
            assert_eq!(rounding_shortfall(&price, less), None, "{count} × {receivers} at {rate:?}");
        }
    }
}

#[test]
fn zero_points_cost_nothing_and_move_no_money() {
    for rate in every_rate() {
        let price = payment_price(rate, Points::ZERO, 10_000).unwrap();
        assert_eq!((price.each, price.total, price.points_total), (Amount::ZERO, Amount::ZERO, Points::ZERO));
        assert!(price.threshold <= Amount::ZERO);
        assert_eq!(rounding_shortfall(&price, Amount::ZERO), Some(Amount::ZERO));
        assert_eq!(rounding_shortfall(&price, nanodollars(i64::MAX)), Some(Amount::ZERO));
    }
}

#[test]
fn a_payment_that_overflows_has_no_price() {
    let check = |r, count, receivers, expected: bool| {
        assert_eq!(
            payment_price(rate(r), points(count), receivers).is_some(),
            expected,
            "{count} × {receivers} at {r}"
        );
    };
    check(50, 250_000, 10_000, true);
    check(10_000, 50_000_000, 10_000, true);
    check(1, 5_000, 10_000, true);
    check(1, 9_223_372_036, 1, true);
    check(1, 9_223_372_037, 1, false);
    check(1, 1 << 31, 1, true);
    check(1, 1 << 31, 1 << 31, false);
    check(1, 1 << 53, 1, false);
    check(10_000, 1 << 53, 1, false);
    check(10_000, i64::MAX, 1, false);
    check(10_000, 2, i64::MAX, false);
    check(10_000, 1, i64::MAX, false);
    check(50, 1, -1, false);
    check(50, 0, -1, false);
    check(50, 1, 0, true);
}

#[test]
fn a_payer_below_the_price_by_less_than_the_tolerance_ends_at_zero() {
    // At 6 points per dollar each point costs 166,666,667, so six of them cost 2 more than a dollar.
    let check = |balance, expected: Option<(i64, i64)>| {
        let outcome = pay_from_balance(rate(6), 1, 6, nanodollars(balance));
        let nanodollars = outcome.map(|(payer, _, rounding)| (payer.nanodollars(), rounding.nanodollars()));
        assert_eq!(nanodollars, expected, "{balance}");
    };
    check(1_000_000_003, Some((1, 0)));
    check(1_000_000_002, Some((0, 0)));
    check(1_000_000_000, Some((0, -2)));
    check(999_900_000, Some((0, -100_002)));
    check(999_899_999, None);
    check(0, None);
    check(-1, None);
}

proptest! {
    #[test]
    fn shown_points_can_be_paid_in_any_split_at_every_rate(
        r in 1..=10_000_i64, receivers in 1..=10_000_i64, count in 1..=50_000_000_i64, short in 0..=100_000_i64,
    ) {
        let rate = rate(r);
        let count = count.min(hard_limit(rate));
        let full = rate.to_amount(points(count * receivers)).unwrap();
        let min = rate.min_balance(points(count * receivers)).unwrap();
        let balance = full.checked_sub(nanodollars(short)).unwrap().max(min);
        prop_assert!(rate.shown_points(balance).get() >= count * receivers);
        let (payer, _, rounding) = pay_from_balance(rate, count, receivers, balance).unwrap();
        prop_assert!(!payer.is_negative());
        // The company never adds more than the tolerance and half a nano-dollar for each rounding.
        let rounding_max = expected_scaled_tolerance(rate) / i128::from(rate.get()) + i128::from(receivers) / 2 + 1;
        prop_assert!(i128::from(-rounding.nanodollars()) <= rounding_max);
    }

    #[test]
    fn exactly_the_shown_points_can_be_paid(
        r in 1..=10_000_i64, receivers in 1..=100_i64, count in 1..=1_000_i64, balance in 0..=1_000_000_000_000_i64,
    ) {
        let shows_enough = rate(r).shown_points(nanodollars(balance)).get() >= count * receivers;
        prop_assert_eq!(pay_from_balance(rate(r), count, receivers, nanodollars(balance)).is_some(), shows_enough);
    }

    #[test]
    fn a_payment_neither_creates_nor_destroys_money(
        r in 1..=10_000_i64, receivers in 1..=100_i64, count in 0..=1_000_i64, balance in 0..=i64::MAX,
    ) {
        if let Some((payer, received, rounding)) = pay_from_balance(rate(r), count, receivers, nanodollars(balance)) {
            let after = payer.checked_add(received).unwrap().checked_add(rounding);
            // The three parts are in three accounts, so a sum above the largest amount is not a failure.
            prop_assert!(after.is_none_or(|after| after == nanodollars(balance)));
            prop_assert!(!payer.is_negative() && !received.is_negative() && rounding <= Amount::ZERO);
        }
    }
}
