"""Odd tables through every format and back.

The names are odd (`na`, `?`, empty, duplicates, quotes, `c=red` beside a column `c` of words, very long), the cells numbers, words
and gaps; tables have one row, one column, no feature, or very many. A failure: a file that the program wrote and does
not read; a panic or a signal; a refusal without a message; a model trained on one form whose scores on it differ from those of the
same training on another form; a model that reads another form than its own and gives other scores.
"""

import csv
import io
import re

SHORT = 30
NAMES = ("na", "NA", "?", "", " ", "x", "x", "c", "c=red", "c=1", "label", "class", "1", "2.5", "a,b", 'a "b"', "a\tb", "#", "größe", "列", "-", "nan", "inf", "x1", "x2", "true", "a:b", "a;b", "a|b", "'")
WORDS = ("red", "green", "na", "?", "blue sky", "a,b", 'say "no"', "1:2", "#3", "größe", "=", "c=red", "-", " red", "x\ty")
LABELS = (("a", "b"), ("1", "-1"), ("0", "1"), ("yes", "no"), ("red sky", "blue"), ("1.0", "1"), ("a", "b", "c"), ("ä", "ö"), ("a:1", "b#2"), ("1e3", "1000.0", "7"))
# What may be refused, with a message: no features, one class, a column without a value, labels that LIBSVM cannot hold.
REFUSALS = ("no column besides", "two classes", "no values", "cannot be written")
FORMATS = ("csv", "tsv", "svm", "npz", "linsep", "csv.gz", "svm.zst")


def number(random):
    return random.choice(
        [
            lambda: str(random.randrange(-5, 6)),
            lambda: repr(random.uniform(-1, 1)),
            lambda: repr(random.uniform(-1, 1) * 10.0 ** random.randrange(-8, 8)),
            lambda: "0",
            lambda: random.choice(["1e5", "-0.0", ".5", "+3", "1E-2", "007"]),
        ]
    )()


def table(t):
    """The text of a random table."""
    random = t.random
    rows = random.choice([1, 2, 3, 8, 8, 30, 30])
    columns = random.choice([0, 1, 2, 3, 5, 8])
    # Some trials have a kind of table that chance alone would rarely make.
    special = {1: "collision", 3: "long header", 5: "long beginning", 7: "wide"}.get(t.number % 10)
    if special == "wide":
        rows, columns = 4, random.choice([2000, 40000])
    if special in ("collision", "long header"):
        rows, columns = 8, random.choice([2, 3, 5])
    wide = columns > 100
    names = [f"column{j}" if wide else random.choice(NAMES) for j in range(columns)]
    if random.random() < 0.5 and not wide:
        names = [f"{name}{j}" if name in names[:j] else name for j, name in enumerate(names)]
    words = [not wide and random.random() < 0.4 for _ in range(columns)]
    if special == "collision":
        # A column of words, and a column of numbers with the name that one of the words gets.
        first = random.randrange(2)
        names[first], words[first], names[1 - first], words[1 - first] = "c", True, "c=red", False
    if special == "long header":
        names[0] = "n" * 300_000
    gaps = random.random() < 0.3
    labels = random.choice(LABELS)
    out = io.StringIO()
    if special == "long beginning":
        out.write(random.choice(["\n", "# a comment\n"]) * 300_000)
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*names, random.choice(["kind", "label", "class"])])
    for i in range(rows):
        cells = [random.choice(WORDS) if word else number(random) for word in words]
        if special == "collision":
            cells[first] = random.choice(["red", "red", "green"])
        cells = ["" if gaps and random.random() < 0.2 else cell for cell in cells]
        writer.writerow([*cells, labels[i % len(labels)]])
    return out.getvalue()


def scores(t, model, name, *options):
    """The label and the score of each row, or None if the file is refused."""
    ended = t.run("predict", model, name, "--csv", "-q", *options)
    if not t.sound(ended) or ended.code != 0:
        return None
    rows = list(csv.reader(io.StringIO(ended.stdout.decode())))
    return [(row[1], float(row[2])) for row in rows[1:]]


def same(found, expected):
    """Whether labels and scores are the same, up to the rounding of sums, which dense and sparse rows add in other orders."""
    if found is None or len(found) != len(expected):
        return False
    rounding = 1e-9 * max(abs(score) for _, score in expected)
    return all(
        abs(a - b) <= rounding and (label == other or abs(b) <= rounding)
        for (label, a), (other, b) in zip(found, expected)
    )


def trial(t):
    (t.folder / "table.csv").write_text(table(t))
    reading = ("--format", "csv", "--delimiter", ",", "--header", "yes", "--missing", t.random.choice(["zero", "mean"]))
    # What suits a feature depends on whether rows are stored with their zeros.
    training = ("-q", "--epochs", "3", "--scale", "none", "--learner", t.random.choice(["averaged", "perceptron", "svm"]))
    own = t.run("train", "table.csv", *reading, *training, "-o", "table.model")
    if not t.sound(own, codes=[0, 2, 3]):
        return
    if own.code != 0:
        t.count("tables refused")
        if not allowed(t, own):
            return
    expected = scores(t, "table.model", "table.csv", *reading) if own.code == 0 else None
    if own.code == 0 and expected is None:
        t.fail("the model does not read the table that it was trained on", own)
        return
    source, options, forms, named = "table.csv", reading, [], {"table.csv"}
    mistakable = has_made_up_names(t)
    formats = t.random.sample(FORMATS, 4)
    if t.number % 10 == 1:
        # The collision of names shows where a cache has the table's own columns.
        formats = ["linsep", *(format for format in formats if format != "linsep")]
    for format in formats:
        name = f"new.{format}"
        ended = t.run("convert", source, name, "-q", *options)
        if not t.sound(ended, codes=[0, 2, 3]):
            return
        if ended.code != 0:
            t.count("conversions refused")
            if not allowed(t, ended):
                return
            continue
        t.count("conversions")
        # LIBSVM and npz have no names of features, nor has what is made of them.
        if source in named and not format.startswith(("svm", "npz")):
            named.add(name)
        if not compare(t, name, training, expected, name in named or not mistakable):
            continue
        forms.append(name)
        # The next is made of this one, as often as not.
        if t.random.random() < 0.5:
            source, options = name, ()
    fewer_columns(t, [name for name in forms if name in named], reading, training)
    for name in forms:
        other = t.random.choice(["table.csv", *forms])
        if mistakable and (name in named) != (other in named):
            t.count("forms whose names match by accident")
            continue
        crossed(t, f"{name}.model", other, reading if other == "table.csv" else (), expected)


def has_made_up_names(t):
    """Whether the table has a column with a name that the program gives to columns without one: then another form may have
    a column of that name which is not the same."""
    csv.field_size_limit(1 << 24)
    lines = (line for line in (t.folder / "table.csv").read_text().splitlines() if line and not line.startswith("# a comment"))
    header = next(csv.reader(lines), [])
    return any(re.fullmatch(r"x\d+|label", name) for name in header[:-1])


def fewer_columns(t, forms, reading, training):
    """A model of the same table without its first column reads the table alike in all forms that have names."""
    csv.field_size_limit(1 << 24)
    rows = list(csv.reader(io.StringIO((t.folder / "table.csv").read_text())))
    if len(rows[0]) < 3 or len(rows[0]) > 100:
        return
    if rows[0][0] in rows[0][1:]:
        # Without the first of two columns of one name the second has that name: the model takes one for the other, and fills
        # what is missing in the one with the mean of the other.
        t.count("tables whose names match by accident")
        return
    with open(t.folder / "fewer.csv", "w", newline="") as out:
        csv.writer(out, lineterminator="\n").writerows(row[1:] for row in rows)
    ended = t.run("train", "fewer.csv", *reading, *training, "-o", "fewer.model")
    if not t.sound(ended, codes=[0, 2, 3]) or ended.code != 0:
        return
    expected = scores(t, "fewer.model", "table.csv", *reading)
    if expected is not None:
        t.count("models of fewer columns")
        for name in forms:
            crossed(t, "fewer.model", name, (), expected)


def allowed(t, ended):
    """Whether a table was refused for one of the documented reasons."""
    good = any(reason in ended.stderr for reason in REFUSALS)
    if not good:
        t.fail("a table was refused without a good reason", ended)
    return good


def compare(t, name, training, expected, comparable):
    """What was written is read, gives the same model, and is read by the model of the table as the table is. Whether
    there is a model of it."""
    read = t.run("convert", name, "again.linsep", "-q")
    if name.startswith("new.svm") and "the format cannot be determined" in read.stderr and (t.folder / name).stat().st_size < 100:
        # A few labels without a single pair could be any format.
        t.count("LIBSVM files of labels alone")
        return False
    if not t.sound(read, codes=[0]) or expected is None:
        return False
    trained = t.run("train", name, *training, "-o", f"{name}.model")
    if not t.sound(trained, codes=[0]):
        return False
    own = scores(t, f"{name}.model", name)
    if not same(own, expected):
        t.fail(f"a model of {name} gives {shown(own)}, one of the table {shown(expected)}", trained)
        return False
    if comparable:
        crossed(t, "table.model", name, (), expected)
    else:
        t.count("forms whose names match by accident")
    return True


def crossed(t, model, name, options, expected):
    """The model of one form on another: refused, or the same scores."""
    found = scores(t, model, name, *options)
    t.count("forms that the model of another form refused" if found is None else "forms read by the model of another")
    if found is not None and not same(found, expected):
        t.fail(f"{model} gives {shown(found)} on {name}, {shown(expected)} on its own form")


def shown(rows):
    return "nothing" if rows is None else ", ".join(f"{label} {score}" for label, score in rows[:3])
