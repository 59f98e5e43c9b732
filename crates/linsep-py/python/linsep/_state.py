"""Training in parts: a state that learns batches, is forked, merged and sent to other processes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from linsep import _arrays, _data, _engine, _labels
from linsep._base import class_weights, plain
from linsep._functions import bias_spec, job_rows
from linsep._model import Model


class State:
    """The state of a learner that processes one row at a time.

    It learns batches, in their order; is forked for other processes and merged again; is pickled, so that Spark, Dask or
    Ray can carry it; and has the bounds that its updates prove at any time. Threads may share it: each call waits for
    the one before.

    Parameters
    ----------
    learner : default 'averaged'
        The name of a learner that processes one row at a time.
    columns
        How many features rows have.
    classes
        All classes, if they are known; if None, classes are added as rows come.
    options
        The options of the learner.
    bias, bias_scale, init, mistake, class_weight, max_updates, seed
        As for the estimators.

    Examples
    --------
    >>> import linsep
    >>> state = linsep.State("perceptron", columns=2)
    >>> state.learn([[2.0, 1.0], [-1.0, -2.0]], ["b", "a"])
    1
    >>> parts = [state.fork(), state.fork()]
    >>> parts[0].learn([[1.0, 3.0]], ["b"]), parts[1].learn([[3.0, -1.0]], ["a"])
    (0, 1)
    >>> state.merge(parts)
    >>> state.rows, state.updates
    (4, 2)
    """

    def __init__(
        self,
        learner: str = "averaged",
        *,
        columns: int,
        classes: Sequence[Any] | None = None,
        options: Mapping[str, Any] | None = None,
        bias: Literal["append", "none"] = "append",
        bias_scale: float | None = None,
        init: Literal["zero", "first"] = "zero",
        mistake: Literal["nonpositive", "negative"] = "nonpositive",
        class_weight: Mapping[Any, float] | None = None,
        max_updates: int | None = None,
        seed: int = 0,
    ) -> None:
        if init not in ("zero", "first"):
            raise ValueError(f"init={init!r}: expected 'zero' or 'first'")
        spec: dict[str, Any] = {
            "learner": plain("learner", learner, "text"),
            "init": init,
            "mistake": plain("mistake", mistake, "text"),
            "seed": plain("seed", seed, "whole"),
        }
        if max_updates is not None:
            spec["max_updates"] = plain("max_updates", max_updates, "whole")
        weight = class_weights(class_weight)
        if weight is not None:
            spec["class_weight"] = weight
        if options is not None and not isinstance(options, Mapping):
            raise ValueError(f"options={options!r}: expected a dict from name to value")
        spec["options"] = {str(name): plain(str(name), value, "text") for name, value in (options or {}).items()}
        spec.update(bias_spec(bias, bias_scale))
        if isinstance(classes, (str, bytes)) or (classes is not None and not np.iterable(classes)):
            raise ValueError(f"classes={classes!r}: expected a list of classes")
        names = None if classes is None else [_labels.label_name(label) for label in classes]
        if isinstance(columns, bool) or not isinstance(columns, (int, np.integer)) or not 1 <= columns < 2**32:
            raise ValueError(f"columns={columns!r}: expected a whole number of features, at least 1")
        self._engine = _engine.State(json.dumps(spec), int(columns), names)

    @classmethod
    def _of(cls, engine: _engine.State) -> State:
        state = cls.__new__(cls)
        state._engine = engine
        return state

    def learn(self, X: Any, y: Any = None, sample_weight: Any = None, *, order: Any = None) -> int:
        """Learns from rows, in their order, or in that of the row numbers in `order`. Returns the updates made."""
        _data.refuse_words(X, "a state")
        rows, _, _ = job_rows(X, y, sample_weight)
        # A file of sparse rows has as many columns as it uses; arrays say how many they have.
        if rows.shape[1] > self.columns or (rows.shape[1] < self.columns and not isinstance(X, _data.Data)):
            raise ValueError(f"X has {rows.shape[1]} features, but the state has {self.columns}")
        numbers = None if order is None else _row_numbers(order)
        return self._engine.learn(rows, numbers)

    def fork(self, shard: int | None = None) -> State:
        """A state that goes on from here over the rows of a shard, to be merged with others.

        A fork carries the digest of this state and the number of its shard. Forks that are merged have different numbers:
        those that are not given are counted from 0. Where several processes fork a copy of the state, give the number.
        """
        if shard is not None and (isinstance(shard, bool) or not isinstance(shard, (int, np.integer)) or not 0 <= shard < 2**64):
            raise ValueError(f"shard={shard!r}: expected a whole number, at least 0")
        return State._of(self._engine.fork(None if shard is None else int(shard)))

    def merge(self, forks: Sequence[State], mixing: Literal["uniform", "updates"] = "uniform") -> None:
        """Joins what forks of this state have learned since it was forked. The order of the forks counts, to the bit.

        Only forks of this state as it stands are merged, each shard once: the mixture of others would prove nothing.
        """
        for fork in forks:
            if not isinstance(fork, State):
                raise TypeError(f"forks are states, not {type(fork).__name__}")
        self._engine.merge([fork._engine for fork in forks], mixing)

    def snapshot(self) -> bytes:
        """The bytes that it can be restored from."""
        return self._engine.snapshot()

    @classmethod
    def restore(cls, content: bytes) -> State:
        """The state that a snapshot holds. Other bytes raise an error."""
        return cls._of(_engine.State.restore(content))

    def __reduce__(self) -> tuple[Any, tuple[bytes]]:
        return (State.restore, (self.snapshot(),))

    def model(self) -> Model:
        """The model so far."""
        return Model(self._engine.model())

    @property
    def evidence(self) -> dict[str, Any]:
        """The evidence from the rows learned from and the updates."""
        found: dict[str, Any] = json.loads(self._engine.evidence())
        return found

    @property
    def settings(self) -> dict[str, Any]:
        """The settings."""
        found: dict[str, Any] = json.loads(self._engine.settings())
        return found

    @property
    def classes(self) -> NDArray[Any]:
        """The classes seen so far, sorted."""
        return _labels.labels_of_names(self._engine.classes)

    @property
    def columns(self) -> int:
        """How many features rows have."""
        return self._engine.columns

    @property
    def rows(self) -> int:
        """Rows learned from."""
        return self._engine.rows

    @property
    def updates(self) -> int:
        """Updates made."""
        return self._engine.updates

    @property
    def margin_upper(self) -> float | None:
        """The best margin of the rows is at most this, as their updates prove; None without any."""
        return self._engine.margin_upper

    def __repr__(self) -> str:
        return f"<linsep.State: {self.rows} rows, {self.updates} updates, {len(self._engine.classes)} classes>"


def _row_numbers(order: Any) -> NDArray[np.uint32]:
    numbers = np.asarray(order)
    _arrays.refuse_beyond_memory("order", numbers.shape, 4)
    if numbers.ndim != 1 or (numbers.dtype.kind not in "iu" and len(numbers)):
        raise ValueError("order=: expected a list of row numbers")
    if len(numbers) and (int(numbers.min()) < 0 or int(numbers.max()) >= 2**32):
        raise ValueError("order= names a row that is not there")
    return np.ascontiguousarray(numbers, dtype=np.uint32)


def shard_orders(
    X: Any,
    y: Any = None,
    *,
    shards: int,
    seed: int = 0,
    order: Literal["given", "shuffle-once", "shuffle"] = "shuffle",
    epoch: int = 0,
) -> list[NDArray[np.uint32]]:
    """The rows of each shard, in the order in which pass `epoch` (from 0) of a run in shards goes through them.

    What ``Perceptron(shards=4).fit(X, y)`` does by itself can so be done by four processes, each with a fork of a `State`
    that learns the rows of one shard; merged after each pass, they give the same bits.
    """
    rows, _, _ = job_rows(X, y)
    for name, value in (("shards", shards), ("seed", seed), ("epoch", epoch)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 0 <= value < 2**64:
            raise ValueError(f"{name}={value!r}: expected a whole number, 0 or more")
    found = _engine.shard_orders(rows, int(shards), int(seed), order, int(epoch))
    return [np.array(rows_of_shard, dtype=np.uint32) for rows_of_shard in found]
