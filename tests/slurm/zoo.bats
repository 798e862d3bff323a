#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The zoo below srun, by MPICH's PMI 2 where the program is an MPI program: each
# step is a job of one daemon and has a rank on each of the two virtual nodes. The
# table stands in tests/zoo/zoo.py.

load helper

setup_file() {
  export IOSCRIBE_MPIIO_WRAP=no # programs are without the runtime
  prepare
  "$SRC/tests/slurm/cluster.py" start "$T/slurm"
}

teardown_file() {
  end_slurm
}

running() {
  [ "$(squeue -h -j "$1" -o %T)" = RUNNING ]
}

@test "18 endings below srun in C, static C, Python and Go leave one log each, and the same status and output" {
  local job
  job=$(cd "$T" && sbatch --parsable -N2 --ntasks-per-node=2 --mem=0 -o "$T/allocation" --wrap "sleep 3600")
  wait_for "the allocation" running "$job"
  /usr/bin/python3 "$SRC/tests/zoo/zoo.py" "$IOSCRIBE_BUILD" --srun "$job" --workers "${ZOO_WORKERS:-6}"
}
