#!/usr/bin/env bash
# A sweep as a Slurm job array on a real Slurm: one task is told to stop and goes on, one is killed and submitted again,
# and the merged sweep must be the one made here without Slurm.
#
#   scripts/check_slurm.sh
#
# The cluster has one node and lives in a temporary folder (scripts/slurm_cluster.sh). Where Slurm cannot be installed
# it says so and ends with 0. VIRTLANE is the program to check, CYCLES the length of a run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

VIRTLANE=${VIRTLANE:-${CARGO_TARGET_DIR:-target}/release/virtlane}
[[ -x $VIRTLANE ]] || cargo build --quiet --locked --release
VIRTLANE=$(cd "$(dirname "$VIRTLANE")" && pwd)/$(basename "$VIRTLANE")
readonly VIRTLANE
# Measured cycles of a run: seconds of work in a task, so that it is met in the middle of one. A slower build than that
# for release needs fewer (2000000).
readonly CYCLES=${CYCLES:-10000000}
# Seconds to wait for a job.
readonly PATIENCE=300

scratch=$(mktemp -d)
finish() {
    local status=$?
    scripts/slurm_cluster.sh stop "$scratch/cluster" || true
    if ((status != 0)); then
        tail -n 50 "$scratch"/*/*/logs/*.log "$scratch"/cluster/*.log >&2 2>/dev/null || true
    fi
    rm -rf "$scratch"
}
trap finish EXIT

fail() { echo "slurm: $1" >&2; exit 1; }

# until WHAT COMMAND..: waits for a command to succeed.
until_done() {
    local what=$1 second
    shift
    for ((second = 0; second < PATIENCE * 10; second++)); do
        "$@" && return
        sleep 0.1
    done
    fail "waited in vain until $what"
}

status=0
scripts/slurm_cluster.sh start "$scratch/cluster" || status=$?
if ((status == 4)); then
    echo "slurm: skipped, Slurm cannot be installed here"
    exit 0
fi
((status == 0)) || fail "the cluster does not start"
export SLURM_CONF=$scratch/cluster/slurm.conf

# Blanks and quotes in every path, and a file that the scenario names by a path with `..`.
folder="$scratch/a batch's \"folder\""
mkdir -p "$folder/scenarios"
cp assets/fabrics/loginoff_8sw.ibnetdiscover "$folder/fabric file.ibnetdiscover"
cat >"$folder/scenarios/small sweep.ron" <<END
Scenario(
    title: "small sweep",
    fabric: (
        topology: Mesh(radix: [4, 4]), flit: "64 B", link: (rate: "10 Gbit/s", latency: "1 cycles"),
        switch: (lanes: 2, lane_capacity: "16 flits"),
    ),
    routing: UpDown(),
    traffic: [(name: "bulk", pattern: Uniform, process: Bernoulli(load: 0.2), size: "512 B")],
    phases: (warmup: "500 cycles", measure: "$CYCLES cycles"),
    sweep: (axes: [
        ("traffic.bulk.process.load", [0.1, 0.2]),
        ("fabric.topology", [Mesh(radix: [4, 4]), Ibnetdiscover(file: "../fabric file.ibnetdiscover")]),
    ], seeds: 2),
)
END
scenario="$folder/scenarios/small sweep.ron"
batch="$folder/the batch"
seeds=(--set sweep.seeds=3)

"$VIRTLANE" sweep "$scenario" "${seeds[@]}" --quiet --out "$scratch/local"

"$VIRTLANE" batch slurm "$scenario" "${seeds[@]}" --out "$batch" --tasks 3 --mem 200M --time 10 \
    --sbatch-option=--comment="a 'comment' # of \"words\"" --submit >"$scratch/submitted"
array=$(sed -n 's/^submitted job \([0-9]*\) (array), job \([0-9]*\) (merge.*/\1/p' "$scratch/submitted")
merge=$(sed -n 's/^submitted job \([0-9]*\) (array), job \([0-9]*\) (merge.*/\2/p' "$scratch/submitted")
[[ -n $array && -n $merge ]] || fail "no job numbers: $(cat "$scratch/submitted")"

state_of() { scontrol show job "$1" | sed -n 's/.*JobState=\([A-Z_]*\).*/\1/p' | head -n 1; }
is_in_state() { [[ $(state_of "$1") == "$2" ]]; }
has_ended() { [[ $(state_of "$1") =~ ^(COMPLETED|FAILED|CANCELLED|TIMEOUT|NODE_FAIL)$ ]]; }
# Number of the process that makes a task.
simulator_of() {
    local pid
    for pid in $(pgrep -f -- "--out parts/$1 " || true); do
        [[ $(readlink "/proc/$pid/cwd") == "$batch" && $(readlink "/proc/$pid/exe") == "$VIRTLANE" ]] && echo "$pid"
    done
    true
}
# A run of the task is under way: its directory is there, and its program has worked for a while.
is_at_work() {
    local pid
    pid=$(simulator_of "$1")
    [[ -n $pid && -f "$batch/parts/$1/study.ron" ]] && sleep 0.5 && kill -0 "$pid" 2>/dev/null
}

# Task 1 is held in the middle of a run, so that it has not ended before it is killed.
is_held() { is_at_work "$1" && kill -STOP "$(simulator_of "$1")"; }
until_done "task 1 works" is_held 1

# Task 0 gets the signal of a time limit that is near.
until_done "task 0 works" is_at_work 0
scancel --batch --signal=USR1 "${array}_0"
until_done "task 0 is queued again" grep -q 'queued again' "$batch/logs/task-0-$array.log"
ls "$batch/parts/0/states"/* >/dev/null || fail "task 0 has saved no state"

# Task 1 is killed as by a lack of memory.
kill -KILL "$(simulator_of 1)"

until_done "the merge has ended" has_ended "$merge"
for task in 0 1 2; do echo "slurm: task $task of job $array: $(state_of "${array}_$task")"; done
[[ $(state_of "${array}_0") == COMPLETED ]] || fail "task 0 did not go on"
[[ $(state_of "${array}_1") == FAILED ]] || fail "task 1 was not killed"
[[ $(state_of "${array}_2") == COMPLETED ]] || fail "task 2 was lost with task 1"
grep -Eq 'goes? on from (its|their) saved state' "$batch/logs/task-0-$array.log" || fail "task 0 began anew"
scontrol show job "${array}_0" | grep -q 'Restarts=1' || fail "task 0 was not started twice"
# the merge says what task 1 has left open
is_in_state "$merge" FAILED || fail "the merge with missing runs is $(state_of "$merge")"
grep -q 'runs are missing' "$batch/logs/merge-$merge.log" || fail "the merge does not say what is missing"
! cmp -s "$batch/merged/sweep.csv" "$scratch/local/sweep.csv" || fail "nothing was missing"

# The command that the merge names makes the rest.
command=$(sed -n 's/^  \(.* --resubmit .*\)/\1/p' "$batch/logs/merge-$merge.log")
[[ -n $command ]] || fail "the merge does not say what to do"
bash -c "$command" >"$scratch/again"
again=$(sed -n 's/^submitted job \([0-9]*\) (array), job \([0-9]*\) (merge.*/\1/p' "$scratch/again")
merge=$(sed -n 's/^submitted job \([0-9]*\) (array), job \([0-9]*\) (merge.*/\2/p' "$scratch/again")
until_done "the second merge has ended" has_ended "$merge"
[[ $(ls "$batch/logs" | grep -c -- "-$again.log") == 1 ]] || fail "more than the failed task was submitted again"
is_in_state "$merge" COMPLETED || fail "the second merge is $(state_of "$merge")"

cmp "$batch/merged/sweep.csv" "$scratch/local/sweep.csv" || fail "the merged table is not the local one"
digests() { grep -rho '"digest": *"[0-9a-f]*"' "$1"/runs/*/summary.json | sort; }
[[ $(digests "$batch/merged") == "$(digests "$scratch/local")" ]] || fail "the digests differ"
"$VIRTLANE" batch slurm --resubmit "$batch" | grep -q 'every run is finished' || fail "something is left to do"
echo "slurm: $(digests "$scratch/local" | wc -l) runs in 3 tasks, one queued again, one killed: the table is that of" \
    "the local sweep, byte by byte ($SECONDS s)"
