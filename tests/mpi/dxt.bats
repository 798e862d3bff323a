#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Segments of ranks: each under its rank's number, whoever made the log.
traces=1
BOTH='segments of all ranks'
load helper

# rank write|read offset length, of the file all ranks share
shared_segments() {
  "$IOSCRIBE" dxt "$T/log.darshan" | awk '
    /^# DXT, file_id/ { on = $0 ~ /\/shared$/ }
    on && $1 == "X_POSIX" { print $2, $3, $5, $6 }'
}

# As the program has them: 16 blocks of 64 KiB a rank, of four.
wanted() {
  /usr/bin/python3 -c '
for rank in range(4):
    for i in range(16): print(rank, "write", (i * 4 + rank) * 65536, 65536)
    for i in range(16): print(rank, "read", (i * 4 + (rank + 1) % 4) * 65536, 65536)'
}

@test "the ranks' log and the daemon's have the segments of all ranks, in order" {
  for mpi in $MPIS; do
    for way in "" --no-runtime; do
      run_options=(--dxt $way)
      traced "$mpi" 4 mpi_demo
      [ "$status" -eq 0 ]
      diff <(wanted) <(shared_segments)
      # the counters of the shared record are theirs together
      grep -qP '^POSIX\t-1\t\d+\tPOSIX_WRITES\t64\t.*/shared\t' "$T/log.txt"
    done
  done
}

@test "heatmaps of all ranks have the same bins, and sums that are the byte counters" {
  for mpi in $MPIS; do
    for way in "" --no-runtime "--set mpiio_wrap=no"; do
      # shellcheck disable=SC2206
      run_options=($way)
      traced "$mpi" 4 mpi_demo
      [ "$status" -eq 0 ]
      echo "$mpi $way"
      /usr/bin/python3 "$IOSCRIBE_SOURCE/tests/harness/heat_sums.py" "$IOSCRIBE" "$T/log.darshan" | grep -w posix
      [ "$(grep -c 'HEATMAP_F_BIN_WIDTH_SECONDS.*heatmap:POSIX' "$T/log.txt")" -eq 4 ]
    done
  done
}
