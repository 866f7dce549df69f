#!/usr/bin/env bash
# Virtlane and CAMINOS side by side on one network, as a Markdown table.
#
#   scripts/bench_peers.sh [repetitions]        default: 5
#
# Network: 1000 hosts on a 10-ary 3-tree, 2 lanes of 64 flits, 16-flit packets, uniform traffic at load 0.5,
# links of 1 cycle (scenarios/bench/tree_1000_16flit.ron; CAMINOS: XGFT of height 2). Both run one thread.
#
# What is compared: simulated cycles per second of processor time (user + system) of the whole process. Of
# each program a short and a long run are made and subtracted, (cycles of long - short) / (CPU of long -
# short), so start-up does not count on either side; warm-up and measurement both count as cycles, and a
# drain is counted too. The runs alternate, so a busy machine slows both. CAMINOS is installed outside the
# repository, with the version below; its port buffers hold 32 phits (its documented value), without which
# its router does not carry the load.
#
# Environment: VIRTLANE_PEERS = folder for CAMINOS and the runs; VIRTLANE = program to measure.
set -euo pipefail
cd "$(dirname "$0")/.."

caminos_version=0.6.3
repetitions=${1:-5}
cache=${VIRTLANE_PEERS:-${XDG_CACHE_HOME:-$HOME/.cache}/virtlane-peers}
caminos=$cache/bin/caminos
virtlane=${VIRTLANE:-target/release/virtlane}
scenario=scenarios/bench/tree_1000_16flit.ron
warmup=1000
short=500
long=5000

mkdir -p "$cache"
if ! [[ -x $caminos ]] || ! grep -qs "\"caminos $caminos_version " "$cache/.crates.toml"; then
  cargo install --locked --root "$cache" --version "$caminos_version" caminos >&2
fi
if [[ -z ${VIRTLANE:-} ]]; then
  cargo build --release --quiet
fi

runs=$(mktemp -d "${TMPDIR:-/tmp}/virtlane-peers.XXXXXX")
trap 'rm -rf "$runs"' EXIT

# caminos_configuration MEASURED_CYCLES
caminos_configuration() {
  cat <<CONFIGURATION
Configuration
{
	random_seed: 1,
	warmup: $warmup,
	measured: $1,
	topology: XGFT { height: 2, down: [10, 10], up: [10, 10], servers_per_leaf: 10 },
	traffic: HomogeneousTraffic { pattern: Uniform, servers: 1000, load: 0.5, message_size: 16 },
	maximum_packet_size: 16,
	router: Basic
	{
		virtual_channels: 2,
		virtual_channel_policies: [
			EnforceFlowControl,
			LowestSinghWeight { extra_congestion: 0, extra_distance: 0, aggregate_buffers: true, use_internal_space: true },
			Random,
		],
		buffer_size: 64,
		bubble: false,
		flit_size: 16,
		intransit_priority: false,
		allow_request_busy_port: true,
		output_buffer_size: 32,
		output_prioritize_lowest_label: true,
	},
	routing: UpDown,
	link_classes: [ LinkClass { delay: 1 }, LinkClass { delay: 1 }, LinkClass { delay: 1 } ],
}
CONFIGURATION
}

# timed OUTPUT COMMAND...: runs it and prints its user + system seconds
timed() {
  local output=$1 TIMEFORMAT='%3U %3S'
  shift
  { time "$@" >"$output" 2>"$output.err"; } 2>&1 | awk '{ print $1 + $2 }' || {
    cat "$output.err" >&2
    return 1
  }
}

# value FILE KEY: a number of CAMINOS' result file, which has each key and each value on a line of its own
value() {
  awk -v key="$2:" 'found { sub(/,$/, "", $1); print $1; exit } $1 == key { found = 1 }' "$1"
}

# json FILE PATH: a number of Virtlane's summary, such as load.accepted
json() {
  python3 -c '
import json, sys
node = json.load(open(sys.argv[1]))
for key in sys.argv[2].split("."):
    node = node[key]
print(node)
' "$1" "$2"
}

for cycles in "$short" "$long"; do
  caminos_configuration "$cycles" >"$runs/$cycles.cfg"
done

# one line per pair of runs: cycles and CPU seconds of the difference of both
for ((repetition = 1; repetition <= repetitions; repetition++)); do
  for cycles in "$short" "$long"; do
    timed "$runs/caminos.out" "$caminos" "$runs/$cycles.cfg" --results="$runs/$cycles.result" \
      >"$runs/caminos.$cycles"
    # ten times as long: it would be over before the clock of the system notices
    timed "$runs/$cycles.json" "$virtlane" run "$scenario" --format json --quiet --threads 1 --shards 1 \
      --out "$runs/virtlane.$cycles.out" --cycles $((cycles * 10)) >"$runs/virtlane.$cycles"
    rm -rf "$runs/virtlane.$cycles.out"
  done
  awk -v cycles=$((long - short)) -v fast="$(<"$runs/caminos.$long")" -v slow="$(<"$runs/caminos.$short")" \
    'BEGIN { print "CAMINOS", cycles / (fast - slow) }'
  awk -v cycles="$(($(json "$runs/$long.json" run.cycles.total) - $(json "$runs/$short.json" run.cycles.total)))" \
    -v fast="$(<"$runs/virtlane.$long")" -v slow="$(<"$runs/virtlane.$short")" \
    'BEGIN { print "Virtlane", cycles / (fast - slow) }'
done >"$runs/rates"

# statistics PROGRAM: min, median and max of its cycles per CPU second
statistics() {
  awk -v program="$1" '$1 == program { print $2 }' "$runs/rates" | sort -g |
    awk '{ rate[NR] = $1 } END { printf "%.0f %.0f %.0f", rate[1], rate[int((NR + 1) / 2)], rate[NR] }'
}
read -r caminos_min caminos_median caminos_max <<<"$(statistics CAMINOS)"
read -r virtlane_min virtlane_median virtlane_max <<<"$(statistics Virtlane)"

row() { printf '| %s | %s | %s | %s | %.3f | %.1f |\n' "$@"; }
echo '| program | cycles per CPU second: median | min | max | accepted load | mean packet latency |'
echo '|---|--:|--:|--:|--:|--:|'
row "CAMINOS $caminos_version" "$caminos_median" "$caminos_min" "$caminos_max" \
  "$(value "$runs/$long.result" accepted_load)" "$(value "$runs/$long.result" average_message_delay)"
row "$("$virtlane" --version)" "$virtlane_median" "$virtlane_min" "$virtlane_max" \
  "$(json "$runs/$long.json" load.accepted)" "$(json "$runs/$long.json" latency.packet.mean)"
echo
awk -v ours="$virtlane_median" -v theirs="$caminos_median" \
  'BEGIN { printf "Ratio of medians: %.0f\n", ours / theirs }'
