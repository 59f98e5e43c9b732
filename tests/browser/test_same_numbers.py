"""Numbers on the page are those of the command line: the same records, and the same sentences on the page."""

from __future__ import annotations

import json
import tomllib

import pytest
from conftest import ROOT, run_job

TIMES = ("seconds", "threads", "model")


def bare(record):
    """A record without times and places."""
    record = dict(record)
    for name in TIMES:
        record.pop(name, None)
    for name in ("blame",):
        if record.get(name):
            record[name] = {key: value for key, value in record[name].items() if key != "seconds"}
    for learner in record.get("learners", []):
        for name in ("seconds", "train_seconds", "predict_seconds"):
            learner.pop(name, None)
    return record


@pytest.fixture(scope="module")
def files(server, tmp_path_factory):
    """The built-in data as files for the command line."""
    folder = tmp_path_factory.mktemp("data")
    for name in ("square", "blobs", "xor"):
        (folder / f"{name}.csv").write_bytes(server.ask("GET", f"/api/v1/data/{name}/file")[2])
    for name in ("iris.csv", "spam.csv", "breast_cancer.csv"):
        (folder / name).write_bytes((ROOT / "data" / name).read_bytes())
    return folder


@pytest.mark.parametrize(
    "data, settings, arguments",
    [
        ("square", {"learner": "perceptron", "scale": "none", "order": "given"}, ["--learner", "perceptron", "--scale", "none", "--order", "given"]),
        ("xor", {"learner": "pocket", "seed": 3}, ["--learner", "pocket", "--seed", "3"]),
        ("blobs", {"learner": "svm", "options": {"C": 2.0}}, ["--learner", "svm", "--C", "2"]),
    ],
)
def test_training_is_that_of_the_command_line(server, program, files, data, settings, arguments):
    result = run_job(server, {"job": "train", "data": {"source": data}, **settings})
    told = json.loads(program("-q", "train", files / f"{data}.csv", *arguments, "--json"))
    assert bare(result["record"]) == bare(told)


def test_spam_is_that_of_the_command_line(server, program, files):
    result = run_job(server, {"job": "train", "data": {"source": "spam"}, "epochs": 5})
    assert bare(result["record"]) == bare(json.loads(program("-q", "train", files / "spam.csv", "--epochs", 5, "--json")))


def test_a_file_of_ones_own_is_that_of_the_command_line(server, program, files):
    body = (files / "breast_cancer.csv").read_bytes()
    _, lines = server.lines("POST", "/api/v1/data?name=breast_cancer.csv", body)
    source = lines[-1]["data"]["id"]
    result = run_job(server, {"job": "train", "data": {"source": source}, "learner": "logistic"})
    told = json.loads(program("-q", "train", files / "breast_cancer.csv", "--learner", "logistic", "--json"))
    assert bare(result["record"]) == bare(told)


def test_missing_cells_are_treated_as_by_learning(server, program, tmp_path):
    text = "a,b,c\n" + "".join(f"{i % 7},{'' if i % 5 == 0 else i % 3},{'xy'[(i * i) % 2]}\n" for i in range(60))
    path = tmp_path / "gaps.csv"
    path.write_text(text)
    _, lines = server.lines("POST", "/api/v1/data?name=gaps.csv", text.encode())
    source = lines[-1]["data"]["id"]
    result = run_job(server, {"job": "train", "data": {"source": source}, "learner": "averaged"})
    assert bare(result["record"]) == bare(json.loads(program("-q", "train", path, "--learner", "averaged", "--json")))
    # A decision on the page is about the rows that were learned from.
    result = run_job(server, {"job": "separate", "data": {"source": source}})
    told = json.loads(program("-q", "separate", path, "--missing", "auto", "--json", expect=(0, 1)))
    assert bare(result["record"]) == bare(told)


@pytest.mark.parametrize("only", [["setosa", "versicolor"], ["versicolor", "virginica"]])
def test_separation_is_that_of_the_command_line(server, program, files, only):
    result = run_job(server, {"job": "separate", "data": {"source": "iris-virginica"}, "only": only, "blame": True})
    told = json.loads(program("-q", "separate", files / "iris.csv", "--ignore", "sepal_length_cm,sepal_width_cm", "--classes", ",".join(only), "--blame", "--json", expect=(0, 1)))
    assert bare(result["record"]) == bare(told)


def test_the_certificate_is_accepted_by_the_checker(server, program, files, tmp_path):
    for data, verdict in [("xor", "overlap"), ("square", "complete")]:
        result = run_job(server, {"job": "separate", "data": {"source": data}})
        assert result["record"]["verdict"] == verdict
        path = tmp_path / f"{data}.cert"
        path.write_bytes(server.ask("GET", f"/api/v1/results/{result['id']}/certificate")[2])
        assert "accepted" in program("verify", path, files / f"{data}.csv").lower()


def test_a_comparison_is_that_of_the_command_line(server, program, files):
    names = ["perceptron", "averaged", "logistic"]
    result = run_job(server, {"job": "compare", "data": {"source": "blobs"}, "learners": names})
    told = json.loads(program("-q", "compare", files / "blobs.csv", "--learners", ",".join(names), "--json"))

    def essence(record):
        return [(one["label"], one["training_error"], one["held_out_error"], one["margin"], one["updates"], one["status"]) for one in record["learners"]]

    assert essence(result["record"]) == essence(told)


def test_the_trace_is_that_of_the_command_line(server, program, files, tmp_path):
    result = run_job(server, {"job": "train", "data": {"source": "square"}, "learner": "perceptron", "scale": "none"})
    kept = server.ask("GET", f"/api/v1/results/{result['id']}/trace")[2].decode()
    path = tmp_path / "trace.jsonl"
    program("-q", "train", files / "square.csv", "--learner", "perceptron", "--scale", "none", "--trace", path, "--trace-points", 1000000)
    assert kept == path.read_text()
    assert len(kept.splitlines()) == result["record"]["updates"]


def test_the_saved_job_makes_the_saved_model_again(server, program, files, tmp_path):
    settings = {"learner": "averaged", "seed": 5, "classes": {"only": ["versicolor", "virginica"]}}
    result = run_job(server, {"job": "train", "data": {"source": "iris-virginica"}, **settings})
    part = lambda name: server.ask("GET", f"/api/v1/results/{result['id']}/{name}")[2]
    (files / "job.toml").write_bytes(part("spec"))
    assert tomllib.loads(part("spec").decode())["data"]["source"] == "iris.csv"
    record = json.loads(program("-q", "train", "--spec", "job.toml", "--json", folder=files))
    assert bare(record) == bare(result["record"])
    (tmp_path / "page.model").write_bytes(part("model"))
    predicted = program("-q", "predict", tmp_path / "page.model", files / "iris.csv")
    program("-q", "train", "--spec", "job.toml", "-o", tmp_path / "own.model", folder=files)
    assert predicted == program("-q", "predict", tmp_path / "own.model", files / "iris.csv")


def test_the_command_on_the_page_gives_the_numbers_on_the_page(watched, program, files):
    """The facts that the page shows are the lines that the command prints, word by word."""
    page = watched.open("#data=blobs&settings=" + json.dumps({"learner": "perceptron", "scale": "none", "order": "given"}))
    command = page.locator("#learn-command pre").inner_text().split()
    assert command[:3] == ["linsep", "train", "blobs.csv"]
    printed = " ".join(program("-q", "-v", *command[1:], folder=files).split())
    facts = page.locator("#learn-report")
    names = facts.locator("dt").all_inner_texts()
    texts = facts.locator("dd").all_inner_texts()
    assert {"Result", "Error", "Margin", "Bound"} <= set(names)
    for name, text in zip(names, texts):
        if name in ("Result", "Margin", "Bound", "Classes", "Data", "Learner", "Mistakes"):
            assert " ".join(text.split()) in printed, (name, text, printed)
