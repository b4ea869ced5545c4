//! Conversions between points and money.

use proptest::prelude::*;

use super::*;

/// The definition of `shown_points`: P fits and P + 1 does not. Compares exact fractions, multiplied by the
/// rate.
fn is_largest(rate: PointsPerDollar, shown: i64, balance: i64) -> bool {
    let limit = i128::from(balance) * i128::from(rate.get()) + expected_scaled_tolerance(rate);
    let fits = |count: i64| i128::from(count) * 1_000_000_000 <= limit;
    fits(shown) && !fits(shown + 1)
}

/// A second implementation of `to_amount`: the nearest integer by distance, ties to even.
fn exact_amount(rate: i64, count: i64) -> i128 {
    let (rate, exact) = (i128::from(rate), i128::from(count) * 1_000_000_000);
    let (below, above) = (exact / rate, exact / rate + 1);
    let (down, up) = (exact - below * rate, above * rate - exact);
    if down < up || (down == up && below % 2 == 0) { below } else { above }
}

#[test]
fn a_rate_is_from_1_to_10_000() {
    let check =
        |input, expected: bool| assert_eq!(PointsPerDollar::new(input).is_some(), expected, "{input}");
    check(i64::MIN, false);
    check(-1, false);
    check(0, false);
    check(1, true);
    check(50, true);
    check(10_000, true);
    check(10_001, false);
    check(1 << 31, false);
    check(i64::MAX, false);
    assert_eq!(PointsPerDollar::DEFAULT.get(), 50);
    assert_eq!(PointsPerDollar::default(), PointsPerDollar::DEFAULT);
}

#[test]
fn points_are_never_negative() {
    assert_eq!(Points::new(-1), None);
    assert_eq!(Points::new(i64::MIN), None);
    assert_eq!(Points::new(0), Some(Points::ZERO));
    assert_eq!(points(3).checked_mul(-1), None);
    assert_eq!(points(i64::MAX).checked_add(points(1)), None);
    assert_eq!(points(2).checked_add(points(3)), Some(points(5)));
}

#[test]
fn an_amount_never_wraps() {
    let (max, min) = (nanodollars(i64::MAX), nanodollars(i64::MIN));
    assert_eq!(max.checked_add(nanodollars(1)), None);
    assert_eq!(min.checked_sub(nanodollars(1)), None);
    assert_eq!(max.checked_mul(2), None);
    assert_eq!(min.checked_mul(-1), None);
    assert_eq!(nanodollars(7).checked_sub(nanodollars(9)), Some(nanodollars(-2)));
    assert!(nanodollars(-2).is_negative() && !Amount::ZERO.is_negative());
    assert!(Amount::default().is_zero() && !max.is_zero());
}

#[test]
fn an_amount_is_rounded_half_to_even() {
    let check =
        |r, p, expected| assert_eq!(rate(r).to_amount(points(p)), Some(nanodollars(expected)), "{p} at {r}");
    check(50, 1, 20_000_000);
    check(1, 1, 1_000_000_000);
    check(3, 1, 333_333_333);
    check(3, 2, 666_666_667);
    check(7, 1, 142_857_143);
    check(1024, 1, 976_562); // 976,562.5
    check(1024, 3, 2_929_688); // 2,929,687.5
    check(2048, 2, 976_562);
    check(10_000, 1, 100_000);
    check(9_999, 0, 0);
}

#[test]
fn the_tolerance_is_a_hundredth_of_a_point_and_at_most_a_hundredth_of_a_cent() {
    let check = |r, expected| {
        assert_eq!(rate(r).min_balance(points(1)), Some(nanodollars(expected)), "{r}");
    };
    check(1, 1_000_000_000 - 100_000);
    check(50, 20_000_000 - 100_000);
    check(100, 10_000_000 - 100_000);
    check(101, 9_801_981); // 9,900,990.1 less 99,009.9 is 9,801,980.2
    check(1024, 966_797); // 976,562.5 less 9,765.6 is 966,796.9
    check(9_999, 99_010); // 100,010.0 less 1,000.1 is 99,009.9
    check(10_000, 99_000);
    assert_eq!(rate(3).min_balance(Points::ZERO), Some(nanodollars(-100_000)));
    assert_eq!(rate(1).min_balance(points(i64::MAX)), None);
}

#[test]
fn points_survive_the_conversion_to_money_and_back_at_every_rate() {
    for rate in every_rate() {
        for count in boundary_points(rate) {
            let amount = rate.to_amount(points(count)).unwrap();
            assert_eq!(rate.shown_points(amount).get(), count, "{count} at {rate:?}");
        }
    }
}

#[test]
fn a_rate_that_divides_a_billion_is_exact() {
    let dividing: Vec<_> = every_rate().filter(|rate| 1_000_000_000 % rate.get() == 0).collect();
    assert_eq!(dividing.len(), 43); // 2^a × 5^b with a, b ≤ 9, up to 10,000
    for rate in dividing {
        for count in boundary_points(rate) {
            let amount = rate.to_amount(points(count)).unwrap();
            let exact = i128::from(count) * 1_000_000_000;
            assert_eq!(
                i128::from(amount.nanodollars()) * i128::from(rate.get()),
                exact,
                "{count} at {rate:?}"
            );
        }
    }
}

#[test]
fn a_point_costs_something_at_every_rate() {
    for rate in every_rate() {
        assert!(rate.to_amount(points(1)).unwrap() >= nanodollars(100_000), "{rate:?}");
        assert_eq!(rate.shown_points(Amount::ZERO), Points::ZERO, "{rate:?}");
    }
}

#[test]
fn a_point_is_shown_if_at_most_the_tolerance_is_missing() {
    for rate in every_rate() {
        for count in boundary_points(rate).into_iter().filter(|&count| count > 0) {
            let min = rate.min_balance(points(count)).unwrap();
            assert_eq!(rate.shown_points(min).get(), count, "{count} at {rate:?}");
            let below = min.checked_sub(nanodollars(1)).unwrap();
            assert_eq!(rate.shown_points(below).get(), count - 1, "{count} at {rate:?}");
        }
    }
}

#[test]
fn the_smallest_and_largest_integers_are_exact_at_every_rate() {
    let edges = [1 << 31, (1 << 31) - 1, 1 << 53, (1 << 53) + 1, i64::MAX - 1, i64::MAX];
    for rate in every_rate() {
        for edge in edges {
            let shown = rate.shown_points(nanodollars(edge)).get();
            assert!(is_largest(rate, shown, edge), "{edge} at {rate:?}");
            let amount = rate.to_amount(points(edge)).map(|amount| i128::from(amount.nanodollars()));
            let expected =
                Some(exact_amount(rate.get(), edge)).filter(|&exact| exact <= i128::from(i64::MAX));
            assert_eq!(amount, expected, "{edge} at {rate:?}");
        }
    }
}

#[test]
fn a_negative_balance_shows_nothing() {
    for balance in [-1, -1_000, -100_000, -1_000_000_000, i64::MIN] {
        assert_eq!(rate(10_000).shown_points(nanodollars(balance)), Points::ZERO, "{balance}");
        assert_eq!(rate(1).shown_points(nanodollars(balance)), Points::ZERO, "{balance}");
    }
}

#[test]
fn after_a_rate_change_a_wallet_shows_its_amount_rounded_down_within_the_tolerance() {
    let check = |from, count, to, expected| {
        let balance = rate(from).to_amount(points(count)).unwrap();
        assert_eq!(rate(to).shown_points(balance).get(), expected, "{count} from {from} to {to}");
    };
    check(50, 100, 100, 200);
    check(100, 1, 50, 0);
    check(100, 3, 50, 1);
    check(3, 3, 50, 50);
    check(3, 2, 50, 33);
    check(7, 1, 10_000, 1_428);
    check(10_000, 9_998, 1, 0);
    check(10_000, 9_999, 1, 1); // short of a dollar by a hundredth of a cent: within the tolerance
    check(10_000, 10_000, 1, 1);
}

proptest! {
    #[test]
    fn the_largest_number_of_points_that_fits_is_shown(r in 1..=10_000_i64, balance in 0..=i64::MAX) {
        let shown = rate(r).shown_points(nanodollars(balance)).get();
        prop_assert!(is_largest(rate(r), shown, balance));
    }

    #[test]
    fn amounts_are_rounded_to_the_nearest_nano_dollar(r in 1..=10_000_i64, count in 0..=i64::MAX) {
        let expected = i64::try_from(exact_amount(r, count)).ok().map(nanodollars);
        prop_assert_eq!(rate(r).to_amount(points(count)), expected);
    }

    #[test]
    fn any_points_survive_the_round_trip(r in 1..=10_000_i64, count in 0..=9_000_000_000_i64) {
        let amount = rate(r).to_amount(points(count)).unwrap();
        prop_assert_eq!(rate(r).shown_points(amount).get(), count);
    }

    #[test]
    fn a_new_rate_never_shows_more_than_the_tolerance_above_the_amount(
        from in 1..=10_000_i64, to in 1..=10_000_i64, count in 0..=50_000_000_i64,
    ) {
        let balance = rate(from).to_amount(points(count)).unwrap();
        let shown = rate(to).shown_points(balance).get();
        let worth = i128::from(shown) * 1_000_000_000;
        prop_assert!(worth - expected_scaled_tolerance(rate(to)) <= i128::from(balance.nanodollars()) * i128::from(to));
        let exact_floor = i128::from(balance.nanodollars()) * i128::from(to) / 1_000_000_000;
        prop_assert!(i128::from(shown) - exact_floor <= 1 && i128::from(shown) >= exact_floor);
    }
}
