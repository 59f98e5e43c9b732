"""Certificates of separation, judged from their documented format alone: fractions, no code of linsep.

A certificate is JSON. Its numbers are whole numbers in base 16 times powers of two, such as "-0x1f3p-12".
"""

from fractions import Fraction

# Full rank modulo a prime proves full rank. Modulo this one, powers of two do not soon repeat.
PRIME = 2**64 - 59


class NoProof(Exception):
    """The certificate does not prove what it says."""


def ensure(truth, reason):
    if not truth:
        raise NoProof(reason)


def number(text):
    """Exactly what the text says: float.fromhex would round long numbers."""
    sign, text = (-1, text[1:]) if text.startswith("-") else (1, text)
    ensure(text.startswith("0x"), f"{text} is no number of the format")
    digits, exponent = text[2:].split("p")
    return sign * Fraction(int(digits, 16)) * Fraction(2) ** int(exponent)


def vector(pairs, width):
    """The non-zero entries by place."""
    places = [place for place, _ in pairs]
    ensure(all(a < b for a, b in zip(places, places[1:])), "places must increase")
    ensure(all(0 <= place < width for place in places), "a place is out of range")
    return {place: number(text) for place, text in pairs}


def rank(rows):
    """The rank modulo the prime: at most the rank. Rows are dictionaries."""
    residue = lambda value: value.numerator * pow(value.denominator, -1, PRIME) % PRIME  # noqa: E731
    pivots = {}
    for row in rows:
        row = {place: residue(value) for place, value in row.items()}
        while row := {place: value for place, value in row.items() if value}:
            place = min(row)
            if place not in pivots:
                inverse = pow(row[place], -1, PRIME)
                pivots[place] = {other: value * inverse % PRIME for other, value in row.items()}
                break
            factor = row[place]
            for other, value in pivots[place].items():
                row[other] = (row.get(other, 0) - factor * value) % PRIME
    return len(pivots)


def dot(a, b):
    if len(a) > len(b):
        a, b = b, a
    return sum(value * b[place] for place, value in a.items() if place in b)


def combined(shares, rows):
    total = {}
    for i, share in shares.items():
        for place, value in rows[i].items():
            total[place] = total.get(place, 0) + share * value
    return {place: value for place, value in total.items() if value}


def spans(shares, rows, boundary, kernel):
    """Whether the rows of the combination span the rows on the boundary."""
    if set(boundary) <= set(shares):
        return True
    used = {place for i in boundary for place in rows[i]}
    for v in kernel:
        ensure(all(dot(v, rows[i]) == 0 for i in boundary), "the kernel is not orthogonal to the boundary")
    within = [{place: value for place, value in v.items() if place in used} for v in kernel]
    ensure(rank(within) == len(kernel), "the kernel is not independent")
    return rank(rows[i] for i in shares) == len(used) - len(kernel)


def rows_of(certificate, x, labels):
    """z of the rows that belong to a side, by their numbers from 0; and their signs."""
    data, bias, features = certificate["data"], certificate["bias"], len(x[0])
    ensure(data["rows"] == len(x) and data["features"] == features, "it speaks of other data")
    appended = {"none": 0, "free": 1}[bias] if isinstance(bias, str) else number(bias["append"])
    signs = {name: 1 for name in data["positive"]} | {name: -1 for name in data["negative"]}
    rows = {}
    for i, label in enumerate(labels):
        sign = signs.get(str(label), 0)
        if sign:
            rows[i] = {j: sign * Fraction(float(value)) for j, value in enumerate(x[i]) if value}
            if appended:
                rows[i][features] = sign * appended
    return rows, {i: signs[str(labels[i])] for i in rows}


def judge(certificate, x, labels):
    """The verdict, and the rows on the boundary if they are proved to be just B. Raises NoProof."""
    ensure(certificate["format"] == "linsep certificate 1", "another format")
    rows, signs = rows_of(certificate, x, labels)
    free = certificate["bias"] == "free"
    features = len(x[0])
    width = features + (certificate["bias"] != "none")
    measured = features if free else width
    verdict = certificate["verdict"]
    agreements, shares = {i: Fraction(0) for i in rows}, {}
    if verdict != "overlap":
        w = vector(certificate["weights"], width)
        agreements = {i: dot(w, z) for i, z in rows.items()}
        ensure(min(agreements.values()) >= 0, "a row is on its wrong side")
        ensure(max(agreements.values()) > 0, "all rows are on the boundary")
    if verdict == "complete":
        least = min(agreements.values())
        ensure(least > 0, "a row is on the boundary")
        margin = certificate["margin"]
        kind = {"none": "through-origin", "free": "free-bias"}.get(str(certificate["bias"]), "appended-bias")
        ensure(margin["kind"] == kind, "another kind of margin")
        lower, upper = number(margin["lower"]), number(margin["upper"])
        norm = sum(value**2 for place, value in w.items() if place < measured)
        ensure(lower <= 0 or lower**2 * norm <= least**2, "the lower end is not proved")
        shares = vector(margin["combination"], len(labels))
        ensure(shares and all(i in rows and share > 0 for i, share in shares.items()), "no combination")
        if free:
            ensure(sum(share * signs[i] for i, share in shares.items()) == 0, "the sides differ in weight")
        length = sum(value**2 for place, value in combined(shares, rows).items() if place < measured)
        ensure(length <= (upper * sum(shares.values())) ** 2, "the upper end is not proved")
        return verdict, []
    shares = vector(certificate["combination"], len(labels))
    ensure(all(i in rows and share > 0 for i, share in shares.items()), "a share is not positive")
    ensure(combined(shares, rows) == {}, "the combination does not vanish")
    kernel = [vector(pairs, width) for pairs in certificate["kernel"]]
    boundary = [i for i, agreement in agreements.items() if agreement == 0]
    exact = spans(shares, rows, boundary, kernel)
    ensure(verdict == "quasi-complete" and shares or verdict == "overlap" and exact, "the rows are not spanned")
    return verdict, boundary if exact else None
