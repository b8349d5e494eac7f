#!/bin/sh
# Submits a list of jobs to Slurm, every level after the one before it. Call it again after a failure: what is done is not done again.
#   sh submit.sh [WORDS FOR SBATCH]             such as --partition=short --time=2:00:00 --account=mine
#   CHUNK=20 sh submit.sh                       twenty jobs in a task of an array, for jobs that take seconds
#   sh submit.sh --wait                         comes back when all is done, with 0, or when a level failed
set -eu
cd "$(dirname "$0")"
mkdir -p logs
chunk=${CHUNK:-1}
most=$(scontrol show config | sed -n 's/^MaxArraySize *= *//p')
most=$((${most:-1001} - 1))
before=
# level NUMBER JOBS WORDS...
level() {
  script=level-$1.sbatch
  tasks=$((($2 + chunk - 1) / chunk))
  shift 2
  first=0
  submitted=
  while [ "$first" -lt "$tasks" ]; do
    count=$((tasks - first))
    [ "$count" -le "$most" ] || count=$most
    job=$(sbatch --parsable ${before:+--dependency=afterok$before --kill-on-invalid-dep=yes} --array="1-$count" "$@" "$script" "$first" "$chunk")
    submitted=$submitted:${job%%;*}
    first=$((first + count))
  done
  before=$submitted
  echo "$script: $tasks tasks, job$submitted"
}
