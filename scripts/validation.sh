#!/usr/bin/env bash
# Makes docs/validation.md of stored results, and stores results: what proves each feature, what each claim of a study was found to be.
#
#   scripts/validation.sh                    run all tests and the quick form of every shipped study, store, make the page: about 15 minutes
#                                            on 2 cores, 4 when all is built
#   scripts/validation.sh --whole [STUDY...] run whole studies (all: hours), store, make the page
#   scripts/validation.sh --page             only make the page of what is stored
#   scripts/validation.sh --names            only check that every test named in tests/validation.tsv and tests/acceptance.tsv exists
#
# Stored results are tests/results/tests.tsv and tests/results/studies/STUDY.tsv, which `virtlane reproduce STUDY --store` writes: each with
# the day and the commit it is of. What is not stored is shown as not run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly PROOFS=tests/validation.tsv
readonly CHECKS=tests/acceptance.tsv
readonly TESTS=tests/results/tests.tsv
readonly STUDIES=tests/results/studies
readonly PAGE=docs/validation.md
readonly VIRTLANE=${CARGO_TARGET_DIR:-target}/release/virtlane

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The rows of a table without the heading.
rows() { tail -n +2 "$1"; }

commit() { git rev-parse --short HEAD 2>/dev/null || echo -; }

check_names() {
    local missing=0
    cargo test --locked -- --list 2>/dev/null | sed -n 's/: test$//p' >"$scratch/names"
    while IFS=$'\t' read -r _ _ _ test; do
        grep -q "^$test" "$scratch/names" || { echo "$PROOFS: no test is called $test"; missing=1; }
    done < <(rows "$PROOFS")
    # A test by its whole name, or all of a module that ends in `::`; claims are checked by tests/it/acceptance.
    while IFS= read -r test; do
        if [[ $test == *:: ]]; then grep -q "^$test" "$scratch/names"; else grep -qx "$test" "$scratch/names"; fi ||
            { echo "$CHECKS: no test is called $test"; missing=1; }
    done < <(rows "$CHECKS" | awk -F'\t' '{ n = split($7, proofs, " "); for (i = 1; i <= n; i++) print proofs[i] }' |
        grep -v '^claim:' | sort -u)
    return $missing
}

# Runs all tests; stores of each named one, or module, how many passed and failed.
store_tests() {
    local today state
    today=$(date -u +%F) state=$(commit)
    cargo test --locked --no-fail-fast >"$scratch/log" 2>&1 || true
    sed -n 's/^test \(.*\) \.\.\. \(ok\|FAILED\).*/\1 \2/p' "$scratch/log" >"$scratch/verdicts"
    {
        printf 'test\tok\tfailed\tdate\tcommit\n'
        rows "$PROOFS" | cut -f4 | LC_ALL=C sort -u | while IFS= read -r test; do
            printf '%s\t%s\t%s\t%s\t%s\n' "$test" "$(grep -c "^$test.* ok$" "$scratch/verdicts" || true)" \
                "$(grep -c "^$test.* FAILED$" "$scratch/verdicts" || true)" "$today" "$state"
        done
    } >"$scratch/tests"
    mv "$scratch/tests" "$TESTS"
}

store_study() {
    "$VIRTLANE" reproduce "$@" --quiet --store "$STUDIES" --commit "$(commit)" --out "$scratch/studies" || true
}

by_tests() {
    echo "| feature | kind of proof | what is shown | tests | verdict |"
    echo "|---|---|---|---|---|"
    awk -F'\t' '
        FNR == 1 { next }
        NR == FNR { ok[$1] = $2; failed[$1] = $3; made[$1] = $4 ", " $5; next }
        {
            verdict = "not run on this state"; count = ""
            if ($4 in ok) {
                verdict = (failed[$4] == 0 && ok[$4] > 0 ? "holds" : "fails") " (" made[$4] ")"
                count = " (" ok[$4] " of " ok[$4] + failed[$4] ")"
            }
            print "| " $1 " | " $2 " | " $3 " | `" $4 "`" count " | " verdict " |"
        }' "$TESTS" "$PROOFS"
}

by_claims() {
    echo "| study | claim | published | expected | whole study | quick form |"
    echo "|---|---|---|---|---|---|"
    awk -F'\t' '
        function show() {
            if (claim == "") return
            if (whole == "") whole = "not run in full on this state"
            if (quick == "") quick = "-"
            print "| " study " | " claim " | " published " | " bound " | " whole " | " quick " |"
        }
        FNR == 1 { next }
        {
            name = FILENAME; sub(/.*\//, "", name); sub(/\.tsv$/, "", name)
            text = $2 ($1 == "" ? "" : "  [" $1 "]")
            gsub(/\|/, "\\|", text)
            if (name != study || text != claim || $6 != bound) {
                show()
                study = name; claim = text; published = $7; bound = $6; whole = quick = ""
            }
            found = $4 ($5 == "-" ? "" : " [" $5 "]") ", " $8 " (" $9 ", " $10 ")"
            if ($3 == "whole") whole = found
            if ($3 == "quick") quick = found
        }
        END { show() }' "$STUDIES"/*.tsv
}

# The last section of the page, from $CHECKS and what is stored of the claims it names.
by_checks() {
    cat tests/acceptance_head.md
    echo
    rows "$CHECKS" | awk -F'\t' '
        $2 ~ /\./ { next }
        { count[$1, $4]++; all[$1]++; total[$4]++; checks++ }
        $4 == "proved" && $5 == "whole only" { whole[$1]++; wholes++ }
        END {
            n = split("proved|part|own fabric|ordering only|differs|open|out of scope", verdicts, "|")
            head = "| seed | checks |"; line = "|---|---|"
            for (v = 1; v <= n; v++) { head = head " " verdicts[v] " |"; line = line "---|" }
            print head " proved by whole studies only |"; print line "---|"
            for (i = 0; i < 5; i++) {
                seed = sprintf("%03d", i)
                row = "| " seed " | " all[seed] " |"
                for (v = 1; v <= n; v++) row = row " " (count[seed, verdicts[v]] + 0) " |"
                print row " " whole[seed] + 0 " |"
            }
            row = "| all | " checks " |"
            for (v = 1; v <= n; v++) row = row " " (total[verdicts[v]] + 0) " |"
            print row " " wholes + 0 " |"
        }'
    echo
    echo "| seed | check | verdict | shown by | run on | what proves or shows it | reason | stored results of its claims |"
    echo "|---|---|---|---|---|---|---|---|"
    awk -F'\t' '
        # of one form: how many hold, of how many, and when the first was made; `seen` gets the claims
        function of(form, study, id,   key, held, since, part) {
            count = 0
            for (key in result) {
                split(key, part, SUBSEP)
                if (part[1] != study) continue
                if (part[3] != id && index(part[3], id ".") != 1) continue
                split(result[key], found, "\t")
                seen[found[3]]
                if (part[2] != form) continue
                count++
                if (found[1] == "reproduced" || found[1] == "ordering only") held++
                if (since == "" || found[2] < since) since = found[2]
            }
            return count ? form " " held + 0 " of " count " hold (" since ")" : ""
        }
        function stored(proof,   part, text, more, missing) {
            split(proof, part, ":")
            delete seen
            text = of("whole", part[2], part[3])
            missing = length(seen) - count
            more = of("quick", part[2], part[3])
            text = text (text != "" && more != "" ? "; " : "") more
            if (missing) text = text (text == "" ? "" : "; ") missing " not run in full on this state"
            return "`" part[2] "`: " text
        }
        FNR == 1 { next }
        FILENAME != checks {
            name = FILENAME; sub(/.*\//, "", name); sub(/\.tsv$/, "", name)
            result[name, $3, $1, FNR] = $8 "\t" $9 ", " $10 "\t" $2 " " $6
            next
        }
        {
            proofs = results = ""
            n = split($7, all, " ")
            for (i = 1; i <= n; i++) {
                proofs = proofs (i > 1 ? ", " : "") "`" all[i] "`"
                if (all[i] ~ /^claim:/) results = results (results == "" ? "" : "; ") stored(all[i])
            }
            id = $2 ($3 == "" ? "" : ": " $3)
            print "| " $1 " | " id " | " $4 " | " $5 " | " $6 " | " proofs " | " $8 " | " results " |"
        }' checks="$CHECKS" "$STUDIES"/*.tsv "$CHECKS"
}

make_page() {
    {
        cat <<'TEXT'
# Validation

What proves each feature and what each claim was found to be, with the day and the commit of the run. `scripts/validation.sh --page`
makes this page of stored results (`tests/results`).

## By closed form, reference model, oracle and invariant

TEXT
        by_tests
        cat <<'TEXT'

## By published and known results

`virtlane reproduce STUDY`, whole and with `--quick`: large studies with fewer points, seeds and cycles, and without the claims that
these cannot be held to. In brackets the 95 % interval of a mean over seeds. `differs`: the source says something else than what is found
here, and `virtlane reproduce STUDY` says why.

TEXT
        by_claims
        echo
        by_checks
    } >"$scratch/page"
    mv "$scratch/page" "$PAGE"
    echo "$PAGE"
}

case ${1:-} in
    '')
        check_names
        cargo build --quiet --locked --release
        store_tests
        store_study all --quick
        ;;
    --whole)
        shift
        cargo build --quiet --locked --release
        (($#)) || set -- all
        for study in "$@"; do store_study "$study"; done
        ;;
    --page) ;;
    --names)
        check_names
        exit
        ;;
    *)
        echo "$1: expected --whole, --page, --names or nothing" >&2
        exit 2
        ;;
esac
make_page
