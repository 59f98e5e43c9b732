"""Is a real data set linearly separable? Decided, proved, and checked.

    python examples/separability.py
"""

from pathlib import Path

import linsep

DATA = Path(__file__).resolve().parents[1] / "data"

# 569 tumours, 30 measurements of each.
tumours = linsep.read(DATA / "breast_cancer.csv")
found = linsep.separate(tumours)
print(found.verdict)
print("margin between", *found.margin)

# The proof is a text; a small program that shares nothing with the search checks it.
print("the checker accepts:", linsep.verify(found, tumours).accepted)

# With five of the measurements the classes overlap, and a few rows show that no boundary can be right about all of them.
few = linsep.separate(tumours.X[:, :5], tumours.y)
print(few.verdict, "because of rows", [entry["row"] for entry in few.witness])

# A logistic regression on the separable table has no finite optimum: better known before than after.
try:
    linsep.check_separation(tumours.X, tumours.y, on_found="raise")
except linsep.SeparationError as error:
    print(error)
