#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The runtime's own steps of MPI_Finalize by simulated ranks (tests/sim/finalize.c): what stands
# in the log, and what it costs in messages, opens and writes. Nothing is traced.

SIM=$IOSCRIBE_BUILD/tests/sim/sim_finalize

setup() {
  T=$(mktemp -d /tmp/ioscribe-sim.XXXXXX)
}

teardown() {
  rm -rf "$T"
}

# sim NAME OPTION...: the log's text, without its head, in $T/NAME.txt.
sim() {
  local name=$1
  shift
  rm -f "$T/log"
  "$SIM" "$@" --log "$T/log" >"$T/$name.csv" || { echo "$*"; return 1; }
  "$IOSCRIBE" parse "$T/log" >"$T/all.txt" || return 1
  grep -v '^#' "$T/all.txt" | sort >"$T/$name.txt"
}

# field NAME COLUMN
field() {
  paste -d ' ' <("$SIM" --head | tr ',' '\n') <(tr ',' '\n' <"$T/$1.csv") | awk -v c="$2" '$1 == c { print $2 }'
}

# merged NAME NODE OPTION...: as sim, by the parts of nodes of NODE ranks.
merged() {
  local name=$1 node=$2
  shift 2
  rm -rf "$T/job.parts" "$T"/*.darshan
  mkdir "$T/job.parts"
  "$SIM" "$@" --by nodes --ranks-node "$node" --log "$T/job.parts" || return 1
  "$IOSCRIBE" merge "$T/job.parts" >"$T/merged" || { cat "$T/merged"; return 1; }
  "$IOSCRIBE" parse "$T"/*.darshan >"$T/all.txt" || return 1
  grep -v '^#' "$T/all.txt" | sort >"$T/$name.txt"
}

# same SEED RANKS NAME: what the daemon makes of the same records.
same() {
  diff "$T/daemon.txt" "$T/$3.txt" >"$T/diff" || { echo "seed $1, $2 ranks, $3:"; head -5 "$T/diff"; return 1; }
}

@test "any ranks with any records: the same log by hash, and, tree, by the daemon, by parts of nodes, in both layouts" {
  local base=${SCRIBE_SEED:-$((RANDOM + 1))} seed ranks by lines
  echo "SCRIBE_SEED=$base"
  for seed in "$base" $((base + 1)) $((base + 2)); do
    lines=0
    for ranks in 1 2 3 6 13 32; do
      sim daemon --ranks "$ranks" --records 12 --shared some --seed "$seed" --by daemon
      lines=$((lines + $(wc -l <"$T/daemon.txt")))
      for by in hash and tree; do
        sim $by --ranks "$ranks" --records 12 --shared some --seed "$seed" --by $by
        same "$seed" "$ranks" $by
      done
      "$IOSCRIBE" convert --force --layout unified "$T/log" "$T/unified"
      "$IOSCRIBE" parse "$T/unified" | grep -v '^#' | sort >"$T/unified.txt"
      same "$seed" "$ranks" unified
      for by in 1 4 32; do
        merged nodes$by $by --ranks "$ranks" --records 12 --shared some --seed "$seed"
        same "$seed" "$ranks" nodes$by
      done
    done
    # one rank alone may draw no record
    [ "$lines" -gt 0 ]
  done
}

@test "1,024 ranks with 100 records that all have: one record each, one writer, few messages" {
  local by
  for by in hash and tree; do
    sim $by --ranks 1024 --records 100 --by $by
    [ "$(awk '$2 == -1 && $4 == "POSIX_OPENS" && $5 == 1024' "$T/$by.txt" | wc -l)" -eq 100 ]
    [ "$(awk '$2 != -1 && $1 == "POSIX"' "$T/$by.txt" | wc -l)" -eq 0 ]
    [ "$(field $by opens)" -eq 1 ]
    # a rank: some for each step of log2(ranks), whatever the number of records
    [ "$(field $by messages)" -lt $((1024 * 10 * 10)) ]
  done
  diff "$T/hash.txt" "$T/and.txt" && diff "$T/hash.txt" "$T/tree.txt"
}

@test "300 ranks with records of their own: one of 16 writes, each name stands once" {
  sim own --ranks 300 --records 5 --shared none --seed 7
  [ "$(awk '$4 == "POSIX_OPENS" && $5 == 1' "$T/own.txt" | wc -l)" -eq 1500 ]
  [ "$(awk '$4 == "POSIX_OPENS" { print $6 }' "$T/own.txt" | sort -u | wc -l)" -eq 1500 ]
  [ "$(field own opens)" -eq 19 ]
}

@test "a name that some ranks have is written by the first of them alone" {
  sim some --ranks 64 --records 200 --shared some --seed 3
  bytes=$(field some log_bytes)
  sim and --ranks 64 --records 200 --shared some --seed 3 --by and
  echo "by hash $bytes bytes, by and $(field and log_bytes)"
  [ "$bytes" -lt "$(field and log_bytes)" ]
}
