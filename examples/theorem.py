"""Novikoff's theorem, watched: a perceptron on separable rows stops, and its mistakes are bounded.

    python examples/theorem.py
"""

from pathlib import Path

import linsep

DATA = Path(__file__).resolve().parents[1] / "data"

iris = linsep.read(DATA / "iris.csv")
X, y = iris.X, iris.y == "setosa"

perceptron = linsep.Perceptron(scale="none").fit(X, y)
print("converged:", perceptron.converged_)
print(f"{perceptron.n_updates_} mistakes in {perceptron.n_iter_} passes")
print(f"never more than {perceptron.mistake_bound_:.0f}, by the margin that the run itself found")

# Any weights bound the best margin from below, and any mistakes bound it from above. The interval closes as the run goes on.
for entry in perceptron.history_:
    print(f"after pass {entry['epoch']}: {entry['updates']} mistakes, margin at most {entry['margin_upper']:.4f}")
lower, upper = perceptron.margin_interval_
print(f"at the end: margin from {lower:.4f} to {upper:.4f}")

# The exact engine knows the margin itself. It lies in the interval.
exact = linsep.separate(X, y)
assert lower <= exact.margin[1] and exact.margin[0] <= upper
print(f"exactly: {exact.margin[0]:.6f} to {exact.margin[1]:.6f}")

# The rows that were mistaken are all that the run depends on.
print("mistaken rows:", perceptron.teaching_set_.tolist())
