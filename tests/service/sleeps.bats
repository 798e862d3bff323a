#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# A daemon with a job in which nothing happens sleeps, and is there at once when something does.
load helper

# How often the daemon has waited, and gone on.
turns() { awk '$1 == "voluntary_ctxt_switches:" { print $2 }' "/proc/$DAEMON/status"; }

# It wakes once a second, and that of its own accord.
is_asleep() {
  local before
  before=$(turns)
  sleep 2
  [ $(($(turns) - before)) -le 4 ]
}

@test "a quiet job costs a turn a second; what its processes do is known at once" {
  serve
  job begin --job-id 1 --uid 65534 --match-env JOBX=1
  mkfifo -m 666 "$T/go"
  mkdir -m 777 "$T/real"
  ln -s real "$T/way"
  user env JOBX=1 IOSCRIBE_ENABLE=1 bash -c '
    read -r _ <"$1/go"
    for n in $(seq 1 200); do
      echo "$n" >"$1/way/f.$n"
    done
    mv "$1/real" "$1/moved"
    read -r _ <"$1/go"' - "$T" 3>&- &
  its=$!
  echo "$its" >>"$T/pids"
  chmod 777 "$T"
  until_true is_asleep
  before=$(turns)
  sleep 10
  woken=$(($(turns) - before))
  echo "woken $woken times in 10 s"
  [ "$woken" -le 14 ]
  # the first name wakes it: the links of each are followed while they are there
  echo go >"$T/go"
  is_moved() { [ -d "$T/moved" ]; }
  until_true is_moved
  until_true is_asleep
  # who comes is served at once
  from=$(date +%s%N)
  for n in 1 2 3 4 5; do job list >/dev/null; done
  ms=$((($(date +%s%N) - from) / 1000000))
  echo "5 answers in $ms ms"
  echo go >"$T/go"
  wait "$its"
  log=$(job end 1 | grep darshan)
  [ "$(value "$log" POSIX_WRITES '/real/f[.][0-9]+$')" -ge 150 ]
  [ "$(value "$log" POSIX_WRITES '/(real|way)/f[.][0-9]+$')" = 200 ]
  [ "$ms" -lt 3000 ]
}
