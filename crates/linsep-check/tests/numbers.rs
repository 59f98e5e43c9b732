//! Exact numbers against 128-bit integers, floats and the tests' own numbers.

mod common;

use common::{Big, number};
use linsep_check::Dyadic;
use proptest::prelude::*;

fn dyadic(value: i128, exponent: i64) -> Dyadic {
    let size = value.unsigned_abs();
    Dyadic::new(value < 0, vec![size as u64, (size >> 64) as u64], exponent)
}

/// Any number of up to about 300 bits, with many zeros and ones in its words.
fn any_dyadic() -> impl Strategy<Value = Dyadic> {
    let word = prop_oneof![Just(0), Just(u64::MAX), Just(1), Just(1 << 63), any::<u64>()];
    (any::<bool>(), prop::collection::vec(word, 0..5), -300_i64..300)
        .prop_map(|(n, m, e)| Dyadic::new(n, m, e))
}

fn any_float() -> impl Strategy<Value = f64> {
    any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |value| value.is_finite())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn sums_products_and_order_of_integers(a in any::<i64>(), b in any::<i64>(), s in 0_i64..30, t in -500_i64..500) {
        let (x, y) = (dyadic(i128::from(a) << s, t), dyadic(i128::from(b), t));
        prop_assert_eq!(x.plus(&y), dyadic((i128::from(a) << s) + i128::from(b), t));
        prop_assert_eq!(x.times(&y).plus(&Dyadic::zero()), dyadic(i128::from(a) * i128::from(b), 2 * t + s));
        prop_assert_eq!(x.cmp(&y), (i128::from(a) << s).cmp(&i128::from(b)));
        prop_assert_eq!(x.sign(), a.cmp(&0));
    }

    #[test]
    fn sums_products_and_order_of_long_numbers(a in any_dyadic(), b in any_dyadic()) {
        let (x, y) = (Big::of(&a), Big::of(&b));
        prop_assert!(Big::of(&a.plus(&b)).minus(&x.plus(&y)).sign().is_eq());
        prop_assert!(Big::of(&a.times(&b)).minus(&x.times(&y)).sign().is_eq());
        prop_assert_eq!(a.cmp(&b), x.minus(&y).sign());
        prop_assert_eq!(a.plus(&a.negated()), Dyadic::zero());
        prop_assert_eq!(a.times(&b).plus(&a), a.times(&b.plus(&number(1.0))));
        prop_assert_eq!(a.to_string().parse(), Ok(a.clone()));
        prop_assert_eq!(a.scaled(7), a.times(&number(128.0)));
    }

    #[test]
    fn floats_go_and_come_back(value in any_float()) {
        let exact = number(value);
        prop_assert_eq!(exact.approximate(), value);
        prop_assert!(Big::of(&exact).minus(&Big::float(value)).sign().is_eq());
    }

    #[test]
    fn the_nearest_float(a in any_dyadic(), shift in -1200_i64..1100) {
        let a = a.scaled(shift);
        let near = a.approximate();
        if near.is_infinite() {
            let (top, half) = (number(f64::MAX), number(f64::MAX.next_down()));
            let limit = top.plus(&top.plus(&half.negated()).times(&number(0.5)));
            prop_assert!(a >= limit || a.negated() >= limit);
        } else {
            let far = |to: f64| {
                let apart = a.plus(&number(to).negated());
                if apart.sign().is_lt() { apart.negated() } else { apart }
            };
            for other in [near.next_up(), near.next_down()].into_iter().filter(|other| other.is_finite()) {
                prop_assert!(far(near) < far(other) || far(near) == far(other) && near.to_bits() % 2 == 0);
            }
        }
    }

    #[test]
    fn sums_of_floats_round_as_floats_do(a in any_float(), b in any_float()) {
        let sum = number(a).plus(&number(b)).approximate();
        prop_assert_eq!(sum, a + b);
        prop_assert_eq!(number(a).times(&number(b)).approximate(), a * b);
    }

    #[test]
    fn only_canonical_text_is_read(text in "-?0x[0-9a-f]{1,20}p-?[0-9]{1,7}") {
        if let Ok(number) = text.parse::<Dyadic>() {
            prop_assert_eq!(number.to_string(), text);
        }
    }

    #[test]
    fn no_text_is_too_strange(text in any::<String>()) {
        let _ = text.parse::<Dyadic>();
    }
}

#[test]
fn text_in_no_other_form() {
    for good in
        ["0x0p0", "0x1p0", "-0x1p0", "0x1f3p-12", "0x1p1000000", "-0x3p-1000000", "0x10000000000000001p0"]
    {
        assert_eq!(good.parse::<Dyadic>().map(|number| number.to_string()).as_deref(), Ok(good));
    }
    let bad = [
        "",
        "0",
        "0x",
        "0xp0",
        "0x1",
        "0x1p",
        "0x1p+0",
        "0x1p-0",
        "0x1p00",
        "0x01p0",
        "-0x0p0",
        "0x0p1",
        "0x2p0",
        "0x1P0",
        "0X1p0",
        "0xFp0",
        "+0x1p0",
        " 0x1p0",
        "0x1p0 ",
        "0x1p1000001",
        "0x1p-1000001",
        "0x1.8p0",
        "--0x1p0",
        "0x-1p0",
        "0x1p99999999999999999999",
        "nan",
        "inf",
        "0x1p0p0",
        "0x1é0p0",
    ];
    for bad in bad {
        assert_eq!(bad.parse::<Dyadic>(), Err(()), "{bad}");
    }
    assert!(format!("0x{}p0", "f".repeat(1 << 18)).parse::<Dyadic>().is_ok());
    assert!(format!("0x{}p0", "f".repeat((1 << 18) + 1)).parse::<Dyadic>().is_err());
}
