"""Verdicts of separation beside HiGHS, margins beside other solvers, and every certificate judged a second time."""

import json
import re
import subprocess

import numpy
import pytest
from certificate_checker import NoProof, judge, parse
from conftest import PROBLEMS, Table
from scipy.optimize import linprog, nnls
from sklearn.datasets import dump_svmlight_file
from sklearn.svm import SVC

BIASES = ["none", "append", "free"]


def write_csv(path, x, y):
    lines = [",".join([*map(repr, map(float, row)), str(label)]) for row, label in zip(x, y)]
    path.write_text("\n".join(lines) + "\n")
    return path


def separate(program, data, *arguments):
    """The record and the certificate, which the program itself must accept."""
    path = program.folder / "certificate.cert"
    path.unlink(missing_ok=True)
    command = [program.path, "separate", data, "-o", path, "--json", *arguments]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=program.folder)
    assert done.returncode in (0, 1), f"{command}: {done.returncode}\n{done.stderr}"
    record = json.loads(done.stdout)
    # The exit code says the same as the record.
    assert (done.returncode == 0) == (record["verdict"] == "complete")
    program.run("verify", path, data)
    return record, path.read_text()


def judge_text(certificate, x, labels):
    return judge(parse(certificate), x.shape[1], [dict(enumerate(map(float, row))) for row in x], list(map(str, labels)))


def judged(record, certificate, x, labels):
    """Judges the certificate, and what the record says beside it."""
    verdict, boundary = judge_text(certificate, x, labels)
    assert verdict == record["verdict"]
    if verdict == "quasi-complete":
        assert [row["row"] for row in record["boundary_rows"]] == boundary
    if verdict != "complete":
        assert record["witness_rows"] and sum(row["share"] for row in record["witness_rows"]) == pytest.approx(1)
    return verdict


def examples(x, y, bias):
    """Rows z."""
    appended = x if bias == "none" else numpy.hstack([x, numpy.ones((len(x), 1))])
    return appended * y[:, None]


def highs(z):
    """The verdict of HiGHS; its tolerances suffice where margins are comfortable."""
    n, d = z.shape
    strict = linprog(
        numpy.append(numpy.zeros(d), -1), A_ub=numpy.hstack([-z, numpy.ones((n, 1))]), b_ub=numpy.zeros(n),
        bounds=[(-1, 1)] * d + [(None, 1)], method="highs",
    )  # fmt: skip
    if -strict.fun > 1e-6:
        return "complete"
    weak = linprog(-z.sum(0), A_ub=-z, b_ub=numpy.zeros(n), bounds=[(-1, 1)] * d, method="highs")
    return "quasi-complete" if -weak.fun > 1e-6 else "overlap"


def nearest(z):
    """The distance of the hull of the rows from the origin, as a least-squares problem without negative shares."""
    system = numpy.vstack([z.T, numpy.ones(len(z))])
    shares, _ = nnls(system, numpy.append(numpy.zeros(z.shape[1]), 1.0), maxiter=100_000)
    return numpy.linalg.norm(z.T @ shares) / shares.sum()


def grid(random, hidden=False):
    # About as many rows as make the verdict open.
    d = int(random.integers(1, 6))
    n = int(random.integers(2, 3 * d + 4))
    x = random.integers(-2, 3, (n, d)).astype(float)
    y = random.choice([-1, 1], n)
    if hidden:
        w = random.integers(-2, 3, d)
        y = numpy.where(x @ w > 0, 1, numpy.where(x @ w < 0, -1, y))
    y[:2] = [1, -1]
    return x, y


MAKERS = {
    "grid": grid,
    "hidden boundary": lambda random: grid(random, hidden=True),
    "general position": lambda random: (
        numpy.round(random.normal(size=(24, 10)), 3), numpy.append([1, -1], random.choice([-1, 1], 22))
    ),
    "dependent": lambda random: (
        random.integers(-2, 3, (7, 3)) @ random.integers(-2, 3, (3, 6)) * 1.0,
        numpy.append([1, -1], random.choice([-1, 1], 5)),
    ),
}  # fmt: skip


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("maker", list(MAKERS))
def test_verdicts_of_highs(program, maker, bias):
    seen = set()
    for seed in range(12):
        x, y = MAKERS[maker](numpy.random.default_rng(seed))
        data = write_csv(program.folder / "rows.csv", x, y)
        record, certificate = separate(program, data, "--bias", bias)
        assert judged(record, certificate, x, y) == highs(examples(x, y, bias))
        seen.add(record["verdict"])
    assert len(seen) > 1


def test_sparse_rows(program):
    """LIBSVM files, with features that no row has."""
    for seed in range(10):
        random = numpy.random.default_rng(seed)
        x = random.integers(-2, 3, (25, 12)) * (random.random((25, 12)) < 0.3)
        x[:, 5], x[0, -1] = 0, 1
        y = numpy.append([1, -1], random.choice([-1, 1], 23))
        path = program.folder / "rows.svm"
        dump_svmlight_file(x, y, str(path), zero_based=False)
        record, certificate = separate(program, path)
        assert judged(record, certificate, x.astype(float), y) == highs(examples(x, y, "append"))


def separable(random, n=80, d=5):
    """Rows with a gap around a boundary that misses the origin."""
    x, w = random.normal(size=(n, d)), random.normal(size=d)
    y = numpy.where(x @ w > 0.4, 1, -1)
    return x + 0.3 * y[:, None] * w / numpy.linalg.norm(w), y


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("bias", BIASES)
def test_margins_of_other_solvers(program, bias, seed):
    x, y = separable(numpy.random.default_rng(seed))
    if bias == "none":
        if highs(examples(x, y, bias)) != "complete":
            y = numpy.where(x[:, 0] > 0, 1, -1)
    data = write_csv(program.folder / "rows.csv", x, y)
    record, certificate = separate(program, data, "--bias", bias)
    assert judged(record, certificate, x, y) == "complete"
    lower, upper = record["margin"]["lower"], record["margin"]["upper"]
    if bias == "free":
        theirs = 1 / numpy.linalg.norm(SVC(kernel="linear", C=1e8, tol=1e-9).fit(x, y).coef_)
        assert (upper, lower) == pytest.approx((theirs, theirs), rel=1e-4)
    else:
        theirs = nearest(examples(x, y, bias))
        assert lower * (1 - 1e-9) <= theirs <= upper * (1 + 1e-9)
        assert upper == pytest.approx(theirs, rel=2e-6)


@pytest.mark.parametrize("gap", ["1e-3", "1e-9"])
def test_the_gap_is_reached(program, gap):
    x, y = separable(numpy.random.default_rng(7))
    data = write_csv(program.folder / "rows.csv", x, y)
    record, certificate = separate(program, data, "--gap", gap)
    judged(record, certificate, x, y)
    margin = record["margin"]
    assert margin["upper"] - margin["lower"] <= float(gap) * margin["upper"]


KNOWN = {"setosa": "complete", "virginica": "overlap", "breast_cancer": "complete", "spam": "overlap"}


@pytest.mark.parametrize("bias", ["append", "free"])
@pytest.mark.parametrize("name", list(PROBLEMS))
def test_known_answers(program, name, bias):
    table = Table(*PROBLEMS[name])
    arguments = table.arguments + ["--bias", bias]
    record, certificate = separate(program, table.path, *arguments)
    assert record["verdict"] == KNOWN[name]
    # Rows of other classes count in the numbers of rows, however the program takes them.
    everything = Table(PROBLEMS[name][0], table.positive)
    whole = f"\nrows {len(everything.x)}\n" in certificate
    judged(record, certificate, *((everything.x, everything.labels) if whole else (table.x, table.labels)))


def test_rounding_ends_the_separation_of_breast_cancer(program):
    table = Table(*PROBLEMS["breast_cancer"])
    x = numpy.round(table.x, 3)
    data = write_csv(program.folder / "rows.csv", x, table.labels)
    record, certificate = separate(program, data, "--positive", table.positive)
    assert judged(record, certificate, x, table.labels) != "complete"


@pytest.mark.parametrize("exponent", [1, 3, 6, 8, 10, 12, 15, 18, 30, 100])
def test_margins_below_the_tolerance_of_highs(program, exponent):
    """(γ, v) with v around the origin: the margin is γ, whatever γ is."""
    gamma = 2.0 ** -round(3.3219 * exponent)
    v = numpy.array([[3.0, 1.0], [-1.0, 2.0], [-2.0, -3.0], [1.0, 1.0], [-1.0, -1.0]])
    z = numpy.hstack([numpy.full((5, 1), gamma), v])
    y = numpy.array([1, -1, 1, -1, 1])
    data = write_csv(program.folder / "rows.csv", z * y[:, None], y)
    record, certificate = separate(program, data, "--bias", "none")
    assert judged(record, certificate, z * y[:, None], y) == "complete"
    assert record["margin"]["lower"] <= gamma <= record["margin"]["upper"]
    z[:, 0] = 0
    data = write_csv(program.folder / "rows.csv", z * y[:, None], y)
    record, certificate = separate(program, data, "--bias", "none")
    assert judged(record, certificate, z * y[:, None], y) == "overlap"


def test_other_data_is_rejected(program):
    x, y = separable(numpy.random.default_rng(1))
    data = write_csv(program.folder / "rows.csv", x, y)
    separate(program, data)
    # One row goes to the other side.
    turned = y.copy()
    turned[0] = -turned[0]
    other = write_csv(program.folder / "other.csv", x, turned)
    program.run("verify", "certificate.cert", other, expect=1)
    program.run("verify", "certificate.cert", write_csv(program.folder / "less.csv", x[1:], y[1:]), expect=1)


def forgeries(certificate):
    """Copies with something changed so that the claim no longer holds."""
    change = lambda pattern, new: re.sub(pattern, new, certificate, count=1, flags=re.M)  # noqa: E731
    weights = re.search("^weights (.*)$", certificate, re.M)[1]
    turned = weights.replace(":", ":-").replace("--", "")
    sides = certificate.replace("\npositive", "\n?").replace("\nnegative", "\npositive").replace("\n?", "\nnegative")
    lines = sides.split("\n")
    at = next(i for i, line in enumerate(lines) if line.startswith("negative"))
    lines[at], lines[at + 1] = lines[at + 1], lines[at]
    return {
        "weights": certificate.replace(weights, turned),
        "margin": re.sub("^upper .*$", "upper 0x1p20", change("^lower .*$", "lower 0x1p20"), flags=re.M),
        "upper": re.sub("^upper .*$", "upper 0x1p-900", change("^lower .*$", "lower 0x0p0"), flags=re.M),
        "bias": change("^bias .*$", "bias none"),
        "sides": "\n".join(lines),
    }


def test_forgeries_are_rejected(program):
    x, y = separable(numpy.random.default_rng(2))
    data = write_csv(program.folder / "rows.csv", x, y)
    _, certificate = separate(program, data)
    for name, forged in forgeries(certificate).items():
        path = program.folder / f"{name}.cert"
        path.write_text(forged)
        program.run("verify", path, data, expect=1)
        with pytest.raises(NoProof):
            judge_text(forged, x, y)


def hand_made(verdict, *proof):
    head = ["linsep certificate 2", 'fingerprint ""', "rows 3", "features 2", 'positive "1"', 'negative "-1"', "bias none"]
    return "\n".join([*head, f"verdict {verdict}", *proof, "at-least 0", "end", ""])


def test_the_judge_itself():
    """Certificates made by hand."""
    x, y = numpy.array([[1.0, 0.0], [1.0, 0.0], [0.0, 2.0]]), numpy.array([1, -1, 1])
    pair = "combination 0:0x1p0 1:0x1p0"
    assert judge_text(hand_made("quasi-complete", "weights 1:0x1p-9", pair), x, y) == ("quasi-complete", [0, 1])
    overlap = hand_made("overlap", pair)
    with pytest.raises(NoProof):
        judge_text(overlap, x, y)
    assert judge_text(overlap, x, numpy.array([1, -1, 0])) == ("overlap", [0, 1])
    flat = x * [[1, 1], [1, 1], [0, 0]] + [[0, 0], [0, 0], [3, 0]]
    assert judge_text(overlap, flat, y)[0] == "overlap"

    def complete(upper):
        return hand_made("complete", "weights 0:0x1p0 1:0x1p0", "lower 0x1p-1", f"upper {upper}", "combination 0:0x3p0")

    single = x * [[1], [-1], [1]]
    assert judge_text(complete("0x1p0"), single, y) == ("complete", [])
    for wrong in [numpy.array([1, 1, 1]), numpy.array([-1, 1, 1])]:
        with pytest.raises(NoProof):
            judge_text(complete("0x1p0"), single, wrong)
    with pytest.raises(NoProof):
        judge_text(complete("0x1fp-5"), single, y)
