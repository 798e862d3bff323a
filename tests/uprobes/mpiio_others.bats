#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Another tool probes the very instructions of the MPI library that ours stand at, for one process
# or for its own copy of the library (perf): it sees what it sees of the untraced program, and our counters are exact.
load helper

# Where ours stand: what a traced run meets.
places() {
  library_copy libmpich.so.12
  LIBRARY=$T/lib/libmpich.so.12
  trace mpiio "$LIBPROG/mpich/mpiio_probed" places "$T/w/f" "$LIBRARY"
  [ "$status" -eq 0 ]
  echo "$output" | awk '$1 == "place" { print $2 }' >"$T/places"
  [ "$(wc -l <"$T/places")" -ge 28 ]
}

# writes OUTPUT: what the log must hold of it.
exact() {
  local n
  n=$(awk '$1 == "writes" { print $2 }' <<<"$1")
  [ "$n" -ge 300 ]
  one_log
  expect '/f$' MPIIO_INDEP_WRITES="$n" MPIIO_BYTES_WRITTEN=$((8 * n)) MPIIO_ACCESS1_COUNT="$n" MPIIO_INDEP_OPENS=1
  expect '' LEDGER_LIB_DROPPED=0 LEDGER_LIB_UNKNOWN=0 LEDGER_LIB_SIZE_UNKNOWN=0
  [ "$("$IOSCRIBE" parse "$LOG" | grep -c '^# .*MPI-IO.*incomplete' || true)" -eq 0 ]
}

# same UNTRACED TRACED: places that each of the 300 writes passes once are met as often in both.
same() {
  awk '$1 == "hits" && $3 == 300' "$1" | sort >"$T/untraced"
  awk '$1 == "hits"' "$2" | sort >"$T/traced"
  [ -s "$T/untraced" ]
  comm -23 "$T/untraced" "$T/traced" >"$T/missed"
  [ ! -s "$T/missed" ] || { echo "the other tool missed calls:"; cat "$T/missed"; awk '$3' "$T/traced"; return 1; }
}

@test "the other tool was there first" {
  places
  hits="$IOSCRIBE_BUILD/tests/prog/uprobe_hits"
  LD_LIBRARY_PATH=$T/lib "$hits" "$LIBRARY" "$T/places" "$T/hits" "$LIBPROG/mpich/mpiio_probed" first "$T/w/f" "$LIBRARY"
  mv "$T/hits" "$T/hits.untraced"
  IOSCRIBE=("$hits" "$LIBRARY" "$T/places" "$T/hits" "$IOSCRIBE")
  status=0
  output=$(LD_LIBRARY_PATH=$T/lib "${IOSCRIBE[@]}" run --quiet --force --log "$LOG" --set library_cache=no \
    --set trace_libraries=mpiio --set "library_attach=${SCRIBE_TEST_LIBRARY_ATTACH:-auto}" -- \
    "$LIBPROG/mpich/mpiio_probed" first "$T/w/f" "$LIBRARY" 2>&1) || status=$?
  echo "$output"
  [ "$status" -eq 0 ]
  IOSCRIBE=${IOSCRIBE[4]}
  same "$T/hits.untraced" "$T/hits"
  exact "$output"
}

# later WHEN: it comes while the program runs.
later() {
  places
  LD_LIBRARY_PATH=$T/lib "$LIBPROG/mpich/mpiio_probed" "$1" "$T/w/f" "$LIBRARY" "$T/places" >"$T/hits.untraced"
  trace mpiio "$LIBPROG/mpich/mpiio_probed" "$1" "$T/w/f" "$LIBRARY" "$T/places"
  [ "$status" -eq 0 ]
  echo "$output" >"$T/hits"
  same "$T/hits.untraced" "$T/hits"
  exact "$output"
}

@test "it comes when our probes are gone from the program" {
  later after
}

@test "it comes before the first call that is counted (seen from Linux 6.12 on)" {
  places
  if bpftool btf dump file /sys/kernel/btf/vmlinux format c 2>/dev/null | grep -q 'list_head cons_node;'; then
    later between
  else
    trace mpiio "$LIBPROG/mpich/mpiio_probed" between "$T/w/f" "$LIBRARY" "$T/places"
    [ "$status" -eq 0 ]
    exact "$output"
  fi
}
