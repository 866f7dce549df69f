#!/usr/bin/env bash
# Writes docs/validation.md: what proves each feature, and the verdict of the last run of these proofs.
#
#   scripts/validation.sh            make all of it (tests, then every shipped study): about 15 minutes on 2 cores, 4 when all is built
#   scripts/validation.sh --names    only check that every proof named in tests/validation.tsv is a test that exists
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly PROOFS=tests/validation.tsv
readonly PAGE=docs/validation.md
readonly VIRTLANE=${CARGO_TARGET_DIR:-target}/release/virtlane

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The rows of $PROOFS without the heading.
rows() { tail -n +2 "$PROOFS"; }

check_names() {
    local missing=0
    cargo test --locked -- --list 2>/dev/null | sed -n 's/: test$//p' >"$scratch/names"
    while IFS=$'\t' read -r _ _ _ test; do
        grep -q "^$test" "$scratch/names" || { echo "$PROOFS: no test is called $test"; missing=1; }
    done < <(rows)
    return $missing
}

by_tests() {
    cargo test --locked --no-fail-fast >"$scratch/log" 2>&1 || true
    sed -n 's/^test \(.*\) \.\.\. \(ok\|FAILED\).*/\1 \2/p' "$scratch/log" >"$scratch/verdicts"
    echo "| feature | kind of proof | what is shown | tests | verdict |"
    echo "|---|---|---|---|---|"
    while IFS=$'\t' read -r feature kind proof test; do
        local ok failed verdict=holds
        ok=$(grep -c "^$test.* ok$" "$scratch/verdicts" || true)
        failed=$(grep -c "^$test.* FAILED$" "$scratch/verdicts" || true)
        ((failed == 0 && ok > 0)) || verdict=fails
        echo "| $feature | $kind | $proof | \`$test\` ($ok of $((ok + failed))) | $verdict |"
    done < <(rows)
}

if [[ ${1:-} == --names ]]; then
    check_names
    exit
fi
check_names
cargo build --quiet --locked --release
{
    cat <<'TEXT'
# Validation

What proves each feature, with the verdict of the last run. `scripts/validation.sh` makes this page.

## By closed form, reference model, oracle and invariant

TEXT
    by_tests
    cat <<'TEXT'

## By published and known results

`virtlane reproduce all --table`. `differs`: the source says something else than what is found here, and
`virtlane reproduce STUDY` says why.

TEXT
    "$VIRTLANE" reproduce all --table --quiet --out "$scratch/studies" || true
} >"$scratch/page"
mv "$scratch/page" "$PAGE"
echo "$PAGE"
