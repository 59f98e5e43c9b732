"""Wide data for `wide.py`: each case is made once, from real data where the folder has it."""

import gzip
import re
from collections import Counter

SEED = 0


def write_svm(path, rows, labels):
    """Rows as dictionaries of column to value, columns from 1."""
    with open(path, "w") as out:
        for row, label in zip(rows, labels):
            out.write(f"{label:+d} " + " ".join(f"{column}:{value:g}" for column, value in sorted(row.items())) + "\n")


def pictures(data, folder):
    """2,000 colour pictures of 32 × 32 × 3 = 3,072 bytes: parts of photographs of cats and dogs."""
    import numpy
    from PIL import Image

    random = numpy.random.default_rng(SEED)
    files = [(path, sign) for name, sign in (("cats", -1), ("dogs", 1)) for path in sorted((data / "cats-dogs").glob(f"*/{name}/*"))]
    rows, labels = [], []
    for path, sign in files:
        with Image.open(path) as image:
            image = image.convert("RGB")
            for _ in range(-(-2000 // len(files))):
                side = int(random.integers(min(image.size) // 3, min(image.size) + 1))
                left, top = (int(random.integers(0, size - side + 1)) for size in image.size)
                part = image.resize((32, 32), box=(left, top, left + side, top + side))
                rows.append(numpy.asarray(part, numpy.float32).ravel())
                labels.append(sign)
    keep = random.permutation(len(rows))[:2000]
    numpy.save(folder / "pictures.npy", numpy.array(rows)[keep])
    numpy.save(folder / "pictures-labels.npy", numpy.array(labels, numpy.int8)[keep])
    return [folder / "pictures.npy", "--labels", folder / "pictures-labels.npy"]


def one_hot(_, folder):
    """32,769 rows of nine words of 15,000 and more levels in all, one column for each level, one label in sixteen negative; the levels
    of a word are Zipf-distributed, some words depend on others, and 40 rows contradict each other by fours."""
    import numpy

    random = numpy.random.default_rng(SEED)
    n, sizes = 32_769, [7518, 4243, 128, 177, 449, 343, 2358, 67, 343]
    columns, offset = [], 0
    draws = []
    for size in sizes:
        weights = 1.0 / numpy.arange(1, size + 1) ** 0.8
        draws.append(random.choice(size, n, p=weights / weights.sum()))
    # A manager belongs to one department and one branch, a title to one family and one code.
    for parent, children in ((1, (2, 3, 4)), (6, (5, 7, 8))):
        for child in children:
            kept = random.random(n) < 0.9
            of = random.integers(0, sizes[child], sizes[parent])
            draws[child] = numpy.where(kept, of[draws[parent]], draws[child])
    for draw, size in zip(draws, sizes):
        columns.append(draw + offset)
        offset += size
    # The label depends on the words, so that a few words alone never tell.
    effect = random.normal(size=offset) * 0.7
    score = sum(effect[column] for column in columns) + random.logistic(size=n)
    labels = numpy.where(score > numpy.quantile(score, 0.06), 1, -1)
    # Ten times two rows of one side and two of the other that differ by which has which first word: 40 rows of which no boundary has
    # all on their right sides.
    first = random.choice(numpy.flatnonzero(labels > 0), 40, replace=False)
    for a, b, c, d in first.reshape(10, 4):
        for column in columns:
            column[c], column[d] = column[a], column[b]
        columns[0][c], columns[0][d] = columns[0][b], columns[0][a]
        labels[c] = labels[d] = -1
    write_svm(folder / "one-hot.svm", ({int(c[i]) + 1: 1 for c in columns} for i in range(n)), labels)
    return [folder / "one-hot.svm"]


def one_hot_random(_, folder):
    """8,000 rows of six words of 4,240 levels in all, one column for each level, random labels: many levels occur in one class only."""
    import numpy

    random = numpy.random.default_rng(1)
    draws = [random.choice(size, 8000) for size in (4000, 500, 150, 60, 30, 12)]
    labels = random.choice([-1, 1], 8000)
    names = {}
    rows = [[names.setdefault((k, int(draw[i])), len(names) + 1) for k, draw in enumerate(draws)] for i in range(8000)]
    write_svm(folder / "one-hot-random.svm", ({column: 1 for column in row} for row in rows), labels)
    return [folder / "one-hot-random.svm"]


def enron(data):
    with gzip.open(data / "libsvm" / "enron_binary_bow.svm.gz", "rt") as lines:
        for line in lines:
            label, *cells = line.split()
            yield int(float(label)), {int(column): float(value) for column, value in (cell.split(":") for cell in cells)}


def frequent(rows, most):
    counts = Counter(column for row in rows for column in row)
    return {column: place + 1 for place, (column, _) in enumerate(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:most])}


def word_counts(data, folder):
    """25,000 e-mails, the 1,500 most frequent words, counts; as LIBSVM and as a dense array."""
    import numpy

    random = numpy.random.default_rng(SEED)
    both = list(enron(data))
    both = [both[i] for i in random.permutation(len(both))[:25_000]]
    places = frequent([row for _, row in both], 1500)
    # Presence made counts, so that not every entry is one.
    rows = [{places[c]: 1 + min(int(random.geometric(0.6)) - 1, 9) for c in row if c in places} for _, row in both]
    labels = [label for label, _ in both]
    write_svm(folder / "word-counts.svm", rows, labels)
    dense = numpy.zeros((len(rows), 1500), numpy.float32)
    for i, row in enumerate(rows):
        for column, value in row.items():
            dense[i, column - 1] = value
    numpy.save(folder / "word-counts.npy", dense)
    numpy.save(folder / "word-counts-labels.npy", numpy.array(labels, numpy.int8))
    return [folder / "word-counts.svm"]


def reviews(_, folder):
    """25,000 texts of Zipf-distributed words, the 1,500 most frequent counted, labels that depend on them with noise: overlap."""
    import numpy

    random = numpy.random.default_rng(SEED)
    n, d = 25_000, 1500
    weights = 1.0 / (numpy.arange(d) + 10.0)
    weights /= weights.sum()
    effect = random.normal(size=d) * 0.5
    rows, score = [], []
    for _ in range(n):
        words = random.choice(d, int(random.lognormal(4.4, 0.6)) + 5, p=weights)
        row = Counter(int(word) + 1 for word in words)
        rows.append(row)
        score.append(sum(effect[c - 1] * v for c, v in row.items()) / 3.0)
    labels = numpy.where(numpy.array(score) + random.logistic(size=n) > 0, 1, -1)
    write_svm(folder / "reviews.svm", rows, labels)
    return [folder / "reviews.svm"]


def random_labels(data, folder):
    """7,770 posts, 8,315 words, random labels, and 69 of the posts once more with the other label."""
    import numpy

    random = numpy.random.default_rng(SEED)
    rows = []
    with gzip.open(data / "libsvm" / "20news_vectorized.train.svm.gz", "rt") as lines:
        for line in lines:
            cells = (cell.split(":") for cell in line.split()[1:])
            rows.append({int(column): float(value) for column, value in cells})
    # Words of a middling number of posts: short rows, as in headlines.
    counts = Counter(column for row in rows for column in row)
    middling = [column for column, count in sorted(counts.items()) if 12 <= count <= 400]
    chosen = {int(c): k + 1 for k, c in enumerate(random.permutation(middling)[:8315])}
    rows = [{chosen[c]: v for c, v in row.items() if c in chosen} for row in rows]
    rows = [rows[i] for i in random.permutation(len(rows)) if rows[i]][: 7770 - 69]
    labels = [int(label) for label in random.choice([-1, 1], len(rows))]
    for i in random.choice(len(rows), 69, replace=False):
        rows.append(rows[i])
        labels.append(-labels[i])
    write_svm(folder / "random-labels.svm", rows, labels)
    return [folder / "random-labels.svm"]


def sms_random(data, folder):
    """5,574 short messages, their words, random labels: many messages occur more than once, with both labels."""
    import numpy

    random = numpy.random.default_rng(SEED)
    names, rows = {}, []
    for line in (data / "sms-spam" / "SMSSpamCollection").read_text(errors="replace").splitlines():
        words = re.findall(r"\w+", line.split("\t", 1)[1].lower())
        rows.append(Counter(names.setdefault(word, len(names) + 1) for word in words))
    labels = [int(label) for label in random.choice([-1, 1], len(rows))]
    write_svm(folder / "sms-random.svm", rows, labels)
    return [folder / "sms-random.svm"]


def mapped(data, folder, name, n, labels_of):
    """Spam features mapped at random to 2,500 dimensions, with a kink: as f32."""
    import numpy

    random = numpy.random.default_rng(SEED)
    cells = [line.split(",") for line in (data / "spambase" / "spambase.data").read_text().split()]
    x = numpy.log1p(numpy.array([[float(cell) for cell in row[:57]] for row in cells]))
    y = numpy.array([1 if row[57] == "1" else -1 for row in cells], numpy.int8)
    keep = random.permutation(len(x))[:n]
    x, y = x[keep], y[keep]
    rows = numpy.maximum(x @ random.normal(size=(57, 2500)) + random.normal(size=2500), 0.0).astype(numpy.float32)
    numpy.save(folder / f"{name}.npy", rows)
    numpy.save(folder / f"{name}-labels.npy", labels_of(random, y))
    return [folder / f"{name}.npy", "--labels", folder / f"{name}-labels.npy"]


def mapped_spam(data, folder):
    """4,601 e-mails with 57 features, mapped at random to 2,500 dimensions."""
    return mapped(data, folder, "mapped-spam", 4601, lambda random, y: y)


def mapped_random(data, folder):
    """2,400 of them with random labels: the rank may be the number of rows."""
    return mapped(data, folder, "mapped-random", 2400, lambda random, y: random.choice([-1, 1], len(y)).astype("int8"))


def linear_map(data, folder):
    """2,000 e-mails with 57 features, mapped linearly at random to 2,500 dimensions and rounded to f32: of rank 57 but for the
    rounding."""
    import numpy

    random = numpy.random.default_rng(SEED)
    cells = [line.split(",") for line in (data / "spambase" / "spambase.data").read_text().split()]
    x = numpy.log1p(numpy.array([[float(cell) for cell in row[:57]] for row in cells]))
    y = numpy.array([1 if row[57] == "1" else -1 for row in cells], numpy.int8)
    keep = random.permutation(len(x))[:2000]
    numpy.save(folder / "linear-map.npy", (x[keep] @ random.normal(size=(57, 2500))).astype(numpy.float32))
    numpy.save(folder / "linear-map-labels.npy", y[keep])
    return [folder / "linear-map.npy", "--labels", folder / "linear-map-labels.npy"]


CASES = {
    "pictures": pictures,
    "one-hot": one_hot,
    "one-hot-random": one_hot_random,
    "word-counts": word_counts,
    "reviews": reviews,
    "random-labels": random_labels,
    "sms-random": sms_random,
    "mapped-spam": mapped_spam,
    "mapped-random": mapped_random,
    "linear-map": linear_map,
}
