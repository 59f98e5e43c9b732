"""The fewest rows whose removal separates the rest, beside HiGHS as a mixed-integer program."""

import json
import subprocess

import numpy
import pytest
from conftest import Table
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from test_separation import BIASES, separate, write_csv


def rows_of(x, y, bias):
    """z = y·[x; 1], with columns of unit size, which changes nothing about separability."""
    x = (x - x.mean(axis=0)) / x.std(axis=0) if bias != "none" else x / numpy.sqrt((x**2).mean(axis=0))
    x = x if bias == "none" else numpy.hstack([x, numpy.ones((len(x), 1))])
    return y[:, None] * x


def fewest(z, most=100.0):
    """min Σ r with ⟨w, z⟩ ≥ 1 − M·r and |w| ≤ most: what HiGHS has found, and what it has proved.

    The box on w makes this a restriction, so that its optimum is an upper bound of the true one.
    """
    n, d = z.shape
    large = 1 + most * numpy.abs(z).sum(axis=1)
    rows = LinearConstraint(numpy.hstack([z, numpy.diag(large)]), lb=1.0)
    done = milp(
        numpy.r_[numpy.zeros(d), numpy.ones(n)],
        constraints=rows,
        integrality=numpy.r_[numpy.zeros(d), numpy.ones(n)],
        bounds=Bounds(numpy.r_[numpy.full(d, -most), numpy.zeros(n)], numpy.r_[numpy.full(d, most), numpy.ones(n)]),
        options={"time_limit": 60},
    )
    assert done.x is not None, done.message
    return round(done.fun), done.mip_gap == 0


def is_separable(z):
    return linprog(numpy.zeros(z.shape[1]), A_ub=-z, b_ub=-numpy.ones(len(z)), bounds=(None, None)).status == 0


def noisy(seed, n, d, noise):
    random = numpy.random.default_rng(seed)
    x = numpy.round(random.normal(size=(n, d)) * random.uniform(0.1, 1000, d) + random.normal(size=d) * 50, 3)
    scores = (x - x.mean(axis=0)) / x.std(axis=0) @ random.normal(size=d) + noise * random.normal(size=n)
    return x, numpy.where(scores > 0.2, 1, -1)


def check(program, x, y, bias):
    data = write_csv(program.folder / "data.csv", x, y)
    record, _ = separate(program, data, "--blame", "--bias", bias, "--columns", "none")
    z = rows_of(x, y, bias)
    if "blame" not in record or record["blame"] is None:
        assert record["verdict"] == "complete"
        return None
    blame = record["blame"]
    removed = [row["row"] for row in blame["rows"]]
    assert blame["rest"] == "complete" and is_separable(numpy.delete(z, removed, axis=0))
    assert blame["weight"] == len(removed)
    found, is_optimal = fewest(z)
    # Its optimum is an upper bound of the true one, so no proved bound is above it.
    assert blame["at_least"] <= found
    if is_optimal:
        assert blame["weight"] <= found
    return blame["weight"], blame["is_smallest"]


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("seed", range(6))
def test_noisy_rows(program, seed, bias):
    x, y = noisy(seed, 40 + 5 * seed, 2 + seed % 3, 0.4)
    answer = check(program, x, y, bias)
    assert answer is None or answer[1], "so few rows are searched to the end"


def test_iris(program):
    table = Table("iris", "virginica", ["versicolor", "virginica"])
    answers = {check(program, table.x, table.y, bias) for bias in ("append", "free")}
    assert answers == {(1, True)}


def test_counts(program):
    """A row that counts three times costs as much as three equal rows."""
    random = numpy.random.default_rng(7)
    x, y = noisy(11, 30, 2, 0.5)
    counts = random.integers(1, 4, len(x))
    lines = [",".join([*map(repr, map(float, row)), str(count), str(label)]) for row, count, label in zip(x, counts, y)]
    counted = program.folder / "counted.csv"
    counted.write_text("a,b,n,y\n" + "\n".join(lines) + "\n")
    written = write_csv(program.folder / "written.csv", numpy.repeat(x, counts, axis=0), numpy.repeat(y, counts))
    def blame(*arguments):
        command = [program.path, "separate", *arguments, "--blame", "--columns", "none", "--json"]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=program.folder)
        assert done.returncode == 1, done.stderr
        return json.loads(done.stdout)["blame"]

    one, other = blame(counted, "--weights", "n"), blame(written)
    assert one["is_smallest"] and other["is_smallest"]
    assert one["weight"] == other["weight"] == len(other["rows"])
    assert one["weight"] == sum(counts[row["row"]] for row in one["rows"])
