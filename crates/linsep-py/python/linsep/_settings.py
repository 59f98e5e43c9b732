"""The settings that estimators share, as specifications have them.

Written by crates/linsep-py/generate.py from the table of the engine; a test compares them. Do not edit by hand.
"""

from __future__ import annotations

from typing import Any, Literal

#: The settings that estimators share: the place of each in a specification, its kind, and what its words stand for.
SETTINGS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "epochs": ("epochs", "whole", {}),
    "max_updates": ("max_updates", "whole", {}),
    "max_seconds": ("max_seconds", "number", {}),
    "order": ("order", "choice", {}),
    "seed": ("seed", "whole", {}),
    "bias": ("bias.append", "choice", {'none': False, 'append': True}),
    "bias_scale": ("bias.scale", "number", {}),
    "mistake": ("mistake", "choice", {}),
    "class_weight": ("classes.weight", "class_weight", {}),
    "scale": ("scale", "choice", {}),
    "features": ("features", "choice", {}),
    "max_pairs": ("max_pairs", "whole", {}),
    "probabilities": ("probabilities", "flag", {}),
    "shards": ("shards", "whole", {}),
    "mixing": ("mixing", "choice", {}),
    "init": ("init", "choice", {'zero': 'zero', 'first': 'first'}),
}

#: The words that functions take, as the table has them.
Metric = Literal["error", "balanced-error", "auc", "log-loss", "f1"]
Judge = Literal["auto", "nested", "aside", "none"]
Scale = Literal["auto", "none", "max-abs", "standard", "unit-rows"]
Features = Literal["plain", "splines", "pairs", "splines+pairs"]
