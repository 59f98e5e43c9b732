#!/usr/bin/env bash
# The test command of the project. Installs what the tests need, and can be run again at any time.
#
#     ./check.sh           everything
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

case "${1:-}" in
    "") ;;
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

run components
run cargo fmt --all --check
run cargo clippy --workspace --all-targets --locked -- -D warnings
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

announce "everything passed"
