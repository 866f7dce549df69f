#!/usr/bin/env bash
# Plants the faults of tests/mutants.tsv, one at a time, and demands that the test named with each one fails.
#
#   scripts/mutants.sh               all faults
#   scripts/mutants.sh 3 17 40       these faults
#   scripts/mutants.sh --names       only check that every expression is found and every test exists
#   scripts/mutants.sh --places      only check that every expression is found: nothing is built
#   scripts/mutants.sh --plant DIR   only make the copy with the faults in it, all switched off, below DIR
#   scripts/mutants.sh --run DIR     build and run a copy that is there
#
# The product stays as it is: a copy of the tree gets `if planted::is(17) { WRONG } else { RIGHT }` for every right
# expression, is built once, and the environment variable VIRTLANE_PLANTED switches one fault on. The copy lies in a
# new folder that is deleted at the end, or in VIRTLANE_MUTANTS, where it stays with what was built, so that the next
# build is shorter.
#
# Columns of the table, separated by tabs: number; file below src; which of several occurrences of the expression, or
# `-` for the only one; right; wrong (both on one line; a statement ends with `;`, and an empty wrong one leaves it out); test
# that must fail (`lib` or `it`, blank, filter); `hangs` where running into the time limit is a failure, else `-`; what is wrong.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly FAULTS=tests/mutants.tsv
# Time limit of one test [s].
readonly LIMIT=${VIRTLANE_MUTANTS_LIMIT:-120}

# The faults, without the heading: fields apart by a character that is no blank, so that none is lost when empty.
faults() { tail -n +2 "$FAULTS" | tr '\t' '\037'; }

# Every (file, occurrence, right) once, later occurrences first.
places() { faults | cut -d$'\037' -f2-4 | LC_ALL=C sort -t$'\037' -k1,1 -k3,3 -k2,2nr -u; }

# How often $2 stands in the text $1.
count() {
    local rest=$1 number=0
    while [[ $rest == *"$2"* ]]; do
        rest=${rest#*"$2"}
        number=$((number + 1))
    done
    echo "$number"
}

# The expressions are where the table says, and numbers are given once.
check_expressions() {
    local wrong=0 file occurrence right found twice unbalanced
    while IFS=$'\037' read -r file occurrence right; do
        found=$(count "$(<"src/$file")" "$right")
        if [[ $occurrence == - ]]; then
            ((found == 1)) || { echo "$FAULTS: src/$file has \`$right\` $found times, expected once"; wrong=1; }
        elif ((found < occurrence)); then
            echo "$FAULTS: src/$file has \`$right\` $found times, expected at least $occurrence"
            wrong=1
        fi
    done < <(places)
    unbalanced=$(faults | awk -F'\037' '{ text = $4; opened = gsub(/[({[]/, "", text); text = $4; closed = gsub(/[)}\]]/, "", text)
        if (opened != closed) print $1 }')
    [[ -z $unbalanced ]] || { echo "$FAULTS: these expressions end in the middle:" $unbalanced; wrong=1; }
    twice=$(faults | cut -d$'\037' -f1 | sort | uniq -d)
    [[ -z $twice ]] || { echo "$FAULTS: these numbers stand twice: $twice"; wrong=1; }
    return $wrong
}

# Every filter names a test.
check_tests() {
    local wrong=0 kind filter
    cargo test --locked --lib -- --list 2>/dev/null | sed -n 's/: test$//p' >"$scratch/lib"
    cargo test --locked --test it -- --list 2>/dev/null | sed -n 's/: test$//p' >"$scratch/it"
    while read -r kind filter; do
        grep -q "^$filter" "$scratch/$kind" || { echo "$FAULTS: no test of \`$kind\` is called $filter"; wrong=1; }
    done < <(faults | cut -d$'\037' -f6 | sort -u)
    return $wrong
}

# `RIGHT` with every fault of this place behind its switch.
switched() {
    local file=$1 occurrence=$2 right=$3 number wrong text=""
    while IFS=$'\037' read -r number _ _ _ wrong _; do
        text+="if crate::planted::is($number) { $wrong } else "
    done < <(faults | FILE=$file AT=$occurrence RIGHT=$right awk -F'\037' \
        '$2 == ENVIRON["FILE"] && $3 == ENVIRON["AT"] && $4 == ENVIRON["RIGHT"]')
    text+="{ $right }"
    if [[ $right == *\; ]]; then echo "$text"; else echo "($text)"; fi
}

# Puts the faults into the tree at $1.
plant() {
    local tree=$1 file occurrence right text before after i
    while IFS=$'\037' read -r file occurrence right; do
        text=$(<"$tree/src/$file")
        before=""
        after=$text
        for ((i = 1; i < ${occurrence/-/1}; i++)); do
            before+=${after%%"$right"*}$right
            after=${after#*"$right"}
        done
        [[ $after == *"$right"* ]] || { echo "$FAULTS: \`$right\` of src/$file overlaps another"; return 1; }
        before+=${after%%"$right"*}
        after=${after#*"$right"}
        # placeholders keep what was planted out of later searches
        planted+=("$(switched "$file" "$occurrence" "$right")")
        printf '%s\001%d\002%s\n' "$before" $((${#planted[@]} - 1)) "$after" >"$tree/src/$file"
    done < <(places)
    for file in $(faults | cut -d$'\037' -f2 | sort -u); do
        text=$(<"$tree/src/$file")
        while [[ $text == *$'\001'* ]]; do
            before=${text%%$'\001'*}
            after=${text#*$'\001'}
            text=$before${planted[${after%%$'\002'*}]}${after#*$'\002'}
        done
        printf '%s\n' "$text" >"$tree/src/$file"
    done
    printf '%s\n' 'pub mod planted;' >>"$tree/src/lib.rs"
    cat >"$tree/src/planted.rs" <<'RUST'
//! Which planted fault is switched on.

use std::sync::LazyLock;

static NUMBER: LazyLock<u32> = LazyLock::new(|| {
    let number = std::env::var("VIRTLANE_PLANTED").ok();
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
});

/// Whether it is this one.
#[inline]
pub fn is(number: u32) -> bool {
    *NUMBER == number
}
RUST
}

# A copy of this tree with the faults, in $1; what was built there before stays, and what has not changed keeps its
# time, so that it is not built again.
copy() {
    local planted=() fresh=$scratch/fresh file
    mkdir -p "$1" "$fresh"
    tar --exclude=./target --exclude=./.git -cf - . | tar -xf - -C "$fresh"
    plant "$fresh"
    while IFS= read -r -d '' file; do
        [[ -f $fresh/$file ]] || rm "$1/$file"
    done < <(cd "$1" && find . -path ./target -prune -o -type f -print0)
    while IFS= read -r -d '' file; do
        cmp -s "$fresh/$file" "$1/$file" && continue
        mkdir -p "$1/${file%/*}"
        cp --no-preserve=timestamps "$fresh/$file" "$1/$file"
    done < <(cd "$fresh" && find . -type f -print0)
    rm -rf "$fresh"
}

# The test binary $1 with the filter $2 and fault $3; $4 random cases where the test draws some, else all of them.
test_with() {
    VIRTLANE_CASES=${4:-${VIRTLANE_CASES:-}} VIRTLANE_PLANTED=$3 INSTA_UPDATE=no RUST_BACKTRACE=0 \
        timeout -k 5 "$LIMIT" "${binary[$1]}" --quiet "$2" >"$scratch/log" 2>&1
}

# Builds the copy in $1 and runs every fault, or those that follow.
run() {
    cd "$1"
    shift
    local kind filter number file right wrong test hangs meaning status verdict line survived=0 ran=0 start=$SECONDS
    cargo test --locked --no-run --lib --test it >"$scratch/build" 2>&1 || { cat "$scratch/build"; return 1; }
    while read -r line; do
        case $line in
            *'src/lib.rs ('*) binary[lib]=${line##*(} ;;
            *'tests/it/main.rs ('*) binary[it]=${line##*(} ;;
        esac
    done < <(grep -F Executable "$scratch/build")
    binary[lib]=${binary[lib]%)} binary[it]=${binary[it]%)}
    printf 'built in %d s\n' $((SECONDS - start))
    while read -r kind filter; do
        test_with "$kind" "$filter" 0 || { echo "without a fault fails: $kind $filter"; cat "$scratch/log"; return 1; }
        grep -q '^running [1-9]' "$scratch/log" || { echo "no such test: $kind $filter"; return 1; }
    done < <(faults | awk -F'\037' -v only=" $* " 'only == "  " || index(only, " " $1 " ") { print $6 }' | sort -u)
    # most faults of the cycle show in a few cases
    local few=40
    test_with it differential:: 0 "$few" || few=
    printf 'without a fault all tests pass, %d s\n' $((SECONDS - start))
    while IFS=$'\037' read -r number file _ right wrong test hangs meaning; do
        [[ $# == 0 || " $* " == *" $number "* ]] || continue
        read -r kind filter <<<"$test"
        status=0
        if [[ -n $few && $filter == differential::* ]]; then
            test_with "$kind" "$filter" "$number" "$few" || status=$?
        fi
        ((status != 0)) || test_with "$kind" "$filter" "$number" || status=$?
        case $status in
            0) verdict=SURVIVED ;;
            124 | 137) [[ $hangs == hangs ]] && verdict=killed || verdict=HANGS ;;
            *) verdict=killed ;;
        esac
        [[ $verdict == killed ]] || survived=$((survived + 1))
        ran=$((ran + 1))
        printf '%-8s %3d  %-34s %-60s %s\n' "$verdict" "$number" "$file" "$meaning" "$test"
    done < <(faults)
    printf '%d of %d killed, %d s\n' $((ran - survived)) "$ran" $((SECONDS - start))
    ((survived == 0))
}

declare -A binary
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
case ${1:-} in
    --names)
        status=0
        check_expressions || status=1
        check_tests || status=1
        exit $status
        ;;
    --places)
        check_expressions
        ;;
    --plant)
        check_expressions
        copy "$2"
        ;;
    --run)
        run "${@:2}"
        ;;
    *)
        check_expressions
        tree=${VIRTLANE_MUTANTS:-$scratch/tree}
        copy "$tree"
        run "$tree" "$@"
        ;;
esac
