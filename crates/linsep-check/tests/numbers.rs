//! Exact numbers against 128-bit integers, floats and the tests' own numbers.

use crate::common::{Big, hexadecimal, number};
use linsep_check::Dyadic;
use proptest::prelude::*;

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
    fn the_text_gives_the_number_back(a in any_dyadic()) {
        prop_assert_eq!(Dyadic::parse(&hexadecimal(&a).to_string()), Some(a.clone()));
        prop_assert_eq!(Big::of(&a).dyadic(), a.clone());
        prop_assert_eq!(a.sign(), Big::of(&a).sign());
        prop_assert!(matches!(a.parts(), ([], 0)) || a.parts().0[0] % 2 == 1);
    }

    #[test]
    fn floats_go_and_come_back(value in any_float()) {
        let exact = number(value);
        prop_assert_eq!(exact.to_f64(), Some(value));
        prop_assert!(Big::of(&exact).minus(&Big::float(value)).sign().is_eq());
    }

    /// A number that is a float for some, and is too long, too large or too small for one for others.
    #[test]
    fn only_floats_are_floats(a in any_dyadic(), shift in -1200_i64..1100) {
        let a = crate::common::scaled(&a, shift);
        match a.to_f64() {
            Some(value) => prop_assert_eq!(number(value), a),
            None => prop_assert!(a.bits() > 53 || a.top() > 1024 || a.parts().1 < -1074, "{:?}", a),
        }
    }

    #[test]
    fn only_canonical_text_is_read(text in "-?0x[0-9a-f]{1,20}p-?[0-9]{1,7}") {
        if let Some(number) = Dyadic::parse(&text) {
            prop_assert_eq!(hexadecimal(&number).to_string(), text);
        }
    }

    #[test]
    fn no_text_is_too_strange(text in any::<String>()) {
        let _ = Dyadic::parse(&text);
    }
}

#[test]
fn text_in_no_other_form() {
    for good in
        ["0x0p0", "0x1p0", "-0x1p0", "0x1f3p-12", "0x1p1000000", "-0x3p-1000000", "0x10000000000000001p0"]
    {
        assert_eq!(Dyadic::parse(good).map(|number| hexadecimal(&number).to_string()).as_deref(), Some(good));
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
        assert_eq!(Dyadic::parse(bad), None, "{bad}");
    }
    assert!(Dyadic::parse(&format!("0x{}p0", "f".repeat(1 << 18))).is_some());
    assert!(Dyadic::parse(&format!("0x{}p0", "f".repeat((1 << 18) + 1))).is_none());
}
