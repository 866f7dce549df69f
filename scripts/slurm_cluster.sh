#!/usr/bin/env bash
# A Slurm cluster of one node in a folder: for tests on a machine that has none.
#
#   scripts/slurm_cluster.sh start DIR   configures and starts it; then `export SLURM_CONF=DIR/slurm.conf`
#   scripts/slurm_cluster.sh stop DIR    stops it
#
# The Debian packages are installed when they are missing. Exit code 4: Slurm cannot be had here (no packages, not root).
set -euo pipefail

readonly PACKAGES=(slurmctld slurmd slurm-client munge)
readonly CANNOT=4
# Seconds to wait for a daemon.
readonly PATIENCE=60

usage() { echo "usage: $0 start|stop DIR" >&2; exit 2; }
(($# == 2)) || usage
readonly DIR=$2
PATH=$PATH:/usr/sbin:/sbin

cannot() { echo "$1" >&2; exit "$CANNOT"; }

provide() {
    command -v slurmctld >/dev/null && command -v slurmd >/dev/null && command -v sbatch >/dev/null &&
        command -v munged >/dev/null && return
    command -v apt-get >/dev/null || cannot "Slurm is not installed, and there is no apt-get"
    { apt-get update -qq && apt-get install -y -qq --no-install-recommends "${PACKAGES[@]}"; } >/dev/null 2>&1 ||
        cannot "${PACKAGES[*]} cannot be installed here"
}

# Two ports that nobody listens on.
free_ports() {
    local port found=0
    for ((port = 16817; port < 17817 && found < 2; port++)); do
        (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && continue
        echo "$port"
        found=$((found + 1))
    done
}

# No accounting, no control groups, no binding: only what starts, signals and requeues jobs. `cred_expire` is also the
# time a requeued job waits [s].
configure() {
    local host ports
    host=$(hostname -s)
    mapfile -t ports < <(free_ports)
    mkdir -p "$DIR"/{state,spool}
    cat >"$DIR/slurm.conf" <<END
ClusterName=virtlane
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$DIR/munge.socket,cred_expire=5
SlurmctldPort=${ports[0]}
SlurmdPort=${ports[1]}
SlurmctldPidFile=$DIR/slurmctld.pid
SlurmdPidFile=$DIR/slurmd.pid
SlurmctldLogFile=$DIR/slurmctld.log
SlurmdLogFile=$DIR/slurmd.log
StateSaveLocation=$DIR/state
SlurmdSpoolDir=$DIR/spool
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SwitchType=switch/none
PropagateResourceLimits=NONE
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=2,sched_min_interval=100000,bf_interval=2
JobRequeue=1
KillWait=10
MinJobAge=300
InactiveLimit=0
ReturnToService=2
SlurmdTimeout=300
SlurmdParameters=config_overrides
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 RealMemory=1024 State=UNKNOWN
PartitionName=test Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
    printf 'CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n' >"$DIR/cgroup.conf"
    (umask 077 && head -c 1024 /dev/urandom >"$DIR/munge.key")
}

# Waits until a command succeeds.
wait_for() {
    local what=$1 second
    shift
    for ((second = 0; second < PATIENCE * 5; second++)); do
        "$@" >/dev/null 2>&1 && return
        sleep 0.2
    done
    tail -n 20 "$DIR"/*.log >&2 || true
    echo "$what does not start" >&2
    exit 1
}

node_is_idle() { sinfo --noheader --format=%t | grep -qx 'idle'; }

start() {
    (($(id -u) == 0)) || cannot "a Slurm cluster needs root"
    provide
    configure
    export SLURM_CONF=$DIR/slurm.conf
    # the folder belongs to one user, which is all that munged would warn of
    munged --force --key-file="$DIR/munge.key" --socket="$DIR/munge.socket" --pid-file="$DIR/munged.pid" \
        --log-file="$DIR/munged.log" --seed-file="$DIR/munge.seed" >"$DIR/munged.out" 2>&1
    wait_for munged munge --no-input --socket="$DIR/munge.socket"
    slurmctld -i >"$DIR/slurmctld.out" 2>&1
    wait_for slurmctld scontrol ping
    slurmd >"$DIR/slurmd.out" 2>&1
    wait_for slurmd node_is_idle
}

# Ends a daemon by the number it wrote, and waits for it.
end() {
    local file=$DIR/$1.pid pid second
    [[ -s $file ]] || return 0
    pid=$(<"$file")
    kill "$pid" 2>/dev/null || return 0
    for ((second = 0; second < PATIENCE * 5; second++)); do
        kill -0 "$pid" 2>/dev/null || return 0
        sleep 0.2
    done
    kill -KILL "$pid" 2>/dev/null || true
}

stop() {
    local second daemon
    export SLURM_CONF=$DIR/slurm.conf
    if [[ -s $DIR/slurmctld.pid ]]; then
        # jobs end before their node
        squeue --noheader --format=%A 2>/dev/null | sort -u | xargs -r scancel 2>/dev/null || true
        for ((second = 0; second < 75; second++)); do
            [[ -n $(squeue --noheader 2>/dev/null) ]] || break
            sleep 0.2
        done
    fi
    for daemon in slurmd slurmctld munged; do end "$daemon"; done
}

case $1 in
start) start ;;
stop) stop ;;
*) usage ;;
esac
