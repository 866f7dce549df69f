#!/usr/bin/env bash
# What takes too long for the gate: tests marked `#[ignore = "PROFILE, TIME: why; scripts/on_demand.sh NAME"]`, and all of what
# the gate draws from: pairs of options, short runs of scenarios, quick forms of studies.
#
#   scripts/on_demand.sh             all of it: tests in the dev profile first, then those in release, scenarios, studies
#   scripts/on_demand.sh NAME...     those whose name contains a NAME
#   scripts/on_demand.sh --list      what there is, profile and time on 2 cores, without the build
#
# A test whose reason starts with `release` runs optimised (the first build takes minutes), all others in the dev profile.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# Name, reason and place of every ignored test.
ignored() {
    grep -rn -A6 --include='*.rs' '#\[ignore' src tests | awk '
        /#\[ignore/ {
            reason = "no reason"
            if (match($0, /"[^"]*"/)) reason = substr($0, RSTART + 1, RLENGTH - 2)
            place = $0; sub(/:[0-9]+:.*/, "", place)
            waiting = 1
        }
        waiting && /fn [a-z0-9_]+\(/ {
            match($0, /fn [a-z0-9_]+/)
            print substr($0, RSTART + 3, RLENGTH - 3) "\t" reason "\t" place
            waiting = 0
        }' | LC_ALL=C sort
}

if [[ ${1:-} == --list ]]; then
    ignored | while IFS=$'\t' read -r name reason place; do
        printf '%-52s %-44s %s\n' "$name" "$place" "$reason"
    done
    exit
fi

failed=0
# Runs the chosen tests of a profile.
run() {
    local profile=$1 names=() name reason
    shift
    while IFS=$'\t' read -r name reason _; do
        local of=dev
        [[ $reason != release* ]] || of=release
        [[ $of == "$profile" ]] || continue
        if (($# == 0)) || printf '%s\n' "$@" | grep -qF -f - <(echo "$name"); then names+=("$name"); fi
    done < <(ignored)
    ((${#names[@]})) || return 0
    found=1
    local option=()
    [[ $profile == dev ]] || option=(--release)
    cargo test --locked "${option[@]}" --lib --test it -- --ignored --nocapture "${names[@]}" || failed=1
}

found=
run dev "$@"
run release "$@"
if (($# == 0)); then
    VIRTLANE_PARTS=1 cargo test --locked --test it -- every_pair_goes_together conservation_laws_hold_everywhere || failed=1
    VIRTLANE_PARTS=1 scripts/check.sh program short_runs published || failed=1
fi
[[ -n $found ]] || { echo "no test on demand is called $*; scripts/on_demand.sh --list shows them" >&2; exit 2; }
exit $failed
