#!/usr/bin/env bash
# Writes docs/validation.md: what proves each feature, and the verdict of the last run of these proofs.
#
#   scripts/validation.sh            make all of it (tests, then every shipped study in its quick form): about 15 minutes on 2 cores, 4
#                                    when all is built
#   scripts/validation.sh --whole    the same with whole studies: hours
#   scripts/validation.sh --names    only check that every test named in tests/validation.tsv and tests/acceptance.tsv exists
#   scripts/validation.sh --checks   make the section of acceptance checks anew, which needs no run
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly PROOFS=tests/validation.tsv
readonly CHECKS=tests/acceptance.tsv
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
    # A test by its whole name, or all of a module that ends in `::`; claims are checked by tests/it/acceptance.rs.
    while IFS= read -r test; do
        if [[ $test == *:: ]]; then grep -q "^$test" "$scratch/names"; else grep -qx "$test" "$scratch/names"; fi ||
            { echo "$CHECKS: no test is called $test"; missing=1; }
    done < <(checks | awk -F'\t' '{ n = split($4, proofs, " "); for (i = 1; i <= n; i++) print proofs[i] }' |
        grep -v '^claim:' | sort -u)
    return $missing
}

# The rows of $CHECKS without the heading.
checks() { tail -n +2 "$CHECKS"; }

# The last section of the page: acceptance checks of the sources, from $CHECKS alone.
by_checks() {
    cat <<'TEXT'

## By acceptance checks of the sources

What the sources ask, check by check, from `tests/acceptance.tsv`: cited as `seed-000 A-05`. `proved`: within the tolerance
of the check, or within 10 % where it gives none. `ordering only`: what should be larger is larger, by another factor.
`differs`: it was tried and the source says something else. `open`: something it needs is not built yet.

| seed | source |
|---|---|
| 000 | S.-A. Reinemo, "Quality of Service in Interconnection Networks", dissertation, University of Oslo, 2007 |
| 001 | V. Zdornov and Y. Birk, "Mitigating congestion in high-speed interconnects for computer clusters", 2009 |
| 002 | T. Skeie, O. Lysne and I. Theiss, "Layered shortest path (LASH) routing in irregular system area networks", 2002 |
| 003 | F. O. Sem-Jacobsen, "Quality of Service in Virtual Cut-through Networks", thesis, University of Oslo, 2004 |
| 004 | R. M. Bolbol, "Congestion management in interconnection networks", thesis, Islamic University of Gaza, 2012 |

TEXT
    checks | awk -F'\t' '
        { count[$1, $3]++; all[$1]++; total[$3]++ }
        END {
            n = split("proved|ordering only|differs|open|out of scope", verdicts, "|")
            head = "| seed | checks |"; line = "|---|---|"
            for (v = 1; v <= n; v++) { head = head " " verdicts[v] " |"; line = line "---|" }
            print head; print line
            for (i = 0; i < 5; i++) {
                seed = sprintf("%03d", i)
                if (!(seed in all)) continue
                row = "| " seed " | " all[seed] " |"
                for (v = 1; v <= n; v++) row = row " " (count[seed, verdicts[v]] + 0) " |"
                print row
            }
            row = "| all | " NR " |"
            for (v = 1; v <= n; v++) row = row " " (total[verdicts[v]] + 0) " |"
            print row
        }'
    echo
    echo "| seed | check | verdict | what proves or shows it | reason |"
    echo "|---|---|---|---|---|"
    checks | awk -F'\t' '{
        shown = ""
        n = split($4, proofs, " ")
        for (i = 1; i <= n; i++) shown = shown (i > 1 ? ", " : "") "`" proofs[i] "`"
        print "| " $1 " | " $2 " | " $3 " | " shown " | " $5 " |"
    }'
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

form=(--quick)
case ${1:-} in
    '') ;;
    --whole) form=() ;;
    --names)
        check_names
        exit
        ;;
    --checks)
        sed '/^## By acceptance checks/,$d' "$PAGE" | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}' >"$scratch/page"
        by_checks >>"$scratch/page"
        mv "$scratch/page" "$PAGE"
        exit
        ;;
    *)
        echo "$1: expected --whole, --names, --checks or nothing" >&2
        exit 2
        ;;
esac
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

TEXT
    printf '`%s`. `differs`: the source says something else than what is found here, and\n' "virtlane reproduce all --table ${form[*]}"
    cat <<'TEXT'
`virtlane reproduce STUDY` says why. `--quick`: large studies with fewer points, seeds and cycles, and without the claims that these
cannot be held to.

TEXT
    "$VIRTLANE" reproduce all --table "${form[@]}" --quiet --out "$scratch/studies" || true
    by_checks
} >"$scratch/page"
mv "$scratch/page" "$PAGE"
echo "$PAGE"
