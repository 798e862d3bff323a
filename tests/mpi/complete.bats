#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# A hundred runs of MPI programs, both processors busy with something else: no log calls itself not complete.
load helper
eval "helper_$(declare -f teardown)"

busy() {
  for _ in 1 2; do
    timeout 600 sh -c 'while :; do :; done' 3>&- 4>&- &
    BUSY+=($!)
  done
}

teardown() {
  kill "${BUSY[@]}" 2>/dev/null || true
  helper_teardown
}

@test "100 runs: every log is complete" {
  local round mpi program log runs=0
  busy
  for round in {1..10}; do
    for mpi in $MPIS; do
      for program in "$PROGS/$mpi/mpi_demo" "$IOSCRIBE_BUILD/tests/uprobes/$mpi/mpiio_calls $T/calls.$mpi" \
        "$PROGS/$mpi/mpi_cases comms $T/data" "$IOSCRIBE_BUILD/tests/uprobes/$mpi/mpiio_all $T/all.$mpi" \
        "$PROGS/$mpi/mpi_stdio $T/stdio"; do
        launcher "$mpi" 2
        rm -f "$T"/log*.darshan
        # shellcheck disable=SC2086
        (cd "$T" && timeout 100 "$IOSCRIBE" run --quiet --force --log "$T/log.darshan" -- "${launch[@]}" $program >/dev/null)
        for log in "$T"/log*.darshan; do
          ! "$IOSCRIBE" summary "$log" | grep -A3 'NOT complete' || { echo "$program: $log, round $round"; false; }
        done
        runs=$((runs + 1))
      done
    done
  done
  [ "$runs" -eq 100 ]
}
