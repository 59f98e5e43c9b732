"""What is handed out names the crates that it is made of, with the texts that their licences ask for."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_linked_crate_has_its_licence(tmp_path):
    path = tmp_path / "notices.txt"
    subprocess.run([sys.executable, str(ROOT / "packaging" / "notices.py"), "-o", str(path)], check=True)
    text = path.read_text(encoding="utf-8")
    titles = set(re.findall(r"^(?:- )?([a-z0-9_-]+) (\d[^ ]*) \((.+?)\)(?::.*)?$", text, flags=re.MULTILINE))
    names = {name for name, _, _ in titles}
    # Those of the program and of the package alike; what only builds or tests them is not handed out.
    assert {"rayon", "clap", "pyo3", "numpy", "encoding_rs", "zstd-sys", "png"} <= names
    assert not names & {"proptest", "linsep", "cc", "syn"}, names
    locked = (ROOT / "Cargo.lock").read_text(encoding="utf-8")
    for name, version, _ in titles:
        assert f'name = "{name}"\nversion = "{version}"' in locked, (name, version)
    # Licences that bind those who hand out programs: their conditions stand there, with the names of the authors.
    for name, _, licence in titles:
        if "BSD-" in licence:
            part = text[text.index(f"{name} ") :]
            assert "Redistributions in binary form" in part, name
    for part in ("DejaVu", "Redistributions in binary form", "CC BY 4.0"):
        assert part in text, part
