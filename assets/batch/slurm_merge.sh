#!/bin/bash
# Joins what the array tasks have made, whatever became of them. Written by `virtlane batch slurm`.
#SBATCH --job-name={{job_name}}
#SBATCH --chdir={{folder_option}}
#SBATCH --output=logs/merge-%j.log
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --time={{time}}
{{options}}set -u

cd -- {{folder}} || exit 2
# a task that never started has left nothing, one that was killed at once no study
parts=()
for part in parts/*/; do
    [[ -f $part/study.ron ]] && parts+=("${part%/}")
done
if ((${#parts[@]} == 0)); then
    echo "no array task has made anything: see logs" >&2
    exit 1
fi
{{program}} merge "${parts[@]}" --out {{merged}}
code=$?
if ((code == 1 || code == 3)); then
    cat <<'END'
Runs that are missing are made, half-done ones from their saved state, and merged by
  {{resubmit}}
or, on this machine and from the start, by
  {{local}}
END
fi
exit "$code"
