"""Odd tables through every format and back.

The names are odd (`na`, `?`, empty, duplicates, quotes, `c=red` beside a column `c` of words, very long), the cells numbers, words
and gaps; tables have one row, one column, no feature, or very many. A failure: a file that the program wrote and does
not read; a panic or a signal; a refusal without a message; a model trained on one form whose scores on it differ from those of the
same training on another form; a model that reads another form than its own and gives other scores.
"""

import csv
import io

SHORT = 18
NAMES = ("na", "NA", "?", "", " ", "x", "x", "c", "c=red", "c=1", "label", "class", "1", "2.5", "a,b", 'a "b"', "a\tb", "#", "größe", "列", "-", "nan", "inf", "x1", "x2", "true", "a:b", "a;b", "a|b", "'")
WORDS = ("red", "green", "na", "?", "blue sky", "a,b", 'say "no"', "1:2", "#3", "größe", "=", "c=red", "-", " red", "x\ty")
LABELS = (("a", "b"), ("1", "-1"), ("0", "1"), ("yes", "no"), ("red sky", "blue"), ("1.0", "1"), ("a", "b", "c"), ("ä", "ö"), ("a:1", "b#2"), ("1e3", "1000.0", "7"))
FORMATS = ("csv", "tsv", "svm", "npz", "linsep", "csv.gz", "svm.zst")


def number(random):
    return random.choice(
        [
            lambda: str(random.randrange(-5, 6)),
            lambda: repr(random.uniform(-1, 1)),
            lambda: repr(random.uniform(-1, 1) * 10.0 ** random.randrange(-300, 300)),
            lambda: "0",
            lambda: random.choice(["1e5", "-0.0", ".5", "+3", "1E-2", "007"]),
        ]
    )()


def table(t):
    """Text of a random table, and whether it has gaps."""
    random = t.random
    rows = random.choice([1, 2, 3, 8, 30])
    columns = random.choice([0, 1, 2, 3, 5, 8])
    if random.random() < 0.1:
        rows, columns = 4, random.choice([2000, 40000])
    wide = columns > 100
    names = [f"column{j}" if wide else random.choice(NAMES) for j in range(columns)]
    if random.random() < 0.5 and not wide:
        names = [f"{name}{j}" if name in names[:j] else name for j, name in enumerate(names)]
    if random.random() < 0.1 and columns:
        names[0] = "n" * 300_000
    words = [not wide and random.random() < 0.4 for _ in range(columns)]
    gaps = random.random() < 0.3
    labels = random.choice(LABELS)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*names, random.choice(["kind", "label", "class"])])
    for i in range(rows):
        cells = [random.choice(WORDS) if word else number(random) for word in words]
        cells = ["" if gaps and random.random() < 0.2 else cell for cell in cells]
        writer.writerow([*cells, labels[i % len(labels)]])
    return out.getvalue(), gaps


def scores(t, model, name, *options):
    """The scores of a model on a file, as text, or None if it is refused."""
    ended = t.run("predict", model, name, "--csv", "-q", *options)
    if not t.sound(ended) or ended.code != 0:
        return None
    # Lines of the source differ between the forms: the label, the score and the distance count.
    return [line.split(b",", 1)[1] for line in ended.stdout.splitlines()[1:]]


def trial(t):
    text, gaps = table(t)
    (t.folder / "table.csv").write_text(text)
    reading = ("--header", "yes", *(("--missing", t.random.choice(["zero", "mean"])) if gaps else ()))
    training = ("-q", "--epochs", "3", "--learner", t.random.choice(["averaged", "perceptron", "svm"]))
    own = t.run("train", "table.csv", *reading, *training, "-o", "table.model")
    if not t.sound(own, codes=[0, 2, 3]):
        return
    if own.code != 0:
        t.count("tables refused")
    expected = scores(t, "table.model", "table.csv", *reading) if own.code == 0 else None
    if own.code == 0 and expected is None:
        t.fail("the model does not read the table that it was trained on", own)
        return
    written = {}
    source, options = "table.csv", reading
    for format in t.random.sample(FORMATS, 4):
        name = f"new.{format}"
        ended = t.run("convert", source, name, "-q", *options)
        if not t.sound(ended, codes=[0, 2, 3]):
            return
        if ended.code != 0:
            t.count("conversions refused")
            # Only the table itself may be refused by every format; what the program wrote has no bad cells.
            continue
        t.count("conversions")
        compare(t, name, training, expected)
        # The next is made of this one, as often as not.
        if t.random.random() < 0.5:
            source, options = name, ()
        written[format] = name


def compare(t, name, training, expected):
    """What was written is read, gives the same model, and is read by the model of the table as the table is."""
    read = t.run("convert", name, "again.linsep", "-q")
    if not t.sound(read, codes=[0]):
        return
    if expected is None:
        return
    trained = t.run("train", name, *training, "-o", "new.model")
    if not t.sound(trained, codes=[0]):
        return
    if (own := scores(t, "new.model", name)) != expected:
        t.fail(f"a model of {name} gives {shown(own)}, one of the table {shown(expected)}", trained)
    crossed = scores(t, "table.model", name)
    if crossed is None:
        t.count("forms that the model of the table refused")
    elif crossed != expected:
        t.fail(f"the model of the table gives {shown(crossed)} on {name}, {shown(expected)} on the table", trained)


def shown(lines):
    return "nothing" if lines is None else b"; ".join(lines[:3]).decode(errors="replace")
