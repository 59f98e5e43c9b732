"""A second checker of certificates, from docs/certificate.md alone: fractions, no code of linsep.

    python3 certificate_checker.py CERTIFICATE DATA    (exit code 0: accepted, 1: rejected)
"""

import csv
import re
import sys
from fractions import Fraction
from itertools import combinations

# The words of coefficients, with how many whole numbers follow.
STATUSES = {"aliased": 1, "finite": 1, "plus-infinite": 2, "minus-infinite": 2, "open": 3}


class NoProof(Exception):
    """The certificate does not prove what it says."""


def ensure(truth, reason):
    if not truth:
        raise NoProof(reason)


def whole(text):
    ensure(re.fullmatch("0|[1-9][0-9]*", text), f"{text} is no whole number")
    return int(text)


def number(text, is_float=False):
    found = re.fullmatch("(-?)0x([0-9a-f]+)p(0|-?[1-9][0-9]*)", text)
    ensure(found and (text == "0x0p0" or found[2][0] != "0" and int(found[2][-1], 16) % 2), f"{text} is no number")
    digits, exponent, bits = int(found[2], 16), int(found[3]), int(found[2], 16).bit_length()
    ensure(bits <= 2**20 and abs(exponent) <= 10**6, f"{text} is beyond the limits")
    ensure(not is_float or bits <= 53 and exponent >= -1074 and exponent + bits <= 1024, f"{text} is no float")
    return (-1 if found[1] else 1) * digits * Fraction(2) ** exponent


def increase(numbers, end):
    return all(a < b for a, b in zip(numbers, [*numbers[1:], end]))


def items(text, count=0):
    """So many whole numbers (any number of them, if None), and a vector."""
    tokens = text.split(" ") if text else []
    numbers = [whole(token) for token in tokens if ":" not in token]
    ensure(count in (None, len(numbers)) and all(":" in token for token in tokens[len(numbers) :]), "another form")
    pairs = [(whole(token.split(":", 1)[0]), number(token.split(":", 1)[1])) for token in tokens[len(numbers) :]]
    ensure(increase([place for place, _ in pairs], sys.maxsize) and all(v for _, v in pairs), "not a vector")
    return numbers, dict(pairs)


def parse(text):
    lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")[::-1]

    def begins(word):
        return bool(lines) and (lines[-1] + " ").startswith(word + " ")

    def one(word, read=lambda text: items(text)[1]):
        ensure(begins(word) and lines[-1] != word + " ", f"expected {word}")
        return read(lines.pop()[len(word) + 1 :])

    def many(word, *read):
        return [one(word, *read) for _ in iter(lambda: begins(word), False)]

    def name(text):
        ensure(re.fullmatch(r'"([^\\]|\\[nrb])*"', text), "a name without quotes, or a backslash that stands for nothing")
        return text[1:-1].replace(r"\n", "\n").replace(r"\r", "\r").replace(r"\b", "\\")

    one("linsep certificate 2", lambda text: ensure(not text, "another version"))
    c = {"fingerprint": one("fingerprint", name)} | {size: one(size, whole) for size in ("rows", "features")}
    c |= {side: many(side, name) for side in ("positive", "negative")}
    c |= {word: one(word, str) for word in ("bias", "verdict")}
    plain = {"none": Fraction(0), "free": Fraction(1)}.get(c["bias"])
    c["appended"] = number(c["bias"].removeprefix("append "), True) if plain is None else plain
    ensure(plain is not None or c["bias"].startswith("append ") and c["appended"] > 0, "the bias")
    ensure(c["verdict"] in ("complete", "quasi-complete", "overlap"), "the verdict")
    c["weights"] = one("weights") if c["verdict"] != "overlap" else {}
    ends = ("lower", "upper") if c["verdict"] == "complete" else ()
    c["ends"] = [one(end, lambda text: number(text, True)) for end in ends]
    c["combination"], c["kernel"] = one("combination"), many("kernel") if not ends else []
    c["members"], c["coefficients"] = many("member"), []
    while word := next(filter(begins, STATUSES), None):
        c["coefficients"].append((word, *one(word, lambda text: items(text, STATUSES[word]))))
    c["alone"], c["not-alone"] = (many(word, lambda text: items(text, None)) for word in ("alone", "not-alone"))
    c["at-least"] = one("at-least", whole)
    one("end", lambda rest: ensure(not (rest or lines) and text.endswith("\n"), "text after the end, or no line feed"))
    return c


def key(label):
    """Numbers with at most 15 digits are classes by their value."""
    is_number = re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", label)
    return float(label) if is_number and len(re.sub(r"[eE].*|\D", "", label).lstrip("0")) <= 15 else label


def dot(a, b):
    a, b = sorted((a, b), key=len)
    return sum(value * b[place] for place, value in a.items() if place in b)


def rank(vectors):
    pivots = {}
    for vector in vectors:
        for place, pivot in pivots.items():
            if factor := vector.get(place):
                vector = {j: vector.get(j, 0) - factor * pivot.get(j, 0) for j in vector.keys() | pivot.keys()}
        if vector := {j: value for j, value in vector.items() if value}:
            place = min(vector)
            pivots[place] = {j: value / vector[place] for j, value in vector.items()}
    return len(pivots)


def judge(c, features, x, labels, one_sided=False):
    """The verdict, and the rows on the boundary if they are shown to be forced. x: rows of {feature: float}."""
    width = features + (c["bias"] != "none")
    up, down = ({key(name) for name in c[side]} for side in ("positive", "negative"))
    ensure((c["rows"], c["features"]) == (len(x), features) and not up & down, "other data")
    side = [(key(label) in up) - (key(label) in down) for label in labels]
    ensure(set(side) >= {1, -1} or one_sided and any(side), "no rows, or rows of one side only")
    rows = [{j: Fraction(value) for j, value in row.items() if value} | {features: c["appended"]} for row in x]
    z = {i: {j: y * value for j, value in rows[i].items() if j < width} for i, y in enumerate(side) if y}

    def signs(v):
        ensure(all(j < width for j in v), "a place out of range")
        products = {i: dot(v, row) for i, row in z.items()}
        ensure(min(products.values()) >= 0, "a row on the wrong side")
        return products

    def combine(shares):
        ensure(all(i in z and share > 0 for i, share in shares.items()), "a share that is not positive")
        sums = {j: sum(share * z[i].get(j, 0) for i, share in shares.items()) for i in shares for j in z[i]}
        return {j: value for j, value in sums.items() if value}

    products, shares, space, boundary = signs(c["weights"]), c["combination"], set(), []
    total = combine(shares)
    if c["verdict"] == "complete":
        (lower, upper), norm = c["ends"], features if c["bias"] == "free" else width
        least, square = min(products.values()), sum(v**2 for j, v in c["weights"].items() if j < norm)
        ensure(least > 0 and 0 <= lower <= upper and (not lower or 0 < lower**2 * square <= least**2), "the lower end")
        ensure(all(j < norm for j in total) and (shares or upper == sys.float_info.max), "the combination")
        ensure(sum(v**2 for v in total.values()) <= (upper * sum(shares.values())) ** 2, "the upper end")
    else:
        boundary, kernel = [i for i, product in products.items() if not product], c["kernel"]
        ensure(not total and (c["verdict"] == "overlap" or shares and len(boundary) < len(z)), "the combination")
        used = {j for i in boundary for j in z[i]}
        ensure(not any(dot(v, z[i]) for v in kernel for i in boundary), "the kernel is not orthogonal")
        ensure(rank({j: v[j] for j in v.keys() & used} for v in kernel) == len(kernel), "the kernel is not independent")
        space = used if rank(z[i] for i in shares) == len(used) - len(kernel) else None
        boundary = boundary if space is not None or shares.keys() >= set(boundary) and not kernel else None
        ensure(c["verdict"] != "overlap" and not kernel or boundary is not None, "the rows are not spanned")
    columns(c, features, width, signs, combine, space or set())
    return c["verdict"], boundary


def columns(c, features, width, signs, combine, used):
    """The claims about columns. `used`: the places of the forced rows, if the rank argument holds."""
    ensure(increase([numbers[0] for _, numbers, _ in c["coefficients"]], width), "coefficients are not in order")
    ensure(all(j < width for v in c["kernel"] for j in v), "a place out of range")
    aliased = {numbers[0]: vector for word, numbers, vector in c["coefficients"] if word == "aliased"}
    ensure(all(signs(member) and not member.keys() & aliased.keys() for member in c["members"]), "a member")
    ensure(all(v.keys() & aliased.keys() == {j} and not any(signs(v).values()) for j, v in aliased.items()), "a relation")
    aside = aliased.keys() & used
    counted = [v for v in c["kernel"] if not any(v == aliased[a] for a in aside)]
    members, wanted = dict(enumerate(c["members"])), {"plus-infinite": [1], "minus-infinite": [-1], "open": [1, -1]}
    for word, (j, *which), vector in c["coefficients"]:
        ensure(not vector or word not in ("finite", "open"), "a vector too many")
        if word == "finite":
            ensure(j in used and not any(v.keys() & (aside | {j}) for v in counted), "not finite")
        elif word != "aliased":
            have = [members.get(member, {}).get(j, 0) for member in which]
            ensure(all(sign * value > 0 for sign, value in zip(wanted[word], have)), "a member without the sign")
            total = combine(vector)
            ensure(word == "open" or total.keys() - aliased.keys() == {j} and total[j] * wanted[word][0] > 0, "not infinite")
    ensure(all(increase(chosen, features) for chosen, _ in c["alone"] + c["not-alone"]), "a set of columns")
    ensure(all(v.keys() <= {*s, features} and min(signs(v).values()) > 0 for s, v in c["alone"]), "a set alone")
    ensure(all(v and not combine(v).keys() & {*s, features} for s, v in c["not-alone"]), "a set that may separate")
    few = (set(some) for size in range(min(c["at-least"], 3)) for some in combinations(range(features), size))
    shown = all(any(some <= set(chosen) for chosen, _ in c["not-alone"]) for some in few)
    ensure(c["at-least"] <= 3 and shown, "the least number of columns")


def read(path):
    """The number of features, rows of {feature: float}, and labels, of a table of numbers (label last) or a LIBSVM file."""
    with open(path, encoding="utf-8-sig") as opened:
        lines = [line for line in opened if line.strip()]
    if re.match(r"\S+\s+\d+:", lines[0]):
        pairs = [[pair.split(":") for pair in line.split()[1:]] for line in lines]
        base = 0 if any(index == "0" for row in pairs for index, _ in row) else 1
        rows = [{int(index) - base: float(value) for index, value in row} for row in pairs]
        return 1 + max(j for row in rows for j in row), rows, [line.split()[0] for line in lines]
    rows = list(csv.reader(lines))
    rows = rows[not all(isinstance(key(cell), float) for cell in rows[0][:-1]) :]
    return len(rows[0]) - 1, [dict(enumerate(map(float, row[:-1]))) for row in rows], [row[-1] for row in rows]


if __name__ == "__main__":
    with open(sys.argv[1], newline="", encoding="utf-8") as opened:
        print("accepted:", judge(parse(opened.read()), *read(sys.argv[2]))[0])
