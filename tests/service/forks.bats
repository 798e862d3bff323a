#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# 50 processes a second that fork and execute: totals and the process table are
# exact, no event is lost. A minute of it with SCRIBE_TEST_LONG, else a few
# seconds at the same rate. And where the daemon's memory is charged.
load helper

ledger() {
  awk -F '\t' -v name="LEDGER_$1" '$4 == name { sum += $5 } END { printf "%.0f\n", sum }' "$T/base"
}

@test "50 processes a second fork and execute: each is in the table with its code, every byte is counted" {
  local seconds=4 want have
  [ -z "${SCRIBE_TEST_LONG:-}" ] || seconds=60
  serve
  job begin --job-id 50 --uid 65534 --match-env JOBX=50 max_listed_processes=10000
  begun=$(date +%s)
  want=$(user env JOBX=50 IOSCRIBE_ENABLE=1 "$IOSCRIBE_BUILD/tests/prog/fork_rate" $((50 * seconds)) 50)
  took=$(($(date +%s) - begun))
  "$IOSCRIBE" parse --base "$(job end 50)" >"$T/base"
  # processes writes bytes codes: without the one that makes them all
  have=$(awk -F '\t' -v at="$T/w/f" '
    $4 == "PROCESS_SERIAL" { n++ }
    $4 == "PROCESS_WAIT_STATUS" { codes += $5 / 256 }
    $4 == "PROCESS_END_KIND" && $5 != 1 { print "end kind", $5 }
    $4 == "POSIX_WRITES" && index($6, at) == 1 { writes += $5 }
    $4 == "POSIX_BYTES_WRITTEN" && index($6, at) == 1 { bytes += $5 }
    END { print n - 1, writes, bytes, codes }' "$T/base")
  echo "in $took s: $have"
  [ "$have" = "$want" ]
  for name in EVENT_LOST ENV_LOST NAME_LOST DROP_NO_PROC DROP_NO_SLOT DROP_STORAGE OVERFLOWED; do
    [ "$(ledger $name)" = 0 ] || { echo "$name: $(ledger $name)"; return 1; }
  done
  [ "$(ledger EVENTS)" = "$(ledger RECORDED)" ]
}

# The memory cgroup below which tests may make their own, and the names of its files.
memory_cgroup() {
  local v2
  v2=$(findmnt -t cgroup2 -n -o TARGET | head -n 1)
  if [ -n "$v2" ] && grep -qw memory "$v2/cgroup.controllers"; then
    echo +memory >"$v2/cgroup.subtree_control" 2>/dev/null || true
    G=$v2/ioscribe-test-$$ NOW=memory.current
  else
    G=$(findmnt -t cgroup -O memory -n -o TARGET | head -n 1)/ioscribe-test-$$ NOW=memory.usage_in_bytes
  fi
  mkdir "$G"
}

@test "begun from inside a job's memory cgroup, the daemon's memory is not the job's" {
  memory_cgroup
  sed -i 's/^records.*/records = 100000/' "$IOSCRIBE_CONFIG"
  # as a prolog that runs there; it stays in it while we look
  (echo "$BASHPID" >"$G/cgroup.procs" && "$IOSCRIBE" job begin --timeout 60 --job-id 9 --uid 65534 --match-env JOBX=9 &&
    cat "$G/$NOW" >"$T/now")
  grep -vx "$(cat "$IOSCRIBE_DIR/pid")" "$G/cgroup.procs" >"$T/others" || true
  [ "$(wc -l <"$T/others")" -eq "$(wc -l <"$G/cgroup.procs")" ] # the daemon is none of them
  until_true rmdir "$G"
  job end 9 >/dev/null
  echo "charged to the job: $(cat "$T/now")"
  [ "$(cat "$T/now")" -lt 50000000 ] # the maps alone are three times that
}
