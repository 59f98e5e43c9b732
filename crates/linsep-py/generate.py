"""Writes python/linsep/estimators.py from the registry of the engine, one estimator for each learner, and _settings.py from its table.

    python crates/linsep-py/generate.py           writes the files
    python crates/linsep-py/generate.py --check   compares them, and fails where they differ

Names, ranges, defaults and help come from the learners themselves.
"""

from __future__ import annotations

import json
import sys
import textwrap
from pathlib import Path
from typing import Any

from linsep import _engine

TARGET = Path(__file__).parent / "python" / "linsep" / "estimators.py"
SETTINGS = TARGET.with_name("_settings.py")

SETTINGS_HEAD = '''"""The settings that estimators share, as specifications have them.

Written by crates/linsep-py/generate.py from the table of the engine; a test compares them. Do not edit by hand.
"""

from __future__ import annotations

from typing import Any, Literal

'''

#: The types of values that functions take, each with the command and the setting whose words they are.
WORDS = {"Metric": ("compare", "metric"), "Judge": ("tune", "judge"), "Scale": ("compare", "scale"), "Features": ("compare", "features")}

#: The defaults of the settings that learners share: those of the command line. The passes are those of the learner.
DEFAULTS: dict[str, Any] = {
    "scale": "auto",
    "order": "shuffle",
    "seed": 0,
    "bias": "append",
    "init": "zero",
    "mistake": "nonpositive",
    "mixing": "uniform",
    "probabilities": False,
}

#: A parameter that only Python has: an estimator keeps its last model.
WARM_START: dict[str, Any] = {
    "name": "warm_start",
    "kind": "flag",
    "values": [],
    "help": "Start from the weights of the last fit, if there is one, and keep its scaling and features; for two classes",
}

#: The estimators of scikit-learn whose `n_iter_` is an array.
COUNTS_IN_ARRAYS = ["LogisticRegression"]

HEAD = '''"""The estimators: one for each learner.

Written by crates/linsep-py/generate.py from the registry of the engine; a test compares them. Do not edit by hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from linsep._base import Classifier, WeightedClassifier
from linsep._online import OnlineClassifier, WeightedOnlineClassifier
'''

ATTRIBUTES = """
Attributes
----------
classes_ : array
    The classes, sorted.
coef_, intercept_ : arrays
    The change of the score per unit of each feature, and the score of a row of zeros; only for linear decision functions.
converged_ : bool
    Whether the algorithm converged.
n_iter_, n_updates_ : int
    Passes begun (of `LogisticRegression` an array of one number, as in scikit-learn), and updates made.
margin_interval_ : tuple
    The best margin of the rows, as they were scaled, is at least the first (None while no separator is known) and at
    most the second.
mistake_bound_ : float
    No perceptron that starts at zero makes more mistakes than this on the scaled rows; inf while no separator is known.
history_ : list of dict
    The passes, each with `epoch`, `updates` and `margin_upper`.
evidence_ : dict
    The evidence about the run, as `linsep train --json` prints it.
model_ : linsep.Model
    The model, as it is saved.
"""


def literal(values: list[dict[str, str]]) -> str:
    return "Literal[" + ", ".join(json.dumps(value["name"]) for value in values) + "]"


def kind_of(entry: dict[str, Any]) -> str:
    """The type of a parameter."""
    plain = {
        "number": "float",
        "whole": "int",
        "size": "int | str",
        "flag": "bool",
        "class_weight": 'Mapping[Any, float] | Literal["balanced"]',
    }
    kind = literal(entry["values"]) if entry["kind"] == "choice" else plain[entry["kind"]]
    return f'{kind} | Literal["auto"]' if entry.get("auto") else kind


def default_of(entry: dict[str, Any]) -> Any:
    """The default of an option; None where it depends on other options, as brackets show."""
    text = entry["default"]
    if text == "" or " (" in text:
        return None
    if text == "auto" and entry.get("auto"):
        return text
    if entry["kind"] == "number":
        return float(text)
    return int(text) if entry["kind"] == "whole" else text


def parameters(learner: dict[str, Any], settings: list[dict[str, Any]]) -> list[tuple[dict[str, Any], Any, str]]:
    """The parameters of an estimator: what describes each, its default, and what its values are in words."""
    found = []
    for option in learner["options"]:
        words = option["range"] + (f", or 'auto' for {option['auto']}" if option.get("auto") else "")
        if " (" in option["default"]:
            option["help"] = f"{option['help'].rstrip('.')}; None for {option['default']}"
        found.append((option, default_of(option), words))
    for entry in settings:
        if entry["of"] != "all" and not learner[entry["of"]]:
            continue
        default = learner["usual_epochs"] if entry["name"] == "epochs" else DEFAULTS.get(entry["name"])
        words = " or ".join(repr(value["name"]) for value in entry["values"])
        if default is None and entry["default"]:
            entry = {**entry, "help": f"{entry['help']}; None for the default: {entry['default']}"}
        found.append((entry, default, words))
    if learner["start"]:
        found.append((WARM_START, False, ""))
    return found


def wrapped(text: str, indent: int) -> str:
    pad = " " * indent
    return "\n".join(textwrap.wrap(text, 110, initial_indent=pad, subsequent_indent=pad))


def sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else text + "."


def base_of(learner: dict[str, Any]) -> str:
    return ("Weighted" if learner["weights"] else "") + ("Online" if learner["row_by_row"] else "") + "Classifier"


def estimator(learner: dict[str, Any], settings: list[dict[str, Any]]) -> str:
    shared = {entry["name"] for entry in settings}
    entries = parameters(learner, settings)
    lines = [f"class {learner['estimator']}({base_of(learner)}):"]
    lines.append('    """' + wrapped(sentence(learner["summary"]), 4).lstrip())
    lines += ["", "    Parameters", "    ----------"]
    for entry, default, words in entries:
        lines.append(f"    {entry['name']} : default {default!r}")
        text = sentence(entry["help"])
        meanings = [f"'{v['name']}': {v['help'].rstrip('.')}" for v in entry["values"] if v["help"]]
        if meanings:
            text += " " + sentence("; ".join(meanings))
        elif words:
            text += " " + sentence(words)
        lines.append(wrapped(text, 8))
    lines += [("    " + line).rstrip() for line in ATTRIBUTES.rstrip().splitlines()]
    if learner["traces_mistakes"]:
        lines += [
            "    teaching_set_ : array",
            "        Two classes: the rows that were ever mistaken, in the order of their first mistake.",
        ]
    lines.append('    """')
    lines.append("")
    own = {entry["name"]: entry["kind"] for entry, _, _ in entries if entry["name"] not in shared and entry is not WARM_START}
    common = [entry["name"] for entry, _, _ in entries if entry["name"] in shared]
    lines.append(f"    _learner: ClassVar[str] = {json.dumps(learner['name'])}")
    if own:
        lines.append("    _options: ClassVar[dict[str, str]] = {")
        lines += [f"        {json.dumps(key)}: {json.dumps(kind)}," for key, kind in own.items()]
        lines.append("    }")
    else:
        lines.append("    _options: ClassVar[dict[str, str]] = {}")
    lines.append("    _settings: ClassVar[tuple[str, ...]] = (")
    lines += [f"        {json.dumps(name)}," for name in common]
    lines.append("    )")
    lines.append(f"    _traces: ClassVar[bool] = {learner['traces_mistakes']}")
    if learner["estimator"] in COUNTS_IN_ARRAYS:
        lines.append("    _counts_in_array: ClassVar[bool] = True")
    lines.append("")
    lines.append("    def __init__(")
    lines.append("        self,")
    lines.append("        *,")
    for entry, default, _ in entries:
        kind = kind_of(entry)
        kind = f"{kind} | None" if default is None else kind
        value = json.dumps(default) if isinstance(default, str) else repr(default)
        lines.append(f"        {entry['name']}: {kind} = {value},")
    lines.append("    ) -> None:")
    lines += [f"        self.{entry['name']} = {entry['name']}" for entry, _, _ in entries]
    if learner["probabilities"]:
        lines += ["", "    def _may_have_probabilities(self) -> bool:", *natural(learner)]
    return "\n".join(lines)


def natural(learner: dict[str, Any]) -> list[str]:
    """Whether scores are log odds by nature: always, or with one loss."""
    losses = [value["name"] for option in learner["options"] if option["name"] == "loss" for value in option["values"]]
    if "log" in losses:
        return ['        return self.probabilities or self.loss == "log"']
    return ["        return True"]


def table(settings: list[dict[str, Any]]) -> str:
    """The settings that learners share, by name: the place in a specification, the kind, and the words with what they stand for."""
    lines = ["#: The settings that estimators share: the place of each in a specification, its kind, and what its words stand for."]
    lines.append("SETTINGS: dict[str, tuple[str, str, dict[str, Any]]] = {")
    for entry in settings:
        words = {value["name"]: value["value"] for value in entry["values"]}
        # The engine says which words it takes, unless they stand for something else, or others would name files.
        listed = words if entry["words_only"] or any(name != value for name, value in words.items()) else {}
        lines.append(f"    {json.dumps(entry['name'])}: ({json.dumps(entry['at'])}, {json.dumps(entry['kind'])}, {listed!r}),")
    return "\n".join(lines) + "\n}\n"


def words_of_commands(commands: dict[str, list[dict[str, Any]]]) -> str:
    """The types of values that functions take."""
    lines = ["\n#: The words that functions take, as the table has them."]
    for kind, (command, name) in WORDS.items():
        (setting,) = (setting for setting in commands[command] if setting["name"] == name)
        lines.append(f"{kind} = Literal[{', '.join(json.dumps(word) for word in setting['words'])}]")
    return "\n".join(lines) + "\n"


def source() -> str:
    learners = json.loads(_engine.learners())
    settings = json.loads(_engine.settings())
    unnamed = [learner["name"] for learner in learners if learner["estimator"] is None]
    if unnamed:
        sys.exit(f"no estimator is named for {unnamed}: add it to ESTIMATORS in src/registry.rs")
    names = [learner["estimator"] for learner in learners]
    listed = "__all__ = [\n" + "".join(f"    {json.dumps(name)},\n" for name in sorted(names)) + "]"
    parts = [HEAD.rstrip(), listed, *(estimator(learner, settings) for learner in learners)]
    return parts[0] + "\n\n" + parts[1] + "\n\n\n" + "\n\n\n".join(parts[2:]) + "\n"


def main() -> None:
    text = source()
    shared = SETTINGS_HEAD + table(json.loads(_engine.settings())) + words_of_commands(json.loads(_engine.commands()))
    for path, text in ((TARGET, text), (SETTINGS, shared)):
        if sys.argv[1:] != ["--check"]:
            path.write_text(text, encoding="utf-8")
        elif path.read_text(encoding="utf-8") != text:
            sys.exit(f"{path} is not what the registry gives: run {Path(__file__).name}")


if __name__ == "__main__":
    main()
