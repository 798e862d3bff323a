#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# `ioscribe run --report`: a page beside each log, the user's as the log is.
load helper

@test "a page beside the log, named at the end, the user's under sudo; the command's exit code stays" {
  chmod 755 "$T"
  chown 65534 "$T/w"
  SUDO_UID=65534 SUDO_GID=65534 SUDO_USER=nobody trace_loud sh -c 'dd if=/dev/zero of=f bs=1M count=4 status=none; exit 7'
  [ "$status" -eq 7 ]
  [ "${lines[-1]}" = "ioscribe: page $T/w/job.html" ]
  [ "$(stat -c %u "$T/w/job.html")" -eq 65534 ]
  python3 "$IOSCRIBE_SOURCE/tests/cli/report_values.py" "$IOSCRIBE" "$T/w/job.darshan" "$T/w/job.html"
  # from the run to the worst file, and to what to change
  "$IOSCRIBE" summary "$T/w/job.darshan" | grep -E "^slowest    .*: $T/w/f$"
}

@test "where no page can be made, a line says so, and the run is as without" {
  mkdir "$T/w/job.html"
  trace_loud sh -c 'echo out; exit 3'
  [ "$status" -eq 3 ]
  [[ $output == *"ioscribe report: $T/w/job.html: "* ]]
  [[ $output != *"ioscribe: page"* ]]
  [ -f "$T/w/job.darshan" ]
}

trace_loud() {
  status=0
  output=$("$IOSCRIBE" run --force --report --log "$T/w/job.darshan" -- "$@" 2>&1) || status=$?
  mapfile -t lines <<<"$output"
  echo "$output"
}
