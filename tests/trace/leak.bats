#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The look at what is left behind can fail.

setup() {
  T=$(mktemp -d /tmp/ioscribe-test.XXXXXX)
  LEAK=$IOSCRIBE_SOURCE/scripts/leak-check
}

teardown() {
  rm -f /sys/fs/bpf/ioscribe-test-map
  if mountpoint -q "$T/m"; then umount "$T/m"; fi
  rm -rf "$T"
}

@test "a map that is pinned, and its pin, are found" {
  bpftool map create /sys/fs/bpf/ioscribe-test-map type hash key 4 value 4 entries 1 name scribe_left
  IOSCRIBE_BUILD="" run "$LEAK"
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"map "*"scribe_left"* ]]
  [[ $output == *"pin /sys/fs/bpf/ioscribe-test-map"* ]]
}

@test "a mount is found" {
  "$LEAK" save "$T/before"
  mkdir "$T/m"
  mount -t tmpfs tmpfs "$T/m"
  run "$LEAK" "$T/before"
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"mount $T/m tmpfs"* ]]
  run "$LEAK" quick "$T/before"
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
