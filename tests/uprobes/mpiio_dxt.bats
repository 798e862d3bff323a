#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Operations of MPI-IO one by one (DXT_MPIIO), counted inside the program and by probes, against what
# the program says that it did (tests/prog/mpiio_traced.c).
load helper

setup_file() {
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
}

# "operation offset length" of a rank's segments of file f, in the order of the log.
segments() {
  "$IOSCRIBE" dxt --show-incomplete "$LOG" | awk -v rank="$1" -v module="${2:-X_MPIIO}" '
    /^# DXT, file_id/ { on = $0 ~ /\/f$/ }
    on && $1 == module && $2 == rank { print $3, $5, $6 }'
}

# did RANK [WHOSE...]: what the program says, writes first; offsets are known of those kinds, default all.
did() {
  local rank=$1 op
  shift
  for op in write read; do
    awk -v op="$op" -v kinds=" $* " '$1 == op { print $1, kinds == "  " || index(kinds, " " $4 " ") ? $2 : -1, $3 }' \
      "$T/w/f.$rank.log"
  done
}

# traced MPI: two ranks, exactly as they say, with offsets of these kinds.
traced() {
  local mpi=$1 rank
  shift
  if [ "$mpi" = mpich ]; then
    library_copy libmpich.so.12
    trace mpiio mpiexec.mpich -n 2 "$LIBPROG/mpich/mpiio_traced" "$T/w/f"
  else
    library_copy libmpi.so.40
    trace mpiio mpirun.openmpi --oversubscribe -n 2 "$LIBPROG/openmpi/mpiio_traced" "$T/w/f"
  fi
  [ "$status" -eq 0 ]
  one_log
  for rank in 0 1; do
    [ "$(did $rank | wc -l)" -ge 18 ]
    diff <(did $rank "$@") <(segments $rank)
  done
  expect '' LEDGER_SEGMENTS_NO_LEAF=0 LEDGER_SEGMENTS_NO_ROOM=0
}


@test "MPICH, counted inside: offsets by argument, by pointer, in every view" {
  trace_options=(--dxt)
  traced mpich
}

@test "Open MPI, counted inside: the same, where Darshan has none" {
  trace_options=(--dxt)
  traced openmpi
}

@test "MPICH by probes: offsets that are arguments of nonblocking calls; others share their cheap place" {
  trace_options=(--dxt --no-runtime)
  traced mpich posted
}

@test "Open MPI by probes: offsets that are arguments, where there is no view" {
  trace_options=(--dxt --no-runtime)
  traced openmpi at posted
}

@test "times are the operation's: the system call beneath lies within" {
  trace_options=(--dxt)
  library_copy libmpich.so.12
  trace mpiio "$LIBPROG/mpich/mpiio_traced" "$T/w/f"
  one_log
  "$IOSCRIBE" dxt --csv "$LOG" >"$T/csv"
  /usr/bin/python3 - "$T/csv" <<'X'
import csv, sys
rows = [r for r in csv.DictReader(open(sys.argv[1])) if r["name"].endswith("/f") and int(r["offset"]) >= 0]
key = lambda r: (r["operation"], r["offset"], r["length"])
beneath = {key(r): r for r in rows if r["module"] == "DXT_POSIX"}
both = [(r, beneath[key(r)]) for r in rows if r["module"] == "DXT_MPIIO" and key(r) in beneath]
assert len(both) >= 8, len(both)
for above, call in both:
    if key(above)[1:] in [("50000", "20"), ("40", "16")]:
        continue  # nonblocking ones have ended when they are posted
    moment = 1e-6  # both clocks are the processor's, read in two ways
    times = [float(above["start"]) - moment, float(call["start"]), float(call["end"]), float(above["end"]) + moment]
    assert times == sorted(times), (above, call)
X
}

@test "a rank that is killed has its operations up to the last" {
  trace_options=(--dxt)
  library_copy libmpich.so.12
  trace mpiio "$LIBPROG/mpich/mpiio_traced" "$T/w/f" kill
  [ "$status" -eq 137 ]
  one_log
  [ "$(did 0 | wc -l)" -ge 18 ]
  diff <(did 0) <(segments 0)
}

@test "a daemon that does not come in time: what found no room is counted, and the module is incomplete" {
  local n
  trace_options=(--dxt)
  library_copy libmpich.so.12
  trace mpiio sh -c '"$0" "$1" many 20000 "$(pgrep -P $PPID -x ioscribed)"' "$LIBPROG/mpich/mpiio_traced" "$T/w/f"
  [ "$status" -eq 0 ]
  n=$(segments 0 | wc -l)
  [ "$n" -ge 8192 ]
  [ "$n" -lt 20000 ]
  expect '/f$' MPIIO_INDEP_WRITES=20001
  expect '' LEDGER_SEGMENTS_NO_LEAF=$((20001 - n))
  diff <(did 0 | head -n "$n") <(segments 0)
  run "$IOSCRIBE" dxt "$LOG"
  [ "$status" -eq 1 ]
  [[ $output == *"the DXT_MPIIO module's data are incomplete"* ]]
  [[ $output != *"the DXT_POSIX module's data are incomplete"* ]]
}

@test "a program that writes nonsense into the rings harms its own numbers alone" {
  trace_options=(--dxt)
  library_copy libmpich.so.12
  trace mpiio "$LIBPROG/mpich/mpiio_traced" "$T/w/f" scribble
  [ "$status" -eq 0 ]
  "$IOSCRIBE" parse --show-incomplete "$LOG" >"$T/parsed"
  diff <(awk '$1 == "write" && $2 >= 0 && $4 == "at" { print $1, $2, $3 }' "$T/w/f.0.log") \
    <(segments 0 X_POSIX | grep -xFf <(awk '$4 == "at" { print $1, $2, $3 }' "$T/w/f.0.log") | grep write)
  # whatever it says: no place before the file, no length below 0, no time outside of the job
  "$IOSCRIBE" dxt --show-incomplete --csv "$LOG" | /usr/bin/python3 -c '
import csv, sys
for r in csv.DictReader(sys.stdin):
    assert int(r["offset"]) >= -1 and int(r["length"]) >= 0 and 0 <= float(r["start"]) <= float(r["end"]) < 600, r'
}

@test "Darshan's switches: one of the two, each alone, both" {
  local way posix mpiio
  library_copy libmpich.so.12
  while read -r posix mpiio way; do
    # shellcheck disable=SC2206
    trace_options=($way)
    rm -f f f.*
    trace mpiio "$LIBPROG/mpich/mpiio_traced" "$T/w/f"
    one_log
    echo "$way"
    [ "$(segments 0 X_POSIX | head -1 | wc -l)" -eq "$posix" ]
    [ "$(segments 0 X_MPIIO | head -1 | wc -l)" -eq "$mpiio" ]
  done <<'X'
0 1 --set MOD_ENABLE=DXT_MPIIO
1 0 --set MOD_ENABLE=DXT_POSIX
1 1 --set MOD_ENABLE=DXT_MPIIO,DXT_POSIX
1 0 --dxt --set MOD_DISABLE=DXT_MPIIO
0 1 --dxt --set MOD_DISABLE=DXT_POSIX
0 0 --dxt --set MOD_DISABLE=DXT_POSIX,DXT_MPIIO
X
}

@test "in a time namespace: times of MPI-IO and its segments lie within the run" {
  trace_options=(--dxt)
  library_copy libmpich.so.12
  trace mpiio unshare --fork --time --monotonic 50000 mpiexec.mpich -n 2 "$LIBPROG/mpich/mpiio_traced" "$T/w/f"
  [ "$status" -eq 0 ]
  one_log
  {
    "$IOSCRIBE" parse "$LOG" | awk -F '\t' '/^# run time:/ { sub(/.*: */, ""); print "run", $0 }
      $4 ~ /^MPIIO_F_.*_TIMESTAMP$/ && $6 ~ /\/f$/ { print "counter", $5 }'
    "$IOSCRIBE" dxt --show-incomplete "$LOG" | awk '$1 == "X_MPIIO" { print "segment", $7; print "segment", $8 }'
  } >"$T/times"
  awk '{ n[$1]++ } $1 == "run" { run = $2 } $1 != "run" && ($2 < 0 || $2 > run) { print "run of " run " s: " $0; bad = 1 }
    END { exit bad || run > 60 || n["counter"] < 8 || n["segment"] < 72 }' "$T/times"
}
