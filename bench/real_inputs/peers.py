"""scikit-learn from raw files to a fitted estimator, as one program: prints its error on the test rows.

    python peers.py CASE ESTIMATOR DATA TEST

The features are those that linsep makes of the same files.
"""

import gzip
import json
import struct
import sys
from pathlib import Path

import numpy
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.svm import LinearSVC


def adult(train, test):
    import pandas
    from sklearn.compose import make_column_transformer
    from sklearn.preprocessing import OneHotEncoder

    def table(path):
        rows = pandas.read_csv(path, header=None, skipinitialspace=True, keep_default_na=False)
        return rows.iloc[:, :-1], rows.iloc[:, -1]

    (x, y), (other_x, other_y) = table(train), table(test)
    numbers = [column for column in x if pandas.api.types.is_numeric_dtype(x[column])]
    words = [column for column in x if column not in numbers]
    features = make_column_transformer((StandardScaler(), numbers), (OneHotEncoder(handle_unknown="ignore"), words))
    return features, x, y, other_x, other_y


def cats_dogs(train, test):
    from PIL import Image, ImageOps

    def pictures(folder):
        rows, labels = [], []
        for path in sorted(Path(folder).glob("*/*")):
            picture = ImageOps.exif_transpose(Image.open(path)).convert("L")
            rows.append(numpy.asarray(picture.resize((128, 128), Image.Resampling.BILINEAR), dtype=float).ravel())
            labels.append(path.parent.name)
        return numpy.array(rows), numpy.array(labels)

    return MaxAbsScaler(), *pictures(train), *pictures(test)


def mnist(train, test):
    def array(path):
        raw = gzip.open(path).read()
        shape = struct.unpack(f">{raw[3]}I", raw[4 : 4 + 4 * raw[3]])
        return numpy.frombuffer(raw, dtype="u1", offset=4 + 4 * raw[3]).reshape(shape[0], -1)

    def rows(path):
        labels = array(path.replace("images", "labels").replace("idx3", "idx1")).ravel()
        return array(path).astype(float), labels

    return MaxAbsScaler(), *rows(train), *rows(test)


CASES = {"adult": adult, "cats-dogs": cats_dogs, "mnist": mnist}
ESTIMATORS = {"LogisticRegression": lambda: LogisticRegression(max_iter=1000), "LinearSVC": lambda: LinearSVC()}


def main():
    case, estimator, train, test = sys.argv[1:]
    features, x, y, other_x, other_y = CASES[case](train, test)
    model = make_pipeline(features, ESTIMATORS[estimator]()).fit(x, y)
    wrong = model.predict(other_x) != other_y
    print(json.dumps({"error": float(numpy.mean(wrong)), "rows": len(other_y)}))


if __name__ == "__main__":
    main()
