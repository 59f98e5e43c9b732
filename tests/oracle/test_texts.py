"""Words, n-grams and tf-idf are those of scikit-learn, on the same texts."""

import csv
import unicodedata

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer


TEXTS = [
    "Free entry in 2 a wkly comp to win FA Cup final tkts 21st May 2005!",
    "I won a PRIZE, call 0800_x now; don't wait... O'Neil's e-mail: a.b@c-d.org",
    "Ärger über ΣΊΣΥΦΟΣ in Iстанбул, İstanbul ıssız ǅungla ﬁne Straße ẞ",
    "cafe\u0301 naïve 東京タワー 中文 한국어 नमस्ते दुनिया ไทยแลนด์ עברית العربية",
    "½½ ²³ ⅷⅸ Ⓐⓑ 😀😀 x² H₂O №5 10€ £20 ١٢٣ 〇二三",
    "tabs\tand\nlines\r\nand\x0bvertical\x1cseparators\u00a0no-break\u2003em  two   three",
    "__init__ snake_case a b c d e f",
    "",
    "repeat repeat repeat twice twice once",
    "The quick brown fox; the LAZY dog. the the",
]


def rows_of(program, texts, *options):
    """The matrix that linsep makes of the texts, with the names of its features."""
    with open(program.folder / "texts.csv", "w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, quoting=csv.QUOTE_ALL)
        writer.writerow(["text", "kind"])
        writer.writerows([text, "ab"[i % 2]] for i, text in enumerate(texts))
    least = () if "--min-count" in options else ("--min-count", "1")
    program.run("convert", "texts.csv", "rows.csv", "--text", "text", *least, *options)
    with open(program.folder / "rows.csv", newline="", encoding="utf-8") as made:
        names, *rows = list(csv.reader(made))
    label = names.index("kind")
    numbers = [[float(cell) for j, cell in enumerate(row) if j != label] for row in rows]
    return [name for j, name in enumerate(names) if j != label], np.array(numbers)


def same(program, texts, vectorizer, *options):
    names, found = rows_of(program, texts, *options)
    expected = vectorizer.fit_transform(texts).toarray()
    theirs = vectorizer.get_feature_names_out().tolist()
    assert sorted(names) == sorted(theirs)
    order = [names.index(name) for name in theirs]
    assert np.abs(found[:, order] - expected).max() <= 1e-12


@pytest.fixture
def texts():
    # What a table cannot hold is left out: control characters that no text has.
    return [text.replace("\x0b", " ").replace("\x1c", " ") for text in TEXTS]


def test_counts_of_words(program, texts):
    same(program, texts, CountVectorizer(), "--text-weights", "counts")


def test_presence_of_words_and_pairs(program, texts):
    vectorizer = CountVectorizer(binary=True, ngram_range=(1, 2))
    same(program, texts, vectorizer, "--text-weights", "binary", "--ngrams", "1-2")


def test_tf_idf(program, texts):
    same(program, texts, TfidfVectorizer())


def test_tf_idf_of_triples(program, texts):
    same(program, texts, TfidfVectorizer(ngram_range=(2, 3)), "--ngrams", "2-3")


def test_tf_idf_of_words_in_two_rows(program, texts):
    same(program, texts * 2, TfidfVectorizer(min_df=2), "--min-count", "2")


@pytest.mark.parametrize("least, most", [(1, 1), (2, 4)])
def test_counts_of_characters(program, texts, least, most):
    vectorizer = CountVectorizer(analyzer="char", ngram_range=(least, most))
    options = ("--terms", "characters", "--ngrams", f"{least}-{most}", "--text-weights", "counts")
    # Line ends in cells are part of the text; names of columns show them as one character each.
    plain = [" ".join(text.split("\n")).replace("\r", " ").replace("\t", " ") for text in texts]
    same(program, plain, vectorizer, *options)


def test_every_character_is_of_a_word_or_not(program):
    """Every character that this Python knows, twice between spaces: a word if scikit-learn says so."""
    known = [chr(c) for c in range(0x20, 0x110000) if unicodedata.category(chr(c)) not in ("Cn", "Cs", "Co", "Cc")]
    texts = ["".join(f" q{c}{c}q " for c in known[i : i + 2000]) for i in range(0, len(known), 2000)]
    names, _ = rows_of(program, texts, "--text-weights", "binary", "--max-features", "1000000")
    theirs = CountVectorizer().fit(texts).get_feature_names_out().tolist()
    assert sorted(names) == sorted(theirs)
