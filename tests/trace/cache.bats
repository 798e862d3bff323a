# SPDX-License-Identifier: BSD-3-Clause
# What the page cache served: compared with mincore, getrusage and the block device.

load helper

setup_file() {
  [ "$(id -u)" -eq 0 ]
}

PAGES=4096
SIZE=$((PAGES * 4096))

# A file system in $T/fs, or in DIR; cleanup unmounts it.
fs() { # TYPE [DIR]
  local at=${2:-$T/fs}
  mkdir -p "$at"
  case $1 in
  ext4 | xfs)
    truncate -s 512M "$T/img"
    "mkfs.$1" -q "$T/img"
    mount -o loop "$T/img" "$at"
    ;;
  tmpfs) mount -t tmpfs tmpfs "$at" ;;
  overlay)
    fs ext4 "$T/below"
    mkdir "$T/lower" "$T/below/upper" "$T/below/work"
    mount -t overlay overlay -o "lowerdir=$T/lower,upperdir=$T/below/upper,workdir=$T/below/work" "$at"
    ;;
  fuse)
    fs ext4 "$T/below"
    bindfs -o kernel_cache "$T/below" "$at"
    ;;
  esac
}

cleanup() {
  umount "$T/fs" 2>/dev/null || true
  umount "$T/below" 2>/dev/null || true
}

# Runs it traced; sets RESIDENT and FAULTS to what it printed.
way() { # WAY
  trace "$PROG/cache" "$1" "$T/fs/data" "$PAGES"
  [ "$status" -eq 0 ]
  one_log
  RESIDENT=$(sed -n 's/^resident //p' <<<"$output")
  FAULTS=$(sed -n 's/^faults //p' <<<"$output")
}

# Bytes that the loop device of $T/fs has read: with the file system's own blocks.
device_read() {
  local device sectors
  device=$(findmnt -no SOURCE "$T/fs")
  read -r _ _ sectors _ <"/sys/block/${device#/dev/}/stat"
  echo $((512 * sectors))
}

near() { # VALUE EXPECTED DIFFERENCE
  [ "$1" -ge $(($2 - $3)) ] && [ "$1" -le $(($2 + $3)) ] || { echo "$1, expected $2 within $3"; return 1; }
}

check() { # what all file systems with a page cache have
  way write
  near "$(counter CACHE_BYTES_DIRTIED data)" "$SIZE" 4096
  expect CACHE_BYTES_FETCHED 0 data
  way cold
  [ "$RESIDENT" -eq "$SIZE" ]
  near "$(counter CACHE_BYTES_FETCHED data)" "$SIZE" 4096
  [ "$(counter CACHE_READS_FETCHED data)" -gt 0 ]
  expect CACHE_BYTES_DIRTIED 0 data
  way warm
  near "$(counter CACHE_BYTES_FETCHED data)" "$SIZE" 4096
  way random
  near "$(counter CACHE_BYTES_FETCHED data)" "$RESIDENT" 4096
  way map_once
  near "$(counter CACHE_BYTES_FAULTED data)" "$SIZE" 4096
  near "$(($(counter CACHE_MINOR_FAULTS data) + $(counter CACHE_MAJOR_FAULTS data)))" "$FAULTS" 4
  way map_twice
  near "$(counter CACHE_BYTES_FAULTED data)" "$SIZE" 4096
  near "$(($(counter CACHE_MINOR_FAULTS data) + $(counter CACHE_MAJOR_FAULTS data)))" "$FAULTS" 4
  way map_four
  near "$(counter CACHE_BYTES_FAULTED data)" "$SIZE" 4096
  way map_private
  expect CACHE_MAPPED_BYTES_DIRTIED 0 data
  near "$(counter CACHE_BYTES_FAULTED data)" "$SIZE" 4096
}

@test "ext4: reads, writes and mappings, cold and warm; O_DIRECT apart; the device read as much" {
  local before job
  fs ext4
  check
  sync "$T/fs/data"
  before=$(device_read)
  way cold
  near "$(($(device_read) - before))" "$(counter CACHE_BYTES_FETCHED data)" 65536
  expect CACHE_BYTES_FETCHED "$SIZE" data
  # a store has it, too
  job=$(sed -n 's/^# jobid: //p' "$T/parsed")
  "$IOSCRIBE" store --db "$T/db" "$LOG"
  "$IOSCRIBE" query --db "$T/db" cache "job=$job" | grep -P "^$T/fs/data\t$SIZE\t[1-9][0-9]*\t0\t0\t0\t0\t0\t0$"
  way map_write
  near "$(counter CACHE_MAPPED_BYTES_DIRTIED data)" "$SIZE" 4096
  way direct
  expect CACHE_DIRECT_BYTES_READ "$SIZE" data
  expect CACHE_BYTES_FETCHED 0 data
  way direct_write
  expect CACHE_DIRECT_BYTES_WRITTEN "$SIZE" data
  expect CACHE_BYTES_DIRTIED 0 data
  # cp copies in the kernel: where the bytes came from is not known
  trace cp "$T/fs/data" "$T/fs/copy"
  one_log
  expect CACHE_BYTES_FETCHED -1 data
  expect CACHE_MAJOR_FAULTS 0 data
  "$IOSCRIBE" summary "$LOG" | grep "^cache .*not known of 16.0 MiB in files with io_uring, libaio or splice"
}

@test "xfs: the same" {
  fs xfs
  check
  way map_write
  near "$(counter CACHE_MAPPED_BYTES_DIRTIED data)" "$SIZE" 4096
}

@test "overlayfs: the same" {
  fs overlay
  check
}

@test "FUSE: the same, by pages that came into the cache" {
  fs fuse
  check
}

@test "tmpfs: nothing is fetched" {
  fs tmpfs
  head -c "$SIZE" /dev/zero >"$T/fs/data"
  trace cat "$T/fs/data"
  one_log
  expect CACHE_BYTES_FETCHED 0 data
}
