//! Claims about columns: each kind accepted where it is true, and refused where one thing about it is not.

use crate::common::{Table, certificate, sparse};
use linsep_check::{Bias, Certificate, Claim, ColumnSet, Columns, Margin, Status, verify};

fn with(table: &Table, bias: Bias, claim: &Claim, columns: Columns) -> Result<(), String> {
    let certificate = Certificate { columns, ..certificate(table, bias, claim.clone()) };
    verify(&certificate, table).map(drop).map_err(|rejected| rejected.reason)
}

fn coefficients(list: &[(usize, Status)]) -> Columns {
    Columns { coefficients: list.to_vec(), ..Columns::default() }
}

fn aliased(relation: &[f64]) -> Status {
    Status::Aliased { relation: sparse(relation) }
}

/// Overlap in x₀ with the bias; x₁ = 2·x₀ is aliased.
#[test]
fn finite_and_aliased_under_overlap() {
    let rows = [(1, [1.0, 2.0]), (-1, [2.0, 4.0]), (1, [3.0, 6.0]), (-1, [1.0, 2.0])];
    let table = Table::new(2, &rows.map(|(side, x)| (side, x.to_vec())), 0);
    // z: (1, 2, 1), (−2, −4, −1), (3, 6, 1), (−1, −2, −1).
    let relation = [2.0, -1.0, 0.0];
    let claim = |kernel: &[f64]| Claim::Overlap {
        combination: sparse(&[1.0, 2.0, 1.0, 0.0]),
        kernel: vec![sparse(kernel)],
    };
    let all = [(0, Status::Finite), (1, aliased(&relation)), (2, Status::Finite)];
    assert_eq!(with(&table, Bias::Free, &claim(&relation), coefficients(&all)), Ok(()));
    // Another multiple of the relation is not the relation.
    assert!(with(&table, Bias::Free, &claim(&[4.0, -2.0, 0.0]), coefficients(&all)).is_err());
    // Without an alias, the two columns share what they do.
    let claim = claim(&relation);
    assert!(with(&table, Bias::Free, &claim, coefficients(&[(0, Status::Finite)])).is_err());
    assert_eq!(with(&table, Bias::Free, &claim, coefficients(&[(2, Status::Finite)])), Ok(()));
    // A relation with the wrong numbers; without its own place; with two aliased places; places that do not increase.
    for bad in [
        vec![(1, aliased(&[3.0, -1.0, 0.0]))],
        vec![(2, aliased(&relation))],
        vec![(0, aliased(&relation)), (1, aliased(&relation))],
        vec![(2, Status::Finite), (1, aliased(&relation))],
        vec![(3, Status::Finite)],
        vec![(1, aliased(&[]))],
    ] {
        assert!(with(&table, Bias::Free, &claim, coefficients(&bad)).is_err(), "{bad:?}");
    }
}

/// All rows cited and no kernel: the rank is asked for as soon as something is said to be finite.
#[test]
fn finite_needs_the_rank() {
    let rows = [(1, vec![1.0, 1.0]), (-1, vec![1.0, 1.0])];
    let table = Table::new(2, &rows, 0);
    let claim = Claim::Overlap { combination: sparse(&[1.0, 1.0]), kernel: vec![] };
    assert_eq!(with(&table, Bias::None, &claim, Columns::default()), Ok(()));
    assert!(with(&table, Bias::None, &claim, coefficients(&[(0, Status::Finite)])).is_err());
    let with_kernel = Claim::Overlap { combination: sparse(&[1.0, 1.0]), kernel: vec![sparse(&[1.0, -1.0])] };
    assert!(with(&table, Bias::None, &with_kernel, coefficients(&[(0, Status::Finite)])).is_err());
    let aliases = [(0, Status::Finite), (1, aliased(&[1.0, -1.0]))];
    assert_eq!(with(&table, Bias::None, &with_kernel, coefficients(&aliases)), Ok(()));
}

/// x₀ separates all but two rows, and x₁ tells those two apart in no way.
#[test]
fn infinite_and_finite_under_quasi_separation() {
    let rows = [
        (1, vec![1.0, 5.0]),
        (1, vec![0.0, 2.0]),
        (-1, vec![0.0, 1.0]),
        (-1, vec![0.0, 9.0]),
        (-1, vec![-1.0, 0.0]),
    ];
    let table = Table::new(2, &rows, 2);
    let claim = Claim::QuasiComplete {
        weights: sparse(&[1.0]),
        combination: sparse(&[0.0, 1.0, 2.0]),
        kernel: vec![],
    };
    let infinite = |positive, member, combination: &[f64]| Status::Infinite {
        positive,
        member,
        combination: sparse(combination),
    };
    let columns = |status: Status| Columns {
        members: vec![sparse(&[1.0]), sparse(&[3.0])],
        coefficients: vec![(0, status), (1, Status::Finite)],
        ..Columns::default()
    };
    let check = |columns| with(&table, Bias::None, &claim, columns);
    assert_eq!(check(columns(infinite(true, 1, &[0.0, 0.0, 0.0, 0.0, 1.0]))), Ok(()));
    assert_eq!(check(columns(infinite(true, 0, &[2.0, 0.0, 1.0, 1.0]))), Ok(()));
    assert!(check(columns(infinite(true, 2, &[0.0, 0.0, 0.0, 0.0, 1.0]))).is_err());
    assert!(check(columns(infinite(false, 1, &[0.0, 0.0, 0.0, 0.0, 1.0]))).is_err());
    assert!(check(columns(infinite(true, 1, &[1.0, 0.0, 0.0, 0.0, 1.0]))).is_err());
    assert!(check(columns(infinite(true, 1, &[0.0, 1.0, 2.0]))).is_err());
    assert!(check(columns(infinite(true, 1, &[]))).is_err());
    assert!(check(columns(Status::Finite)).is_err());
    assert!(check(columns(Status::Open { positive: 0, negative: 1 })).is_err());
    // No member of K: a row on the wrong side.
    let mut wrong = columns(infinite(true, 0, &[0.0, 0.0, 0.0, 0.0, 1.0]));
    wrong.members[1] = sparse(&[-1.0]);
    assert!(check(wrong).is_err());
}

/// Two columns, each of which separates: signs are open or fixed, and so are sets.
#[test]
fn sets_of_columns_and_open_signs() {
    let rows = [(1, vec![2.0, 1.0, 0.0]), (-1, vec![-2.0, -1.0, 0.0]), (1, vec![1.0, 3.0, 1.0])];
    let table = Table::new(3, &rows, 1);
    let margin = Margin { lower: 0.0, upper: f64::MAX, combination: vec![] };
    let claim = Claim::Complete { weights: sparse(&[1.0]), margin };
    let open = Columns {
        members: vec![sparse(&[2.0, -1.0, 1.0]), sparse(&[-1.0, 2.0, -1.0])],
        coefficients: vec![
            (0, Status::Open { positive: 0, negative: 1 }),
            (2, Status::Open { positive: 0, negative: 1 }),
        ],
        ..Columns::default()
    };
    let check = |columns| with(&table, Bias::Free, &claim, columns);
    assert_eq!(check(open.clone()), Ok(()));
    let mut swapped = open;
    swapped.coefficients[0].1 = Status::Open { positive: 1, negative: 0 };
    assert!(check(swapped).is_err());

    let alone = |columns: &[usize], weights: &[f64]| Columns {
        alone: vec![ColumnSet { columns: columns.to_vec(), proof: sparse(weights) }],
        ..Columns::default()
    };
    assert_eq!(check(alone(&[0], &[1.0])), Ok(()));
    assert_eq!(check(alone(&[1], &[0.0, 4.0, 0.0, 1.0])), Ok(()));
    assert_eq!(check(alone(&[0, 2], &[1.0])), Ok(()));
    assert!(check(alone(&[0], &[0.0, 1.0])).is_err(), "another column");
    assert!(check(alone(&[2], &[0.0, 0.0, 1.0])).is_err(), "a row on the boundary");
    assert!(check(alone(&[3], &[1.0])).is_err(), "the bias is no column");
    assert!(check(alone(&[0, 0], &[1.0])).is_err());

    let not_alone = |sets: &[(&[usize], &[f64])], at_least| Columns {
        not_alone: sets
            .iter()
            .map(|(columns, combination)| ColumnSet { columns: columns.to_vec(), proof: sparse(combination) })
            .collect(),
        at_least,
        ..Columns::default()
    };
    let third: (&[usize], &[f64]) = (&[2], &[1.0, 1.0]);
    assert_eq!(check(not_alone(&[third], 0)), Ok(()));
    assert_eq!(check(not_alone(&[third], 1)), Ok(()));
    assert!(check(not_alone(&[third], 2)).is_err(), "columns 0 and 1 are not shown");
    assert!(check(not_alone(&[], 1)).is_err());
    assert!(check(not_alone(&[(&[1], &[1.0, 1.0])], 0)).is_err());
    assert!(check(not_alone(&[(&[2], &[])], 0)).is_err());
    assert!(check(not_alone(&[(&[2], &[1.0, 2.0])], 0)).is_err(), "the bias does not cancel");
}

/// The exclusive or of two columns: three are needed, and that is shown by the pairs; more than three cannot be claimed.
#[test]
fn least_numbers_of_columns() {
    let table = |product: bool| {
        let rows = [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)].map(|(a, b)| {
            let side = if a == b { 1 } else { -1 };
            (side, if product { vec![a, b, a * b] } else { vec![a] })
        });
        Table::new(if product { 3 } else { 1 }, &rows, 0)
    };
    let margin = Margin { lower: 0.0, upper: f64::MAX, combination: vec![] };
    let claim = Claim::Complete { weights: sparse(&[-2.0, -2.0, 4.0, 1.0]), margin };
    let columns = |at_least, sets: &[(&[usize], &[f64])]| Columns {
        not_alone: sets
            .iter()
            .map(|(columns, combination)| ColumnSet { columns: columns.to_vec(), proof: sparse(combination) })
            .collect(),
        at_least,
        ..Columns::default()
    };
    let pair: (&[usize], &[f64]) = (&[0, 1], &[1.0, 1.0, 1.0, 1.0]);
    let first: (&[usize], &[f64]) = (&[0, 2], &[1.0, 1.0, 0.0, 0.0]);
    let second: (&[usize], &[f64]) = (&[1, 2], &[1.0, 0.0, 1.0, 0.0]);
    let check = |columns| with(&table(true), Bias::Append(1.0), &claim, columns);
    assert_eq!(check(columns(3, &[pair, first, second])), Ok(()));
    assert_eq!(check(columns(2, &[pair, first])), Ok(()));
    assert!(check(columns(3, &[pair, first])).is_err());
    assert!(check(columns(2, &[pair])).is_err());
    assert!(check(columns(4, &[pair, first, second])).is_err());
    // With one column there is no pair, but the column itself must be covered.
    let overlap = Claim::Overlap { combination: sparse(&[1.0, 1.0, 1.0, 1.0]), kernel: vec![] };
    let check = |columns| with(&table(false), Bias::Free, &overlap, columns);
    assert_eq!(check(columns(3, &[(&[0], &[1.0, 1.0, 1.0, 1.0])])), Ok(()));
    assert!(check(columns(3, &[(&[], &[1.0, 1.0])])).is_err());
    assert_eq!(check(columns(1, &[(&[], &[1.0, 1.0])])), Ok(()));
}
