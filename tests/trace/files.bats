#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Which file is which: inode numbers that mean nothing, and more files than records.
load helper

cleanup() {
  local m
  for m in over tmp btrfs; do
    if mountpoint -q "$T/$m"; then umount "$T/$m" || umount -l "$T/$m"; fi
  done
  if [ -n "${LOOP:-}" ]; then losetup -d "$LOOP"; fi
}

@test "btrfs: two subvolumes with equal inode numbers are two files" {
  modprobe btrfs 2>/dev/null || true
  truncate -s 200M "$T/img"
  mkfs.btrfs -q "$T/img"
  mkdir "$T/btrfs"
  mount -o loop "$T/img" "$T/btrfs"
  btrfs -q subvolume create "$T/btrfs/a"
  btrfs -q subvolume create "$T/btrfs/b"
  cat >"$T/io.sh" <<X
head -c 1000 /dev/zero > $T/btrfs/a/f
head -c 2000 /dev/zero > $T/btrfs/b/f
X
  trace sh "$T/io.sh"
  [ "$status" -eq 0 ]
  [ "$(stat -c %i "$T/btrfs/a/f")" = "$(stat -c %i "$T/btrfs/b/f")" ]
  one_log
  expect POSIX_BYTES_WRITTEN 1000 btrfs/a/f
  expect POSIX_BYTES_WRITTEN 2000 btrfs/b/f
  # The same by one process, descriptors open at once.
  trace bash -c "cd $T/btrfs; exec 5>>a/f 6>>b/f; printf abc >&5; printf defgh >&6; printf x >&5"
  one_log
  expect POSIX_BYTES_WRITTEN 4 btrfs/a/f
  expect POSIX_BYTES_WRITTEN 5 btrfs/b/f
}

@test "overlayfs: create, remove, create again under one name" {
  mkdir "$T/over" "$T/tmp"
  mount -t tmpfs tmpfs "$T/tmp"
  mkdir "$T/tmp/lower" "$T/tmp/upper" "$T/tmp/work"
  echo lower >"$T/tmp/lower/old"
  mount -t overlay overlay -o "lowerdir=$T/tmp/lower,upperdir=$T/tmp/upper,workdir=$T/tmp/work" "$T/over"
  trace bash -c "cd $T/over; for i in 1 2 3 4 5; do exec 5>f; printf 12345 >&5; exec 5>&-; rm f; done
    printf 123 > g; rm g; printf 1234567 > h; cat old; printf more >> old; cat old"
  [ "$status" -eq 0 ]
  one_log
  expect POSIX_BYTES_WRITTEN 25 over/f
  expect POSIX_EXT_CREATES 5 over/f
  expect POSIX_EXT_UNLINKS 5 over/f
  expect POSIX_BYTES_WRITTEN 3 over/g
  expect POSIX_BYTES_WRITTEN 7 over/h
  expect POSIX_BYTES_READ 16 over/old
  expect POSIX_BYTES_WRITTEN 4 over/old
}

@test "a million files (in the gate 100,000) with a limit of 10,000 records: totals exact, folded, not partial" {
  local files=1000000
  [ -z "${IOSCRIBE_GATE:-}" ] || files=100000
  mkdir "$T/tmp"
  mount -t tmpfs tmpfs "$T/tmp"
  printf 'records = 10000\n' >"$T/conf"
  trace_options=(--config "$T/conf")
  cd "$T/tmp"
  trace "$PROG/many_files" "$files"
  [ "$status" -eq 0 ]
  cd "$T/w"
  one_log
  local opens writes bytes unlinks
  read -r opens writes bytes unlinks <<<"$output"
  expect POSIX_OPENS "$opens"
  expect POSIX_WRITES "$writes"
  expect POSIX_BYTES_WRITTEN "$bytes"
  expect POSIX_EXT_UNLINKS "$unlinks"
  ! grep -q incomplete "$T/parsed" || return 1
  expect LEDGER_DROP_NO_SLOT 0
  [ "$(counter LEDGER_OVERFLOWED_FILES)" -gt $((files * 8 / 10)) ]
  [ "$(counter PROCESS_OVERFLOWED_FILES)" -gt $((files * 8 / 10)) ]
}

@test "folders read and closed: every operation seen is recorded" {
  mkdir -p tree/a/b
  echo x >tree/a/b/c
  trace sh -c 'find tree -type f; ls -lR tree; du -s tree'
  [ "$status" -eq 0 ]
  one_log
  [ "$(counter POSIX_EXT_GETDENTS)" -gt 0 ]
  [ "$(counter LEDGER_EVENTS)" -eq "$(counter LEDGER_RECORDED)" ]
}

@test "excluded folders make no record, /tmp does" {
  trace sh -c "cat /etc/passwd > /dev/null; head -c 5000 /dev/zero > /dev/shm/ioscribe-test.$$; rm /dev/shm/ioscribe-test.$$; echo x > y"
  [ "$status" -eq 0 ]
  one_log
  [ "$("$IOSCRIBE" parse --base "$LOG" | awk -F '\t' '$6 ~ /^\/(etc|dev|proc|sys|usr)\//' | wc -l)" -eq 0 ]
  expect POSIX_BYTES_WRITTEN 2 w/y
}
