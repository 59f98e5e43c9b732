"""Writes the licences and notices of everything that is linked into the program and the Python package.

    python3 packaging/notices.py -o FILE

The list is Cargo's own: the crates that `linsep-cli` and `linsep-py` are built from, without those that only build or test them, with the texts of
the licences in their packages. A crate whose licence must be shown and that comes without a text is an error.
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OURS = ("linsep", "linsep-check", "linsep-cli", "linsep-explore", "linsep-py")
# Crates that are linked, by the products that are handed out.
PRODUCTS = ("linsep-cli", "linsep-py")
TEXT = re.compile(r"(licen[cs]e|copying|notice|unlicense|copyright)", re.IGNORECASE)
# What is embedded beside code: the letters of pictures, and data sets.
EMBEDDED = {"The fonts of the pictures": "crates/linsep/src/chart/font/LICENSE", "The data sets of the demonstrations": "data/README.md"}
# Texts that are the same for every crate: where a crate brings none, its authors are named beside the text of another.
COMMON = {"MIT", "Apache-2.0", "Zlib", "Unlicense", "0BSD"}


def cargo(*arguments):
    done = subprocess.run(["cargo", *arguments, "--locked"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"cargo {' '.join(arguments)}: {done.stderr}")
    return done.stdout


def linked():
    """The name and version of each linked crate."""
    crates = set()
    for product in PRODUCTS:
        tree = cargo("tree", "--package", product, "--edges", "normal,no-proc-macro", "--prefix", "none", "--format", "{p}", "--no-dedupe")
        crates |= {tuple(line.split()[:2]) for line in tree.splitlines() if line.strip()}
    return sorted((name, version.removeprefix("v")) for name, version in crates if name not in OURS)


def texts_of(folder):
    """The texts of a package: its own, and those of code from elsewhere that it brings."""
    found = [path for path in folder.rglob("*") if path.is_file() and TEXT.match(path.name) and path.suffix in ("", ".md", ".txt", ".html", ".rst")]
    found += [path for path in folder.rglob("*") if path.is_file() and re.match(r".*[-_.](MIT|APACHE|BSD|ZLIB)$", path.name)]
    return {path.read_text(encoding="utf-8", errors="replace").replace("\r\n", "\n").strip() for path in found}


def notices():
    metadata = json.loads(cargo("metadata", "--format-version", "1"))
    packages = {(package["name"], package["version"]): package for package in metadata["packages"]}
    users: dict[str, list[str]] = {}
    without = []
    for name, version in linked():
        package = packages[name, version]
        licence = package["license"] or "see its text"
        title = f"{name} {version} ({licence})"
        texts = texts_of(Path(package["manifest_path"]).parent)
        for text in sorted(texts):
            users.setdefault(text, []).append(title)
        if not texts:
            if not COMMON & set(re.split(r"[^A-Za-z0-9.-]+", licence)):
                sys.exit(f"{title}: its package has no text of its licence")
            without.append(f"{title}: {', '.join(package['authors']) or 'its authors'}")
    if not users:
        sys.exit("no crate is linked")
    line = "=" * 100
    parts = ["linsep is built from the crates below, and the Rust standard library (MIT OR Apache-2.0, The Rust Project Contributors)."]
    if without:
        parts.append("Without a text of their own, under the text of the same licence below:\n" + "\n".join(f"- {one}" for one in without))
    for title, path in EMBEDDED.items():
        parts.append("\n".join([line, title, line, "", (ROOT / path).read_text(encoding="utf-8").strip()]))
    for text, titles in sorted(users.items(), key=lambda item: (item[1], item[0])):
        parts.append("\n".join([line, *titles, line, "", text]))
    return "\n\n".join(parts) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("-o", "--output", type=Path, required=True, help="the file to write")
    text = notices()
    output = parser.parse_args().output
    output.write_text(text, encoding="utf-8")
    print(f"{output}: {len(linked())} crates, {len(text)} characters")


if __name__ == "__main__":
    main()
