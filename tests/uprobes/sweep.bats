#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# A job that does not end: what its dead processes leave in the kernel's tables is
# taken out.
load helper

# Entries of a table of the daemon that our run has started.
entries() {
  local daemon
  daemon=$(pgrep -P "$RUN" -x ioscribed) || return 1
  python3 - "$daemon" "$1" <<'EOF'
import ctypes, json, os, subprocess, sys
pid, name = sys.argv[1:]
for fd in os.listdir(f"/proc/{pid}/fdinfo"):
    try:
        info = dict(line.split(":", 1) for line in open(f"/proc/{pid}/fdinfo/{fd}") if ":" in line)
    except OSError:
        continue
    if "map_id" not in info:
        continue
    one = json.loads(subprocess.run(["bpftool", "map", "show", "-j", "id", info["map_id"].strip()],
                                    capture_output=True, text=True).stdout or "{}")
    if one.get("name", "").startswith(name[:15]):
        dump = subprocess.run(["bpftool", "map", "dump", "-j", "id", info["map_id"].strip()],
                              capture_output=True, text=True).stdout
        print(len(json.loads(dump)))
        break
EOF
}

# few_left TABLE
few_left() {
  local handles
  handles=$(entries "$1")
  [ -n "$handles" ] && [ "$handles" -lt 100 ]
}

# At most two and a half minutes, while our run is there.
wait_for_file() {
  local i
  for i in $(seq 3000); do
    [ -e "$1" ] || ! kill -0 "$RUN" && break
    sleep 0.05
  done
  [ -e "$1" ]
}

@test "12 processes leave 1,000 datasets open each: their handles go, nothing is lost" {
  local i
  library_copy libmpich.so.12 libhdf5_mpich.so.103
  LD_LIBRARY_PATH=$T/lib "$IOSCRIBE" run --quiet --force --log "$LOG" --set library_cache=no --set trace_libraries=hdf5 \
    -- "$LIBPROG/mpich/hdf5_leaves" f.h5 12 3>&- &
  RUN=$!
  wait_for_file done
  for i in $(seq 1200); do few_left scribe_handles && break; sleep 0.1; done
  few_left scribe_handles
  : >go
  wait "$RUN"
  one_log
  expect 'f.h5$' H5F_OPENS=12
  expect 'f.h5:/s' H5D_OPENS=12000 H5D_WRITES=12000 H5D_BYTES_WRITTEN=48000
  expect '' LEDGER_LIB_HANDLES_FULL=0 LEDGER_LIB_DROPPED=0 LEDGER_LIB_UNKNOWN=0
  [ "$("$IOSCRIBE" parse --base "$LOG" | grep -cP '\tH5D_ACCESS[1-4]_(STRIDE|LENGTH)_D5\t-1\t')" -eq 0 ]
}

@test "a process leaves 200 files of MPI-IO open that it counts itself: they go from both tables" {
  local i
  library_copy libmpich.so.12
  LD_LIBRARY_PATH=$T/lib "$IOSCRIBE" run --quiet --force --log "$LOG" --set library_cache=no --set trace_libraries=mpiio \
    -- "$LIBPROG/mpich/mpiio_leaves" f 200 3>&- &
  RUN=$!
  wait_for_file opened
  [ "$(entries scribe_above)" -eq 200 ]
  [ "$(entries scribe_handles)" -ge 200 ]
  : >end
  wait_for_file done
  for i in $(seq 1200); do few_left scribe_above && few_left scribe_handles && break; sleep 0.1; done
  few_left scribe_above
  few_left scribe_handles
  : >go
  wait "$RUN"
  # the process is a world of its own, with a log of its own
  [ "$(for LOG in "$T"/run*.darshan; do counter MPIIO_INDEP_WRITES '/f$'; done | sort -n | xargs)" = "0 200" ]
}

@test "33,128 shapes of accesses: the table is emptied, those that are kept have their lengths and strides" {
  local i k
  library_copy libhdf5_serial.so.103
  LD_LIBRARY_PATH=$T/lib "$IOSCRIBE" run --quiet --force --log "$LOG" --set library_cache=no --set trace_libraries=hdf5 \
    -- "$LIBPROG/hdf5_shapes_serial" f.h5 3>&- &
  RUN=$!
  wait_for_file done
  for i in $(seq 1200); do few_left scribe_access_patterns && break; sleep 0.1; done
  few_left scribe_access_patterns
  : >go
  wait "$RUN"
  one_log
  expect 'f.h5:/x$' H5D_WRITES=$((182 * 182 + 2 * 56)) H5D_BYTES_WRITTEN=$((4 * (182 * 182 + 2 * 56)))
  for k in 0 1 2 3; do
    expect 'f.h5:/x$' H5D_ACCESS$((k + 1))_ACCESS=4 H5D_ACCESS$((k + 1))_COUNT=$((2 * (20 - 4 * k))) \
      H5D_ACCESS$((k + 1))_LENGTH_D5=2 H5D_ACCESS$((k + 1))_LENGTH_D4=2 \
      H5D_ACCESS$((k + 1))_STRIDE_D5=$((200 + k)) H5D_ACCESS$((k + 1))_STRIDE_D4=$((200 + 10 * k))
  done
  expect '' LEDGER_LIB_DROPPED=0 LEDGER_LIB_UNKNOWN=0
}
