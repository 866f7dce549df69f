#!/usr/bin/env bash
# The gate: everything a change must pass, cheapest first. One line per step; the log of a step that fails.
#
#   scripts/check.sh            all steps
#   scripts/check.sh fmt docs   these steps
#
# A scenario runs short here and must end with exit code 0, or with the code N of a line `// exit: N` in it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Length of the measurement of a short run.
readonly CYCLES=1000
readonly VIRTLANE=${CARGO_TARGET_DIR:-target}/release/virtlane

scratch=$(mktemp -d)
build=
trap '[[ -z $build ]] || kill "$build" 2>/dev/null || true; rm -rf "$scratch"' EXIT

fmt() { cargo fmt --check; }

places() { scripts/mutants.sh --places; }

clippy() { cargo clippy --quiet --locked --all-targets -- -D warnings; }

docs() {
    RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked --no-deps --document-private-items
}

tests() {
    cargo test --quiet --locked
    scripts/validation.sh --names
    scripts/mutants.sh --names
}

program() { cargo build --quiet --locked --release; }

# The release build keeps one core busy for minutes: it starts with the first step, and its own step waits for it.
start_program() {
    cargo build --quiet --locked --release >/dev/null 2>&1 &
    build=$!
}

# Every shipped scenario, in a stable order.
each_scenario() {
    local file
    while IFS= read -r file; do
        "$1" "$file" || { echo "$file: $1 failed"; return 1; }
    done < <(find scenarios -name '*.ron' | LC_ALL=C sort)
}

# The first point of a sweep: all of them take minutes for the largest studies.
check_scenario() { "$VIRTLANE" check --print-plan "$1" >/dev/null; }

run_scenario() {
    local expected status=0
    expected=$(sed -n 's|^// exit: \([0-9][0-9]*\).*|\1|p' "$1" | head -n 1)
    "$VIRTLANE" run "$1" --cycles "$CYCLES" --check --quiet \
        --out "$scratch/runs/$(basename "$1" .ron)-$(cksum <<<"$1" | cut -d' ' -f1)" || status=$?
    [[ $status == "${expected:-0}" ]] || { echo "exit code $status, expected ${expected:-0}"; return 1; }
}

resolve() { each_scenario check_scenario; }

short_runs() { each_scenario run_scenario; }

published() { "$VIRTLANE" reproduce all --quick --quiet --out "$scratch/reproduced"; }

# Runs a step in a shell of its own, so that `set -e` holds inside it.
step() {
    local name=$1 words=$2 start=$SECONDS status=0
    printf '%-11s %-54s ' "$name" "$words"
    set +e
    (set -e; "$name") >"$scratch/log" 2>&1
    status=$?
    set -e
    if ((status == 0)); then
        printf 'ok   %4d s\n' $((SECONDS - start))
    else
        printf 'FAIL %4d s\n' $((SECONDS - start))
        cat "$scratch/log"
        exit 1
    fi
}

declare -rA STEPS=(
    [fmt]="format"
    [places]="every planted fault has its place"
    [clippy]="lints, all targets, warnings are errors"
    [docs]="documentation, private items and links included"
    [tests]="unit, integration, shape and documentation tests"
    [program]="release build"
    [resolve]="every scenario parses, routes and is proved"
    [short_runs]="every scenario runs $CYCLES cycles, invariants on"
    [published]="every claim of a shipped study holds"
)
readonly ORDER=(fmt places clippy docs tests program resolve short_runs published)

chosen=("$@")
((${#chosen[@]})) || chosen=("${ORDER[@]}")
for name in "${chosen[@]}"; do
    [[ -n ${STEPS[$name]:-} ]] || { echo "unknown step \`$name\`, expected: ${ORDER[*]}" >&2; exit 2; }
done
[[ " ${chosen[*]} " != *" program "* ]] || start_program
for name in "${chosen[@]}"; do
    step "$name" "${STEPS[$name]}"
done
printf 'all passed  %d s\n' "$SECONDS"
