"""The base of the estimators: that of scikit-learn where it is installed, otherwise one of their own."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray


class _OwnBase:
    """Parameters as scikit-learn has them, where it is not installed."""

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters of this estimator by name."""
        return {name: getattr(self, name) for name in self._get_param_names()}

    def set_params(self, **params: Any) -> Any:
        """Sets parameters by name."""
        names = self._get_param_names()
        for name, value in params.items():
            if name not in names:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self!r}. Valid parameters are: {names!r}."
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        usual = inspect.signature(type(self).__init__).parameters
        changed = [
            f"{name}={value!r}" for name, value in self.get_params().items() if value is not usual[name].default
        ]
        return f"{type(self).__name__}({', '.join(changed)})"


class _OwnClassifier:
    """What classifiers of scikit-learn share, where it is not installed."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows that are predicted right."""
        right = np.asarray(self.predict(X) == np.asarray(y), dtype=np.float64)
        return float(np.average(right, weights=sample_weight))

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of each row."""
        raise NotImplementedError


if TYPE_CHECKING:

    class Base(_OwnClassifier, _OwnBase):
        pass

    class ConvergenceWarning(UserWarning):
        pass

else:
    try:
        from sklearn.base import BaseEstimator, ClassifierMixin

        class Base(ClassifierMixin, BaseEstimator):
            """An estimator of scikit-learn."""

            def __sklearn_tags__(self) -> Any:
                tags = super().__sklearn_tags__()
                tags.input_tags.sparse = True
                return tags

    except ImportError:

        class Base(_OwnClassifier, _OwnBase):
            """An estimator on its own."""

    try:
        from sklearn.exceptions import ConvergenceWarning as _Warned
    except ImportError:
        _Warned = UserWarning

    class ConvergenceWarning(_Warned):
        """A fit has ended at a limit before it converged. A subclass of scikit-learn's, where that is installed."""


class _OwnNotFittedError(ValueError, AttributeError):
    """Raised where an estimator is used before it is fitted."""


NotFittedError: type[ValueError] = _OwnNotFittedError
validate_data: Any = None
try:
    from sklearn import exceptions as _exceptions
    from sklearn.utils import validation as _validation

    NotFittedError = _exceptions.NotFittedError
    validate_data = _validation.validate_data
except ImportError:
    pass
