#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# A rank that is killed, or stopped for longer than the deadline, behind any of the calls by which the ranks make
# their log (tests/mpi/inject.c): the others end within the deadline, and one log appears that has everything.

traces=1
load helper
FILES=5 RANKS=3 DEADLINE_MS=2000 STOP_S=5

# injected MPI HOW RANK AT: the run's folder is $T/HOW.RANK.AT; false: the program failed.
injected() {
  local dir=$T/$2.$3.$4
  mkdir -p "$dir/data"
  launcher "$1" $RANKS
  INJECT_DIR=$dir INJECT_HOW=$2 INJECT_RANK=$3 INJECT_AT=$4 timeout 120 "$IOSCRIBE" run --log "$dir/log.darshan" \
    --set collective=yes --set finalize_timeout_ms=$DEADLINE_MS -- "${launch[@]}" \
    sh -c 'LD_PRELOAD="$LD_PRELOAD:$0" exec "$@"' "$PROGS/$1/inject.so" "$PROGS/$1/mpi_cost" "$dir/data" $FILES \
    </dev/null >"$dir/out" 2>"$dir/err" 3>&- 4>&-
}

# calls_of MPI RANK: how many of them that rank makes, in $calls.
calls_of() {
  injected "$1" none "$2" 0 || { cat "$T/none.$2.0/err"; return 1; }
  read -r calls _ <"$T/none.$2.0/took.$2"
  grep -q "reduced by the ranks" "$T/none.$2.0/err"
  [ "$calls" -ge 10 ] || { echo "rank $2 has $calls calls"; return 1; }
}

# points CALLS: four of them in the gate, first and last among them, else all.
points() {
  if [ -n "${IOSCRIBE_GATE:-}" ]; then
    for i in 0 3 6 9; do echo $((1 + i * ($1 - 1) / 9)); done
  else
    seq "$1"
  fi
}

# The ranks that it happens to: the first, and one that is not; in the gate one with each MPI.
ranks_of() {
  if [ -z "${IOSCRIBE_GATE:-}" ]; then echo 0 2; elif [ "$1" = mpich ]; then echo 2; else echo 0; fi
}

# whole DIR: one log of the ranks, complete, with what each did before it came to its end.
whole() {
  local log logs=() opens
  for log in "$1"/*.darshan; do
    if "$IOSCRIBE" parse --base "$log" | grep -qx "# nprocs: $RANKS"; then logs+=("$log"); fi
  done
  [ "${#logs[@]}" -eq 1 ] || { ls "$1"; echo "logs of the ranks: ${logs[*]}"; return 1; }
  log=${logs[0]}
  opens=$("$IOSCRIBE" parse "$log" 2>"$1/parse.err" |
    awk -v d="$1/data/" '$4 == "POSIX_OPENS" && index($6, d) == 1 { n += $5 } END { print n }')
  [ ! -s "$1/parse.err" ] || { cat "$1/parse.err"; return 1; }
  [ "$opens" = $((FILES * RANKS)) ] || { echo "$1: $opens opens"; return 1; }
  "$IOSCRIBE" summary "$log" | grep -q "ledger     complete"
  [ -z "$(find "$1" -name '*partial*')" ]
}

@test "a rank that is killed at any step: the job ends, its log has all" {
  for mpi in $MPIS; do
    for rank in $(ranks_of $mpi); do
      rm -rf "$T"/none.* "$T"/kill.*
      calls_of $mpi $rank
      for at in $(points "$calls"); do
        if injected $mpi kill $rank "$at"; then
          # in some runs a rank makes a call less
          read -r made _ <"$T/kill.$rank.$at/took.$rank"
          [ "$made" -lt "$at" ] || { echo "$mpi: rank $rank made $made calls, and was not killed at $at"; return 1; }
        fi
        whole "$T/kill.$rank.$at" || { echo "$mpi: rank $rank, killed at $at"; return 1; }
      done
    done
  done
}

# resumed: what was stopped goes on after STOP_S, until $T/all is there or the test has ended.
resumed() {
  local f
  while [ -d "$T" ] && [ ! -e "$T/all" ]; do
    for f in "$T"/stop.*/stopped; do
      if [ -s "$f" ]; then
        mv "$f" "$f.seen"
        (sleep $STOP_S; kill -CONT "$(cat "$f.seen")") &
      fi
    done
    sleep 0.05
  done
}

@test "a rank that is stopped for 5 s at any step: the others have left after the deadline of 2 s, the log has all" {
  local batch=() ms other pids
  for mpi in $MPIS; do
    for rank in $(ranks_of $mpi); do
      rm -rf "$T"/none.* "$T"/stop.* "$T/all"
      calls_of $mpi $rank
      resumed 3>&- 4>&- &
      local resumer=$!
      points "$calls" >"$T/points"
      while mapfile -t -n 5 batch && [ "${#batch[@]}" -gt 0 ]; do
        pids=()
        for at in "${batch[@]}"; do
          injected $mpi stop $rank "$at" &
          pids+=($!)
        done
        for pid in "${pids[@]}"; do wait "$pid" || { cat "$T"/stop.*/err; return 1; }; done
      done <"$T/points"
      touch "$T/all"
      wait $resumer
      for at in $(cat "$T/points"); do
        whole "$T/stop.$rank.$at" || { echo "$mpi: rank $rank, stopped at $at"; return 1; }
        if [ ! -e "$T/stop.$rank.$at/stopped.seen" ]; then
          read -r made _ <"$T/stop.$rank.$at/took.$rank"
          [ "$made" -lt "$at" ] || { echo "$mpi: rank $rank made $made calls, and was not stopped at $at"; return 1; }
        fi
        for other in 0 1 2; do
          read -r _ ms <"$T/stop.$rank.$at/took.$other"
          [ $other -eq $rank ] || [ "$ms" -lt $((DEADLINE_MS + 2500)) ] ||
            { echo "$mpi: rank $other waited $ms ms for rank $rank, stopped at $at"; return 1; }
        done
      done
    done
  done
}
