#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Calls that few programs make, on btrfs, which clones: tests/prog/rare_calls.c.
load helper

cleanup() {
  if mountpoint -q "$T/btrfs"; then umount "$T/btrfs" || umount -l "$T/btrfs"; fi
}

@test "clones, handles, empty paths, thousands of descriptors and requests at once" {
  modprobe btrfs 2>/dev/null || true
  truncate -s 200M "$T/img"
  mkfs.btrfs -q "$T/img"
  mkdir "$T/btrfs"
  mount -o loop "$T/img" "$T/btrfs"
  cd "$T/btrfs"
  trace "$PROG/rare_calls"
  [ "$status" -eq 0 ]
  one_log
  # a clone is data for its user: 16 blocks, and 2; what is compared is read on both sides
  expect POSIX_BYTES_WRITTEN 65536 btrfs/from
  expect POSIX_READS 3 btrfs/from
  expect POSIX_BYTES_READ $((18 * 4096 + 4096)) btrfs/from
  expect POSIX_WRITES 1 btrfs/whole
  expect POSIX_BYTES_WRITTEN 65536 btrfs/whole
  expect POSIX_READS 1 btrfs/whole
  expect POSIX_BYTES_READ 4096 btrfs/whole
  expect POSIX_WRITES 1 btrfs/part
  expect POSIX_BYTES_WRITTEN 8192 btrfs/part
  expect POSIX_MAX_BYTE_WRITTEN $((10 * 4096 - 1)) btrfs/part
  # fsync and syncfs; readahead
  expect POSIX_FSYNCS 2 btrfs/from
  expect POSIX_EXT_FADVISES 1 btrfs/from
  expect POSIX_EXT_CREATES 1 btrfs/made
  expect POSIX_EXT_XATTR_WRITES 1 btrfs/made
  expect POSIX_EXT_XATTR_READS 1 btrfs/made
  expect POSIX_EXT_ACCESSES 1 btrfs/empty
  expect POSIX_EXT_LINKS 1 btrfs/second
  expect POSIX_EXT_READLINKS 1 btrfs/link
  expect POSIX_OPENS 2 btrfs/handle
  expect POSIX_BYTES_WRITTEN 9 btrfs/handle
  expect POSIX_DUPS 5999 btrfs/many
  expect POSIX_EXT_CLOSES 6000 btrfs/many
  expect POSIX_BYTES_WRITTEN 0 btrfs/many
  expect POSIX_BYTES_WRITTEN 3 btrfs/few
  expect POSIX_WRITES 300 btrfs/requests
  expect POSIX_BYTES_WRITTEN $((300 * 4096)) btrfs/requests
  expect POSIX_EXT_AIO_OPS 300 btrfs/requests
}
