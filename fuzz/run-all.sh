#!/usr/bin/env bash
# Runs every fuzz target, or those named, for some seconds each, and prints a table: executions, coverage, what was found.
#
#     fuzz/run-all.sh SECONDS [TARGET…]
#
# New inputs go to fuzz/corpus, inputs that fail to fuzz/artifacts; seeds are read and never written. Builds in
# CARGO_TARGET_DIR, or fuzz/target. Exits with 1 if something was found.
set -euo pipefail
seconds="${1:?usage: fuzz/run-all.sh SECONDS [TARGET…]}"
shift
cd "$(dirname "${BASH_SOURCE[0]}")"
build="${CARGO_TARGET_DIR:-$PWD/target}"
if [ "$#" -eq 0 ]; then
    mapfile -t targets < <(basename -s .rs -a fuzz_targets/*.rs)
else
    targets=("$@")
fi
for target in "${targets[@]}"; do
    if [ ! -f "fuzz_targets/$target.rs" ]; then
        printf 'there is no target %s\n' "$target" >&2
        exit 2
    fi
done
# The sanitizer's flags need a nightly compiler, or a stable one that is told to take them.
if cargo +nightly --version >/dev/null 2>&1; then
    fuzz() { ( cd .. && cargo +nightly fuzz "$@" ); }
else
    fuzz() { ( cd .. && RUSTC_BOOTSTRAP=1 cargo fuzz "$@" ); }
fi
# A program that is stopped must not leave its fuzzer running.
trap 'trap - EXIT; kill 0' INT TERM
for target in "${targets[@]}"; do
    fuzz build --target-dir "$build" "$target"
done

table=$(printf '%-14s %12s %9s %9s  %s' target executions coverage features found)
found=0
for target in "${targets[@]}"; do
    mkdir -p "corpus/$target" "artifacts/$target" logs
    log="logs/$target.log"
    printf '\n%s, %s s\n' "$target" "$seconds"
    status=0
    # A panic ends the run; its input is the last line of the log that names a file.
    fuzz run --target-dir "$build" "$target" "fuzz/corpus/$target" "fuzz/seeds/$target" -- \
        "-max_total_time=$seconds" -rss_limit_mb=2048 -timeout=20 -max_len=8192 -print_final_stats=1 >"$log" 2>&1 || status=$?
    executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -n 1)
    coverage=$(grep -o 'cov: [0-9]*' "$log" | tail -n 1 | cut -d ' ' -f 2 || true)
    features=$(grep -o 'ft: [0-9]*' "$log" | tail -n 1 | cut -d ' ' -f 2 || true)
    what=nothing
    if [ "$status" -ne 0 ]; then
        found=1
        what=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
        what="${what:-exit code $status, see fuzz/$log}"
    fi
    line=$(printf '%-14s %12s %9s %9s  %s' "$target" "${executions:-?}" "${coverage:-?}" "${features:-?}" "$what")
    printf '%s\n' "$line"
    table+=$'\n'"$line"
done
printf '\n%s\n' "$table"
exit "$found"
