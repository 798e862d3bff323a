#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The look at what is left behind can fail, and opens no map.

setup() {
  T=$(mktemp -d /tmp/ioscribe-test.XXXXXX)
  LEAK=$IOSCRIBE_SOURCE/scripts/leak-check
  export LEAK_CHECK_SECONDS=1
}

teardown() {
  rm -f /sys/fs/bpf/ioscribe-test-map
  if mountpoint -q "$T/m"; then umount "$T/m"; fi
  rm -rf "$T"
}

@test "a pin is found" {
  bpftool map create /sys/fs/bpf/ioscribe-test-map type hash key 4 value 4 entries 1 name scribe_left
  IOSCRIBE_BUILD="" run "$LEAK"
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"pin /sys/fs/bpf/ioscribe-test-map"* ]]
}

@test "programs and links are found, but those of another build; no map is opened" {
  mkfifo "$T/go"
  exec 8<>"$T/go"
  "$IOSCRIBE" run --quiet --log "$T/run.darshan" -- sh -c 'echo >"$0"; read -r _' "$T/up" <&8 >/dev/null 2>&1 3>&- &
  local pid=$!
  for _ in $(seq 1200); do [ ! -s "$T/up" ] || break; sleep 0.05; done
  IOSCRIBE_BUILD="" run strace -f -e trace=bpf -o "$T/calls" "$LEAK"
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"prog "*" scribe_"* ]]
  [[ $output == *"link "*" of scribe_"* ]]
  grep -q BPF_PROG_GET_FD_BY_ID "$T/calls"
  run grep -c BPF_MAP_GET_FD_BY_ID "$T/calls"
  [ "$output" -eq 0 ]
  IOSCRIBE_BUILD=$T/none run "$LEAK"
  echo "$output"
  [[ $output != *scribe_* ]]
  echo >&8
  exec 8>&-
  wait "$pid"
}

@test "a mount is found" {
  "$LEAK" save "$T/before"
  mkdir "$T/m"
  mount -t tmpfs tmpfs "$T/m"
  run "$LEAK" quick "$T/before"
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"mount $T/m tmpfs"* ]]
}

@test "a process is found" {
  mkdir -p "$T/build/util"
  cp /bin/sleep "$T/build/util/ioscribe"
  "$T/build/util/ioscribe" 60 3>&- &
  local pid=$!
  IOSCRIBE_BUILD=$T/build run "$LEAK"
  kill "$pid"
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"process $pid ioscribe"* ]]
}

@test "what the kernel says after the state was saved is found; in a look that is quick it is not" {
  # what a test can write there is of user space's facility
  export LEAK_CHECK_FACILITY=1
  echo "WARNING: said by a test of scripts/leak-check before" >/dev/kmsg
  "$LEAK" save "$T/before"
  echo "WARNING: said by a test of scripts/leak-check after" >/dev/kmsg
  run "$LEAK" "$T/before"
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"in the kernel log: WARNING: said by a test of scripts/leak-check after"* ]]
  [[ $output != *"leak-check before"* ]]
  "$LEAK" quick "$T/before"
  LEAK_CHECK_FACILITY=0 "$LEAK" "$T/before"
}
