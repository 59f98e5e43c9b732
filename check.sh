#!/usr/bin/env bash
# The test command of the project. Installs what the tests need, and can be run again at any time.
#
#     ./check.sh           everything; when all has passed, target/checked holds the commit that was checked
#     ./check.sh --install the installations that the README shows, and the packages that are published
#     ./check.sh --long    the strong forms of tests that are too long for every day, and the long trials
#     ./check.sh --parquet the feature `parquet`: Parquet and Arrow files, whose crates are not compiled otherwise
#     ./check.sh --miri    the code with pointers and the inner loops in Miri, which needs a nightly toolchain
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}"
# cargo resolves a relative folder from where it is run, the tests from where they are: one meaning for all.
case "$CARGO_TARGET_DIR" in /*) ;; *) CARGO_TARGET_DIR="$PWD/$CARGO_TARGET_DIR" ;; esac
# What incremental compilation writes costs a build from nothing more than it saves.
export CARGO_INCREMENTAL=0
environment="$CARGO_TARGET_DIR/venv"
requirements="tests/requirements.txt"

announce() { printf '\n==> %s\n' "$*"; }
# Any command that fails ends the script; this line says at which step.
step="start"
trap 'status=$?; if [ "$status" -ne 0 ]; then printf "\ncheck.sh failed (exit code %s) at: %s\n" "$status" "$step" >&2; fi' EXIT
run() { step="$*"; announce "$*"; "$@"; }

install_packages() {
    local prefix=()
    if [ "$(id -u)" -ne 0 ]; then prefix=(sudo); fi
    "${prefix[@]}" apt-get update -qq
    DEBIAN_FRONTEND=noninteractive "${prefix[@]}" apt-get install -y -qq --no-install-recommends "$@"
}

python_environment() {
    # Without python3-venv Debian's python3 has the module venv, but not ensurepip that it needs.
    if ! python3 -c 'import venv, ensurepip' 2>/dev/null; then
        install_packages python3 python3-venv
    fi
    # The copy of the list is made last: it is there only if everything was installed.
    if ! cmp -s "$requirements" "$environment/requirements.txt"; then
        rm -rf "$environment"
        python3 -m venv "$environment"
        "$environment/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$requirements"
        cp "$requirements" "$environment/requirements.txt"
    fi
}

# The Python package, in the profile and target folder of the tests: the library is compiled already.
python_package() {
    VIRTUAL_ENV="$environment" "$environment/bin/maturin" develop --quiet --locked
}

# The browser of the explorer's tests: Debian's own, which Playwright drives. Nothing else is downloaded.
browser() {
    if ! command -v chromium >/dev/null 2>&1; then
        install_packages chromium
    fi
}

# A toolchain without the usual components gets them; where rustup is not used they come with it.
components() {
    if ! cargo fmt --version >/dev/null 2>&1 || ! cargo clippy --version >/dev/null 2>&1; then
        rustup component add rustfmt clippy
    fi
}

# What the dependencies are: their licences and sources, crates in two versions, and advisories about them, by deny.toml.
dependencies() {
    if ! cargo deny --version >/dev/null 2>&1; then
        skipped+=("licences, sources, duplicates and advisories of dependencies (cargo install --locked cargo-deny)")
        return
    fi
    cargo deny --locked check bans licenses sources
    if timeout 120 cargo deny --locked fetch db >/dev/null 2>&1; then
        cargo deny --locked check advisories
    else
        skipped+=("advisories about dependencies, because their database cannot be fetched")
    fi
}

# Undefined behaviour in the modules with unsafe code, as far as Miri can run them: numbers in shared memory, and the inner
# loops in their portable form. Mapped files and vector instructions are beyond it.
miri() {
    if ! cargo +nightly miri --version >/dev/null 2>&1; then
        rustup +nightly component add miri rust-src
    fi
    MIRIFLAGS="-Zmiri-disable-isolation" PROPTEST_CASES=4 \
        cargo +nightly miri test -p linsep --lib --locked -- dataset::storage linalg
}

# The feature that is not compiled by default.
parquet() {
    cargo clippy -p linsep -p linsep-cli --features linsep-cli/parquet --all-targets --locked -- -D warnings
    cargo test -p linsep --features parquet --lib --locked -- read::columnar read::foreign read::formats
    cargo build -p linsep-cli --features parquet --locked
    python_environment
    LINSEP_PARQUET=1 LINSEP="$CARGO_TARGET_DIR/debug/linsep" \
        "$environment/bin/python" -m pytest -q -p no:cacheprovider tests/oracle/test_tables.py
}

# What the README shows under "Install", as it stands, into folders of its own; then the packages that are published.
install() {
    python_environment
    rm -rf "$CARGO_TARGET_DIR/installed"
    python3 -m venv "$CARGO_TARGET_DIR/installed"
    export CARGO_INSTALL_ROOT="$CARGO_TARGET_DIR/installed"
    export PATH="$CARGO_TARGET_DIR/installed/bin:$PATH"
    run cargo install --path crates/linsep-cli --profile dist
    run linsep demo
    # A wheel with the texts that the licences of its parts ask for.
    run python3 packaging/notices.py -o crates/linsep-py/python/linsep/THIRD-PARTY-NOTICES.txt
    run pip install .
    run python -c 'import linsep, pathlib; text = (pathlib.Path(linsep.__file__).parent / "THIRD-PARTY-NOTICES.txt").read_text(); assert "Redistributions in binary form" in text'
    run python -c 'import importlib.metadata as m; files = [str(f) for f in m.files("linsep")]; assert any("/sboms/" in f for f in files), files'
    run pip install --quiet --requirement "$requirements"
    LINSEP="$CARGO_TARGET_DIR/installed/bin/linsep" run python -m pytest -q -p no:cacheprovider tests/python
    run cargo package --workspace --exclude linsep-py --no-verify --locked
    run cargo package -p linsep-check --locked
}

# Every ignored test, but for the one that needs R and the package brglm2; the long trials; and every fuzz target for ten minutes.
long() {
    if Rscript -e 'library(brglm2)' >/dev/null 2>&1; then
        run cargo test --workspace --locked -- --ignored --nocapture
    else
        echo "not checked: Firth's penalty against R's brglm2, which is not installed"
        run cargo test --workspace --locked -- --ignored --nocapture --skip brglm2
    fi
    run python_environment
    run python_package
    LINSEP_FUZZ_CALLS=100000 run "$environment/bin/python" -m pytest -q -p no:cacheprovider tests/python -k random
    run python3 tests/torture/run.py "$CARGO_TARGET_DIR/debug/linsep" --minutes 60
    if cargo fuzz --version >/dev/null 2>&1; then
        run fuzz/run-all.sh 600
    else
        echo "not checked: the fuzz targets (cargo install cargo-fuzz)"
    fi
}

case "${1:-}" in
    "") ;;
    --install)
        install
        announce "what the README shows can be installed"
        exit 0
        ;;
    --long)
        long
        announce "the long forms passed"
        exit 0
        ;;
    --parquet)
        run parquet
        announce "Parquet and Arrow files are read"
        exit 0
        ;;
    --miri)
        run miri
        announce "Miri found nothing"
        exit 0
        ;;
    *)
        printf 'check.sh: unknown argument %s\n' "$1" >&2
        exit 2
        ;;
esac

# What is checked is this commit only if nothing differs from it, from the beginning to the end: no file that is not committed, and
# no Cargo.lock that a command had to mend.
state() {
    local commit
    if ! commit="$(git rev-parse HEAD 2>/dev/null)"; then
        echo unknown
    elif [ -n "$(git status --porcelain)" ]; then
        echo "$commit with changes"
    else
        echo "$commit"
    fi
}
skipped=()
checked="$(state)"
rm -f "$CARGO_TARGET_DIR/checked"

run components
run cargo fmt --all --check
# The first command of the README, as it stands.
run cargo run --release -- demo
run dependencies
run cargo clippy --workspace --all-targets --locked -- -D warnings
# The library as it is without any of its features.
run cargo clippy -p linsep --no-default-features --locked -- -D warnings
run cargo test --workspace --locked
RUSTDOCFLAGS="-D warnings" run cargo doc --workspace --no-deps --locked
run python_environment
# The program that the tests have run: optimised, with overflow checks. One build serves both.
LINSEP="$CARGO_TARGET_DIR/debug/linsep" run "$environment/bin/python" -m pytest -q -p no:cacheprovider tests/oracle
run python_package
LINSEP="$CARGO_TARGET_DIR/debug/linsep" run "$environment/bin/python" -m pytest -q -p no:cacheprovider tests/python
run browser
LINSEP="$CARGO_TARGET_DIR/debug/linsep" run "$environment/bin/python" -m pytest -q -p no:cacheprovider tests/browser
run python3 tests/torture/run.py "$CARGO_TARGET_DIR/debug/linsep" --short

if [ "$checked" != "$(state)" ]; then
    step="the files of the repository have changed since the beginning"
    git status --short
    exit 1
fi
printf '%s\n' "$checked" > "$CARGO_TARGET_DIR/checked"
announce "everything passed: $checked"
for what in ${skipped[@]+"${skipped[@]}"}; do echo "not checked: $what"; done
