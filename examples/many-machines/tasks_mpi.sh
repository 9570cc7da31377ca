#!/usr/bin/env bash
# Does the tasks of a plan by MPI: each rank does its part of them.
#
#   stoker pack photos packed --plan packed.plan                        # says "40 tasks, 0 to 39"
#   mpirun -n 16 ./tasks_mpi.sh packed.plan 40 pack photos packed
#   stoker pack photos packed --plan packed.plan --merge
#
# `index shards` and `verify packed` take the place of `pack photos packed`.
set -euo pipefail

plan=$1
tasks=$2
shift 2
rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-${PMIX_RANK:-${SLURM_PROCID:-0}}}}
size=${OMPI_COMM_WORLD_SIZE:-${PMI_SIZE:-${SLURM_STEP_NUM_TASKS:-${SLURM_NTASKS:-1}}}}
first=$((tasks * rank / size))
last=$((tasks * (rank + 1) / size - 1))
if ((last < first)); then exit; fi  # more ranks than tasks

status=0
stoker "$@" --plan "$plan" --task "$first-$last" --threads 1 || status=$?
# `index` and `verify` have done a task in which they found something bad: what that was, the merge says. Any other status
# ends all ranks.
if ((status == 1)) && [[ $1 != pack ]]; then status=0; fi
exit "$status"
