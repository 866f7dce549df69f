#!/usr/bin/env bash
# The speed guard: instructions per packet-hop of the release program, counted by callgrind.
#
#   scripts/count_instructions.sh           compare with the bound of every line of benches/instructions.txt
#   scripts/count_instructions.sh --print   count only
#
# Each scenario runs for two lengths; the difference of the two counts, divided by the difference of their
# packet-hops, leaves out start-up, routing and writing. Instructions, not seconds: the same number on a busy
# machine and on an idle one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly VIRTLANE=${CARGO_TARGET_DIR:-target}/release/virtlane
readonly BOUNDS=benches/instructions.txt

if ! command -v valgrind >/dev/null; then
    echo "instructions: skipped, valgrind is not installed"
    exit 0
fi
[[ -x $VIRTLANE ]] || cargo build --quiet --locked --release
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# count SCENARIO CYCLES SETTING... -> "instructions packet-hops"
count() {
    local scenario=$1 cycles=$2 out=$scratch/run-$2 settings=() setting shards=1
    shift 2
    for setting in "$@"; do
        case $setting in
            shards=*) shards=${setting#shards=} ;;
            *) settings+=(--set "$setting") ;;
        esac
    done
    rm -rf "$out"
    if ! valgrind --tool=callgrind --callgrind-out-file="$scratch/callgrind-$cycles" \
        "$VIRTLANE" run "$scenario" --cycles "$cycles" --threads 1 --shards "$shards" --quiet --out "$out" \
        ${settings[@]+"${settings[@]}"} >"$scratch/log-$cycles" 2>&1; then
        cat "$scratch/log-$cycles" >&2
        return 1
    fi
    local instructions hops
    instructions=$(sed -n 's/^totals: \([0-9]*\).*/\1/p' "$scratch/callgrind-$cycles")
    hops=$(sed -n 's/.*"packet_hops": *\([0-9]*\).*/\1/p' "$out/summary.json" | head -n 1)
    [[ -n $instructions && -n $hops ]] || { echo "$scenario: nothing counted" >&2; return 1; }
    echo "$instructions $hops"
}

failed=0
while read -r scenario short long bound settings; do
    [[ -z $scenario || $scenario == \#* ]] && continue
    read -ra list <<<"$settings"
    count "$scenario" "$short" ${list[@]+"${list[@]}"} >"$scratch/short" &
    count "$scenario" "$long" ${list[@]+"${list[@]}"} >"$scratch/long"
    wait $!
    read -r instructions_1 hops_1 <"$scratch/short"
    read -r instructions_2 hops_2 <"$scratch/long"
    hops=$((hops_2 - hops_1))
    ((hops > 0)) || { echo "$scenario: no packet-hop between $short and $long cycles" >&2; exit 1; }
    # rounded to the nearest
    per_hop=$(((instructions_2 - instructions_1 + hops / 2) / hops))
    verdict=ok
    if [[ ${1:-} == --print ]]; then
        verdict=counted
    elif ((per_hop > bound)); then
        verdict="FAIL: the bound is $bound; lower the cost, or raise the bound in $BOUNDS and say why"
        failed=1
    fi
    echo "instructions  $scenario $settings: $per_hop per packet-hop (bound $bound)  $verdict"
done <"$BOUNDS"
exit "$failed"
