#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Jobs begin and end again and again: programs are attached and detached each time, and nothing is left of them in the
# daemon or in the kernel. The probes of a library stay as they are, and go with the service.

load helper

# The library at hand is MPI: it is to be probed.
export IOSCRIBE_MPIIO_WRAP=no

# Is mapped by an untraced process, which tells the first byte of a function that is probed there.
witness() {
  /usr/bin/python3 -c '
import ctypes, sys
at = ctypes.cast(ctypes.CDLL("libmpich.so.12").MPI_File_open, ctypes.c_void_p).value
for line in sys.stdin:
    print(ctypes.string_at(at, 1).hex(), flush=True)'
}

first_byte() {
  echo >&"${WITNESS[1]}"
  read -r -t 60 byte <&"${WITNESS[0]}"
  echo "$byte"
}

# What the daemon holds: descriptors, and links to programs among them.
held() {
  ls "/proc/$DAEMON/fd" | wc -l
}

links() {
  grep -l '^link_id:' "/proc/$DAEMON"/fdinfo/* 2>/dev/null | wc -l
}

memory_kib() {
  awk '$1 == "VmRSS:" { print $2 }' "/proc/$DAEMON/status"
}

cycle() {
  job begin --job-id "$1" --uid 65534 --match-env "JOBX=$1"
  [ "$(first_byte)" = cc ]
  [ "$(links)" -gt "$LIBRARIES" ]
  job end "$1" >/dev/null
  until_true detached
}

detached() { [ "$(links)" = "$LIBRARIES" ]; }

is_probed() { [ "$(first_byte)" = cc ]; }

# The links of all libraries: none has come for a second.
all_there() {
  LIBRARIES=$(links)
  sleep 1
  detached
}

@test "1,000 times attached and detached (20 without SCRIBE_TEST_LONG): nothing is left" {
  local i cycles=20 before kib
  [ -z "${SCRIBE_TEST_LONG:-}" ] || cycles=1000
  coproc WITNESS { witness; }
  started+=("$WITNESS_PID")
  CODE=$(first_byte)
  [ -n "$CODE" ]
  [ "$CODE" != cc ]
  serve
  until_true is_probed
  until_true all_there
  for i in 1 2 3; do cycle "$i"; done
  before=$(held)
  kib=$(memory_kib)
  for i in $(seq 4 $((cycles + 3))); do cycle "$i"; done
  echo "descriptors $before, $(held); memory $kib, $(memory_kib) KiB"
  [ "$(held)" -le "$before" ]
  [ "$(memory_kib)" -lt $((kib + 2048)) ]
  kill -INT "$DAEMON"
  gone "$DAEMON"
  [ "$(first_byte)" = "$CODE" ]
}
