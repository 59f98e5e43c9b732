"""Jobs that run inside the Python of the peers, each a process of its own: it prints its seconds as JSON.

Imports are never timed as work; they are part of the whole program, as for anybody who starts Python.
"""

import json
import pickle
import struct
import subprocess
import sys
import time


def timed(work):
    before = time.perf_counter()
    result = work()
    return result, time.perf_counter() - before


def load(path, features=None):
    from sklearn.datasets import load_svmlight_file

    return load_svmlight_file(path, n_features=features)


def narrow(rows):
    """The loader gives 64-bit columns, and the learners refuse them. What the change costs is not counted."""
    rows.indices, rows.indptr = rows.indices.astype("int32"), rows.indptr.astype("int32")


def fit(kind, train, model):
    """scikit-learn, five epochs, from text to saved model."""
    from sklearn.linear_model import Perceptron, SGDClassifier

    five = {"max_iter": 5, "tol": None, "random_state": 0}
    learner = {
        "perceptron": Perceptron(**five),
        # The averaged perceptron as scikit-learn has it.
        "averaged": SGDClassifier(
            loss="perceptron", penalty=None, learning_rate="constant", eta0=1.0, average=True, **five
        ),
    }[kind]
    (rows, labels), reading = timed(lambda: load(train))
    narrow(rows)
    _, learning = timed(lambda: learner.fit(rows, labels))
    with open(model, "wb") as out:
        pickle.dump(learner, out)
    return {"read": reading, "train": learning}


def judge(model, held):
    """The share of held-out rows that a saved scikit-learn model has wrong."""
    with open(model, "rb") as opened:
        learner = pickle.load(opened)
    rows, labels = load(held)
    narrow(rows)
    rows.resize((rows.shape[0], learner.coef_.shape[1]))
    return {"error": float((learner.predict(rows) != labels).mean())}


def read_libsvm(path):
    (rows, _), seconds = timed(lambda: load(path))
    return {"read": seconds, "rows": rows.shape[0], "numbers": int(rows.nnz)}


def read_csv(path):
    import pandas

    table, seconds = timed(lambda: pandas.read_csv(path))
    return {"read": seconds, "rows": len(table), "numbers": len(table) * (table.shape[1] - 1)}


def read_bytes(path):
    """The bytes alone: what no reader can beat on one core."""
    buffer = bytearray(1 << 20)

    def work():
        count = 0
        with open(path, "rb", buffering=0) as opened:
            while got := opened.readinto(buffer):
                count += got
        return count

    count, seconds = timed(work)
    return {"read": seconds, "bytes": count}


def make_csv(path, rows, columns):
    """A table of numbers with five decimals, and a label in its last column."""
    import numpy

    rows, columns = int(rows), int(columns)
    random = numpy.random.default_rng(0)
    words = numpy.array([f"0.{number:05d}," for number in range(100_000)], dtype="S8")
    with open(path, "wb") as out:
        out.write((",".join(f"x{column + 1}" for column in range(columns)) + ",label\n").encode())
        for start in range(0, rows, 50_000):
            count = min(50_000, rows - start)
            values = random.integers(0, 100_000, (count, columns))
            labels = values[:, 0] + values[:, 1] > 100_000
            cells = words[values].view("S1").reshape(count, -1)
            ends = numpy.where(labels[:, None], [[b"1", b"\n"]], [[b"0", b"\n"]]).astype("S1")
            out.write(numpy.hstack([cells, ends]).tobytes())
    return {}


class Problem:
    """½‖θ‖² + C Σ max(0, 1 − y⟨θ, x̃⟩) with a coordinate of 1 appended to every row, as both programs have it."""

    def __init__(self, path, price):
        self.path, self.price = path, price
        self.rows, self.labels = load(path)
        narrow(self.rows)

    def objective(self, weights, bias):
        import numpy

        if len(weights) < self.rows.shape[1]:
            weights = numpy.pad(weights, (0, self.rows.shape[1] - len(weights)))
        agreements = self.labels * (self.rows @ weights[: self.rows.shape[1]] + bias)
        losses = numpy.maximum(0.0, 1.0 - agreements).sum()
        return float(0.5 * (weights @ weights + bias * bias) + self.price * losses)


def read_theta(path):
    """w and b of a linsep model: a safetensors file is a length, a header in JSON, and the numbers."""
    import numpy

    content = open(path, "rb").read()
    length = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8 : 8 + length])

    def array(name):
        first, last = header[name]["data_offsets"]
        return numpy.frombuffer(content[8 + length + first : 8 + length + last], dtype="<f8")

    return array("theta.weights"), float(array("theta.bias")[0])


# From the defaults (0.1 and 0.001) to very strict. The loosest that reaches the objective is timed.
LIBLINEAR_TOLERANCES = [0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0002, 0.0001]
LINSEP_GAPS = [0.001, 0.0005, 0.0002, 0.0001]


def svm(linsep, train, price, rounds, accuracy):
    """Both to the same objective: seconds of training alone, with the rows in memory."""
    import numpy
    from liblinear.liblinearutil import parameter, problem
    from liblinear.liblinearutil import train as liblinear_train

    price, rounds, accuracy = float(price), int(rounds), float(accuracy)
    ours = Problem(train, price)
    theirs = problem(ours.labels, ours.rows, bias=1)

    def run_liblinear(tolerance):
        options = parameter(f"-s 3 -c {price} -e {tolerance} -B 1 -q")
        model, seconds = timed(lambda: liblinear_train(theirs, options))
        weights = numpy.array(model.w[: model.nr_feature + 1])
        # Its weights are those of the class that came first.
        weights *= model.get_labels()[0]
        return ours.objective(weights[:-1], weights[-1]), seconds

    def run_linsep(gap, *more):
        command = [linsep, "train", train, "--learner", "svm", "--C", str(price), "--gap", str(gap), "--positive", "1"]
        command += ["--json", "--quiet", "-o", "svm.safetensors", *more]
        record = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        return ours.objective(*read_theta("svm.safetensors")), record["seconds"]["train"], record

    _, _, strict = run_linsep(1e-6)
    # The dual objective proves that none is lower; the strict run is as good as the best.
    best, floor = ours.objective(*read_theta("svm.safetensors")), strict["detail"]["dual"]

    def loosest(settings, run):
        for setting in settings:
            objective, seconds, *_ = run(setting)
            if objective <= best * (1 + accuracy):
                return setting, (objective - best) / best, seconds
        return None, (objective - best) / best, seconds

    gap, our_excess, _ = loosest(LINSEP_GAPS, run_linsep)
    tolerance, their_excess, _ = loosest(LIBLINEAR_TOLERANCES, run_liblinear)
    times = {"linsep": [], "linsep, one thread": [], "LIBLINEAR": [], "LIBLINEAR, its default": []}
    for _ in range(rounds):
        times["linsep"].append(run_linsep(gap or LINSEP_GAPS[-1])[1])
        times["linsep, one thread"].append(run_linsep(gap or LINSEP_GAPS[-1], "--threads", "1")[1])
        times["LIBLINEAR"].append(run_liblinear(tolerance or LIBLINEAR_TOLERANCES[-1])[1])
        default, seconds = run_liblinear(LIBLINEAR_TOLERANCES[0])
        times["LIBLINEAR, its default"].append(seconds)
    return {
        "best": best,
        "floor": floor,
        "gap": gap,
        "tolerance": tolerance,
        "our_excess": our_excess,
        "their_excess": their_excess,
        "default_excess": (default - best) / best,
        "times": times,
        "rows": ours.rows.shape[0],
        "nonzeros": int(ours.rows.nnz),
    }


def main():
    job, *arguments = sys.argv[1:]
    jobs = {job.__name__: job for job in (fit, judge, read_libsvm, read_csv, read_bytes, make_csv, svm)}
    print(json.dumps(jobs[job](*arguments)))


if __name__ == "__main__":
    main()
