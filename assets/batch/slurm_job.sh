#!/bin/bash
# Array task N makes slice N + 1 of {{tasks}} of the sweep. Written by `virtlane batch slurm`; submit it from anywhere.
#SBATCH --job-name={{job_name}}
#SBATCH --array=0-{{last_task}}
#SBATCH --chdir={{folder_option}}
#SBATCH --output=logs/task-%a-%A.log
#SBATCH --open-mode=append
#SBATCH --requeue
#SBATCH --signal=B:USR1@{{grace}}
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task={{cpus}}
#SBATCH --time={{time}}
{{options}}set -u

# Slurm starts elsewhere when it cannot enter the folder
cd -- {{folder}} || exit 2
task=$SLURM_ARRAY_TASK_ID
part=parts/$task
say() { echo "$(date '+%F %T') task $task: $1"; }

# What is newer than this mark was gained in this attempt.
mkdir -p parts && touch "parts/.begun-$task" || exit 2
say "attempt $((${SLURM_RESTART_COUNT:-0} + 1)) on $(hostname)"

# Slurm signals this shell only. The simulator saves its state on SIGUSR1, however often that comes; SIGTERM would end
# it at once the second time, and Slurm sends that to both.
simulator= near_end= interrupted=
forward() { [[ -z $simulator ]] || kill -s USR1 "$simulator" 2>/dev/null; }
trap 'near_end=yes; interrupted=yes; forward' USR1
trap 'interrupted=yes; forward' TERM

{{program}} sweep {{scenario}} --shard "$((task + 1))/{{tasks}}" --out "$part" \
    --threads "${SLURM_CPUS_PER_TASK:-{{cpus}}}"{{sweep_flags}} --quiet &
simulator=$!
# a signal that came before its number was known
[[ -z $interrupted ]] || forward
# `wait` returns early when a signal comes
while interrupted=; wait "$simulator"; code=$?; [[ -n $interrupted ]]; do :; done

# 143: stopped, state saved; other codes above 128: the signal came before the simulator listened
if [[ -z $near_end ]] || ((code < 128)); then
    say "exit code $code"
    exit "$code"
fi
gained=$(find "$part/runs" "$part/states" -mindepth 1 -maxdepth 1 -newer "parts/.begun-$task" -print -quit 2>/dev/null)
if [[ -z $gained ]]; then
    say "nothing was gained before the time limit: not queued again, it needs a longer --time" >&2
    exit "$code"
fi
say "stopped before the time limit, state saved: queued again"
scontrol requeue "${SLURM_ARRAY_JOB_ID}_$task" ||
    say "cannot be queued again here: virtlane batch slurm --resubmit goes on" >&2
exit "$code"
