"""Two checkers that have no code in common: the program linsep-check, and certificate_checker.py. They must agree on certificates of real
tables, on claims about columns, true and false, and on thousands of changed certificates."""

import random
import re
import subprocess
from itertools import product

import pytest
from certificate_checker import NoProof, judge, parse, read
from conftest import ROOT


def rust(program, certificate, data):
    """Whether linsep-check accepts. It exits with 3 for a text that is no certificate."""
    path = program.path.with_name(program.path.name.replace("linsep", "linsep-check"))
    assert path.is_file(), f"{path} is missing: run cargo build first"
    done = subprocess.run([str(path), str(certificate), str(data)], capture_output=True, text=True)
    assert done.returncode in (0, 1) or (done.returncode == 3 and "not a certificate" in done.stderr), done
    assert (done.returncode == 0) == done.stdout.startswith("Accepted: "), done
    return done.returncode == 0


def python(text, table):
    try:
        judge(parse(text), *table)
        return True
    except NoProof:
        return False


class Both:
    """Asks both checkers about changed texts of one certificate."""

    def __init__(self, program, data):
        self.program, self.data, self.table = program, data, read(data)
        self.path = program.folder / "changed.cert"
        self.answers = {True: 0, False: 0}

    def ask(self, text):
        self.path.write_text(text, newline="")
        answer = rust(self.program, self.path, self.data)
        assert answer == python(text, self.table), f"linsep-check accepts: {answer}\n{self.data.read_text()[:2000]}\n{text}"
        self.answers[answer] += 1
        return answer


def separate(program, data, *arguments):
    path = program.folder / "proof.cert"
    done = subprocess.run([str(program.path), "separate", str(data), "-q", "-o", str(path), *arguments], capture_output=True)
    assert done.returncode in (0, 1), done
    return path.read_text()


NUMBERS = ["0x1p0", "-0x1p0", "0x1p-1", "0x3p0", "0x1p1", "0x0p0", "0x5p-3", "0x1p-1074", "0x1p1023", "0x2p0", "0x1fffffffffffffp971", "7"]


def changed(r, text):
    """The text with one change: a number, a place, a line."""
    lines = text.rstrip("\n").split("\n")
    i = r.randrange(len(lines))
    match r.randrange(9):
        case 0 | 1 | 2:
            found = list(re.finditer(r"-?0x[0-9a-f]+p-?\d+", text))
            if found:
                hit = r.choice(found)
                return text[: hit.start()] + r.choice([*NUMBERS, found[0][0], nudged(r, hit[0])]) + text[hit.end() :]
        case 3:
            found = list(re.finditer(r"(?<= )\d+(?=[: \n])", text))
            if found:
                hit = r.choice(found)
                return text[: hit.start()] + str(r.choice([0, 1, 2, 3, int(hit[0]) + 1])) + text[hit.end() :]
        case 4:
            words = lines[i].split(" ")
            del words[r.randrange(len(words))]
            lines[i] = " ".join(words)
        case 5:
            del lines[i]
        case 6:
            lines.insert(r.randrange(len(lines)), lines[i])
        case 7:
            j = r.randrange(len(lines))
            lines[i], lines[j] = lines[j], lines[i]
        case 8:
            words = ["none", "free", "append 0x1p0", "append 0x1p1", "append 0x0p0", "append"]
            lines = [f"bias {r.choice(words)}" if line.startswith("bias") else line for line in lines]
    return "\n".join(lines) + "\n"


def nudged(r, number):
    """A number near this one, or with the other sign."""
    sign, digits, exponent = re.fullmatch("(-?)0x([0-9a-f]+)p(-?[0-9]+)", number).groups()
    if r.randrange(3) == 0:
        return ("" if sign else "-") + number.lstrip("-")
    return f"{sign}0x{(int(digits, 16) << r.choice([1, 40])) + 1:x}p{int(exponent) - r.choice([1, 40])}"


REAL = {
    "iris": ["--positive", "setosa"],
    "iris ": ["--classes", "versicolor,virginica"],
    "breast_cancer": ["--bias", "free"],
}


@pytest.mark.parametrize("name", list(REAL))
def test_real_tables(program, name):
    both = Both(program, ROOT / "data" / f"{name.strip()}.csv")
    text = separate(program, both.data, *REAL[name])
    assert both.ask(text)
    # Each line has one form: no blank at its end, and a line feed after the last one too.
    lines = text.splitlines()
    blank = ["\n".join(line + " " * (i == k) for k, line in enumerate(lines)) + "\n" for i in range(len(lines))]
    assert not any(map(both.ask, [*blank, text.rstrip("\n"), text + "\n", text + " "]))
    r = random.Random(name)
    for _ in range(20):
        both.ask(changed(r, text))


def table(program, r):
    """A small table with whole numbers: columns may repeat, and rows may contradict each other."""
    d = r.randint(1, 3)
    rows = [[r.randint(-1, 2) for _ in range(d)] for _ in range(r.randint(2, 7))]
    if r.random() < 0.4:
        rows = [row + [row[r.randrange(d) * 0]] for row in rows]
    labels = [r.choice(["yes", "no"]) for _ in rows]
    labels[:2] = ["yes", "no"]
    if r.random() < 0.5:
        labels = ["yes" if sum(row) > 1 else "no" if sum(row) < 1 else label for row, label in zip(rows, labels)]
        labels[:2] = ["yes", "no"]
    path = program.folder / "table.csv"
    # With names: whole numbers above a label that no other row has could be names too, and linsep-check refuses such a table.
    lines = [[*(f"x{j}" for j in range(len(rows[0]))), "kind"], *([*row, label] for row, label in zip(rows, labels))]
    path.write_text("\n".join(",".join(map(str, line)) for line in lines) + "\n")
    return path, rows, [1 if label == "yes" else -1 for label in labels]


def vector(values):
    return "".join(f" {j}:{'-' if v < 0 else ''}{({1: '0x1p0', 2: '0x1p1'})[abs(v)]}" for j, v in enumerate(values) if v)


def claims(r, rows, signs, bias):
    """Lines of claims about columns that small vectors prove; now and then one that nothing proves."""
    d = len(rows[0])
    z = [[y * x for x in row] + ([y] if bias != "none" else []) for row, y in zip(rows, signs)]
    width = len(z[0])
    small = [v for v in product(range(-2, 3), repeat=width)]
    dot = lambda v, row: sum(a * b for a, b in zip(v, row))  # noqa: E731
    aside, lines = None, {}
    relations = [v for v in small if any(v) and all(dot(v, row) == 0 for row in z)]
    if relations and r.random() < 0.8:
        relation = r.choice(relations)
        aside = max(j for j in range(width) if relation[j])
        lines[aside] = f"aliased {aside}{vector(relation)}"
    cone = [v for v in small if all(dot(v, row) >= 0 for row in z) and (aside is None or v[aside] == 0)]
    shares = [s for s in product(range(3), repeat=min(len(z), 5)) if any(s)]
    totals = [(s, [sum(a * row[j] for a, row in zip(s, z)) for j in range(width)]) for s in shares]
    members = []
    for j in range(width):
        up, down = ([v for v in cone if sign * v[j] > 0] for sign in (1, -1))
        if j == aside or r.random() < 0.2:
            continue
        if up and down:
            members += [r.choice(up), r.choice(down)]
            lines[j] = f"open {j} {len(members) - 2} {len(members) - 1}"
        elif up or down:
            sign, word = (1, "plus-infinite") if up else (-1, "minus-infinite")
            fits = [s for s, g in totals if sign * g[j] > 0 and all(not g[k] or k in (j, aside) for k in range(width))]
            if fits:
                members.append(r.choice(up or down))
                lines[j] = f"{word} {j} {len(members) - 1}{vector(r.choice(fits))}"
        else:
            lines[j] = f"finite {j}"
    text = [f"member{vector(v)}" for v in members] + [lines[j] for j in sorted(lines)]
    if strict := [v for v in cone if all(dot(v, row) > 0 for row in z)]:
        w = r.choice(strict)
        text.append("alone" + "".join(f" {j}" for j in range(d) if w[j] or r.random() < 0.3) + vector(w))
    sets = [(s, [j for j in range(d) if g[j] == 0]) for s, g in totals if not any(g[d:])]
    sets = r.sample(sets, min(len(sets), 3))
    text += ["not-alone" + "".join(f" {j}" for j in columns) + vector(s) for s, columns in sets]
    return text, r.choice([0, min(1, len(sets)), 2, 3] if sets else [0])


def test_claims_about_columns_and_changes(program):
    r = random.Random(3)
    counts, kinds = {True: 0, False: 0}, {}
    for _ in range(260):
        data, rows, signs = table(program, r)
        bias = r.choice(["none", "append", "free"])
        base = separate(program, data, "--bias", bias)
        lines, least = claims(r, rows, signs, bias)
        # What the program itself claims of columns is replaced.
        kept = [line for line in base.split("\n") if not re.match("member|aliased|finite|plus-|minus-|open|alone|not-alone", line)]
        at = next(i for i, line in enumerate(kept) if line.startswith("at-least"))
        text = "\n".join([*kept[:at], *lines, f"at-least {least}", "end", ""])
        both = Both(program, data)
        assert both.ask(base)
        # Each claim by itself, so that one that is not proved does not hide the others.
        if not both.ask(text):
            without = [line for line in lines if not re.match("finite", line)]
            text = "\n".join([*kept[:at], *without, "at-least 0", "end", ""])
            both.ask(text)
        for line in lines:
            word = line.split(" ")[0]
            kinds[word] = kinds.get(word, 0) + (f"\n{line}\n" in text and python(text, both.table))
        for _ in range(10):
            both.ask(changed(r, text))
        for answer, count in both.answers.items():
            counts[answer] += count
    assert min(counts.values()) > 500, counts
    assert len(kinds) == 8 and min(kinds.values()) > 10, kinds


def test_counts(program):
    """A table of counts is checked as it is: rows that occur not at all are no rows."""
    data = program.folder / "counts.csv"
    data.write_text("x,n,y\n1,3,a\n2,2,b\n1,1,b\n3,0,a\n4,5,b\n0,0,a\n")
    program.run("separate", data, "--weights", "n", "-o", "counts.cert", expect=1)
    path = program.path.with_name(program.path.name.replace("linsep", "linsep-check"))
    ask = [str(path), "counts.cert", str(data)]
    assert subprocess.run([*ask, "--weights", "n"], capture_output=True, cwd=program.folder).returncode == 0
    assert subprocess.run([*ask, "--ignore", "n"], capture_output=True, cwd=program.folder).returncode == 1


def test_sparse_files(program):
    """LIBSVM, with a comment, indices from 0 or from 1, and labels in several forms."""
    for base in (0, 1):
        data = program.folder / f"rows{base}.svm"
        data.write_text(f"+1 {base}:1.5 {base + 2}:-2\n-1 {base}:-1 {base + 1}:1\n1.0 {base}:2\n-1 {base + 1}:0.25\n")
        both = Both(program, data)
        text = separate(program, data)
        assert both.ask(text)
        r = random.Random(base)
        for _ in range(60):
            both.ask(changed(r, text))
        assert min(both.answers.values()) > 0, both.answers
