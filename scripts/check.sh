#!/usr/bin/env bash
# The gate: everything a change must pass, cheapest first. One line per step; the log of a step that fails.
#
#   scripts/check.sh            all steps
#   scripts/check.sh fmt docs   these steps
#
# A scenario runs short here and must end with exit code 0, or with the code N of a line `// exit: N` in it. Of the short runs and of the
# studies one in ten is drawn by the commit, of two large tests one part in four (tests/it/drawn.rs); with `VIRTLANE_PARTS=1` all of them
# run (scripts/on_demand.sh does that).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Length of the measurement of a short run.
readonly CYCLES=1000
readonly VIRTLANE=${CARGO_TARGET_DIR:-target}/release/virtlane
# One in so many of the scenarios and studies runs.
readonly PARTS=${VIRTLANE_PARTS:-10}
draw=$(git rev-parse HEAD 2>/dev/null || echo 0)
readonly draw

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
    VIRTLANE_DRAW=$((16#${draw:0:6})) cargo test --quiet --locked
    scripts/validation.sh --names
    scripts/mutants.sh --names
}

program() { cargo build --quiet --locked --release; }

# The release build keeps one core busy for minutes: it starts with the first step, and its own step waits for it.
start_program() {
    cargo build --quiet --locked --release >/dev/null 2>&1 &
    build=$!
}

# Those of the names on the input that the commit draws, and the one that is given.
drawn() {
    local name sum
    while IFS= read -r name; do
        sum=$(cksum <<<"$draw $name" | cut -d' ' -f1)
        if ((sum % PARTS == 0)) || [[ $name == "$1" ]]; then echo "$name"; fi
    done
}

# Every shipped scenario, in a stable order.
scenarios() { find scenarios -name '*.ron' | LC_ALL=C sort; }

# Runs a step for every scenario on the input.
each_scenario() {
    local file
    while IFS= read -r file; do
        "$1" "$file" || { echo "$file: $1 failed"; return 1; }
    done
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

resolve() { each_scenario check_scenario < <(scenarios); }

short_runs() { each_scenario run_scenario < <(scenarios | drawn scenarios/default.ron); }

published() {
    local study
    while IFS= read -r study; do
        "$VIRTLANE" reproduce "$study" --quick --quiet --out "$scratch/reproduced" || { echo "$study failed"; return 1; }
    done < <("$VIRTLANE" reproduce | awk '$2 ~ /^[0-9]+$/ { print $1 }' | drawn any_lane_mesh)
}

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
    [short_runs]="drawn scenarios run $CYCLES cycles, invariants on"
    [published]="every claim of drawn studies holds"
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
