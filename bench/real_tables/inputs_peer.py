"""What bench/inputs.py runs in a Python with scikit-learn: raw files to models, and their errors."""

import time

BEGAN = time.perf_counter()

import email
import email.policy
import gzip
import html.parser
import json
import struct
import sys
from pathlib import Path

import numpy
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler
from sklearn.svm import LinearSVC


class Words(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.parts, self.hidden = [], 0

    def handle_starttag(self, tag, attributes):
        self.hidden += tag in ("script", "style", "head")

    def handle_endtag(self, tag):
        self.hidden -= tag in ("script", "style", "head") and self.hidden > 0

    def handle_data(self, data):
        if not self.hidden:
            self.parts.append(data)


def text_of(part):
    try:
        text = part.get_content()
    except (LookupError, UnicodeError, ValueError, KeyError):
        text = (part.get_payload(decode=True) or b"").decode("latin-1")
    if part.get_content_subtype() == "html":
        words = Words()
        words.feed(text)
        text = " ".join(words.parts)
    return text


def mail(path):
    """Subject, body and names of attachments."""
    raw = path.read_bytes()
    if raw.startswith(b"From "):
        raw = raw[raw.find(b"\n") + 1 :]
    message = email.message_from_bytes(raw, policy=email.policy.default)
    try:
        found = [str(message["subject"] or "")]
    except (ValueError, IndexError, AttributeError):
        found = []
    try:
        plain = [part for part in message.walk() if part.get_content_type() == "text/plain"]
        pages = [part for part in message.walk() if part.get_content_type() == "text/html"]
        found += [text_of(part) for part in plain or pages]
        found += [part.get_filename() for part in message.walk() if part.get_filename()]
    except (ValueError, IndexError, AttributeError, TypeError):
        found.append(raw.decode("latin-1"))
    return "\n".join(found)


def pictures(folder):
    from PIL import Image, ImageOps

    rows, labels = [], []
    for path in sorted(folder.glob("*/*")):
        picture = ImageOps.exif_transpose(Image.open(path)).convert("L")
        rows.append(numpy.asarray(picture.resize((128, 128), Image.Resampling.BILINEAR), dtype=float).ravel())
        labels.append(path.parent.name)
    return numpy.array(rows), labels


def idx(path):
    def array(path):
        raw = gzip.open(path).read()
        rows, start = struct.unpack(">I", raw[4:8])[0], 4 + 4 * raw[3]
        return numpy.frombuffer(raw, dtype="u1", offset=start).reshape(rows, -1)

    labels = path.with_name(path.name.replace("images", "labels").replace("idx3", "idx1"))
    return array(path).astype(float), array(labels).ravel()


def table(path):
    import pandas

    rows = pandas.read_csv(path, header=None, skipinitialspace=True, keep_default_na=False)
    return rows.iloc[:, :-1], rows.iloc[:, -1]


def read(kind, path):
    if kind in NUMBERS:
        return {"pictures": pictures, "idx": idx, "table": table}[kind](path)
    if kind == "lines":
        rows = [line.split("\t", 1) for line in path.read_text(encoding="utf-8").split("\n") if line]
        return [text for _, text in rows], [label for label, _ in rows]
    texts, labels = [], []
    for folder in sorted(path.iterdir()):
        for file in sorted(folder.iterdir()):
            texts.append(mail(file))
            labels.append(folder.name)
    return texts, labels


# How rows of numbers and words are prepared; texts have vectorizers.
NUMBERS = {
    "pictures": MaxAbsScaler,
    "idx": MaxAbsScaler,
    "table": lambda: make_column_transformer(
        (StandardScaler(), make_column_selector(dtype_include="number")),
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_exclude="number")),
    ),
}


def main():
    kind, train, test, out = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), Path(sys.argv[4])
    clock = time.perf_counter()
    imports = clock - BEGAN
    texts, labels = read(kind, train)
    reading = time.perf_counter() - clock
    judged, truth = read(kind, test)
    found = {}
    if kind in NUMBERS:
        ways = [("", NUMBERS[kind])]
    else:
        ways = [
            ("tf-idf, ", lambda: TfidfVectorizer(min_df=2)),
            ("counts, ", lambda: CountVectorizer(min_df=2)),
        ]
    for way, preparation in ways:
        for name, learner in [("LinearSVC", LinearSVC), ("LogisticRegression", LogisticRegression)]:
            options = {"max_iter": 1000} if learner is LogisticRegression else {}
            clock = time.perf_counter()
            model = make_pipeline(preparation(), learner(**options)).fit(texts, labels)
            seconds = time.perf_counter() - clock + reading
            said = model.predict(judged)
            wrong = [int(one != other) for one, other in zip(said, truth)]
            own = {"error": sum(wrong) / len(wrong), "wrong": wrong}
            found[f"{way}{name}"] = {**own, "seconds": seconds, "imports": imports}
    out.write_text(json.dumps({"truth": [str(label) for label in truth], "found": found}))


main()
