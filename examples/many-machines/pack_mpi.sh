#!/usr/bin/env bash
# Packs a data set by MPI: each rank does its part of the tasks.
#
#   stoker pack photos packed --plan packed.plan                        # says "40 tasks, 0 to 39"
#   mpirun -n 16 ./pack_mpi.sh photos packed packed.plan 40
#   stoker pack photos packed --plan packed.plan --merge
set -euo pipefail

rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-${PMIX_RANK:-${SLURM_PROCID:-0}}}}
size=${OMPI_COMM_WORLD_SIZE:-${PMI_SIZE:-${SLURM_STEP_NUM_TASKS:-${SLURM_NTASKS:-1}}}}
first=$(($4 * rank / size))
last=$(($4 * (rank + 1) / size - 1))
((last < first)) || stoker pack "$1" "$2" --plan "$3" --task "$first-$last" --threads 1
