#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Random programs against their own account (tests/oracle/random).

random() {
  /usr/bin/python3 "$IOSCRIBE_SOURCE/tests/oracle/random/compare.py" "$@"
}

@test "random: thirty programs, every counter of every file" {
  run random --seeds 1:30
  echo "$output"
  [ "$status" -eq 0 ]
  grep -qx '30 programs of 300 operations: 30 exact .*' <<<"$output"
}

# ranks N [OPTION]: so many programs of two ranks
ranks() {
  run /usr/bin/python3 "$IOSCRIBE_SOURCE/tests/oracle/ranks/compare.py" "1:$1" "${@:2}"
  echo "$output"
  [ "$status" -eq 0 ]
  grep -qx "$1 programs of 100 operations, two ranks: $1 exact .*" <<<"$output"
}

@test "random: MPI-IO of two ranks, every counter of every file" {
  ranks 20
}

@test "random: MPI-IO of two ranks, counted inside and by probes" {
  ranks 300
  ranks 300 --probes
}

@test "random: on ext4, btrfs and tmpfs" {
  modprobe btrfs 2>/dev/null || true
  mkdir "$BATS_TEST_TMPDIR/fs"
  for fs in ext4 btrfs tmpfs; do
    if [ $fs = tmpfs ]; then
      mount -t tmpfs random "$BATS_TEST_TMPDIR/fs"
    else
      truncate -s 300M "$BATS_TEST_TMPDIR/img"
      "mkfs.$fs" -q "$BATS_TEST_TMPDIR/img"
      mount -o loop "$BATS_TEST_TMPDIR/img" "$BATS_TEST_TMPDIR/fs"
    fi
    run random --seeds 31:60 --below "$BATS_TEST_TMPDIR/fs"
    umount "$BATS_TEST_TMPDIR/fs"
    rm -f "$BATS_TEST_TMPDIR/img"
    echo "$fs: $output"
    [ "$status" -eq 0 ]
    grep -qx '30 programs of 300 operations: 30 exact .*' <<<"$output"
  done
}

@test "random: what is wrong and called complete is found, and becomes a short program" {
  # a log in which one counter is another's: what the comparison has to see
  cat >"$BATS_TEST_TMPDIR/ioscribe" <<X
#!/bin/sh
[ "\$1" != parse ] || exec sh -c '"$IOSCRIBE" "\$@" | sed "s/POSIX_SEEKS\t[1-9][0-9]*/POSIX_SEEKS\t0/"' sh "\$@"
exec "$IOSCRIBE" "\$@"
X
  chmod +x "$BATS_TEST_TMPDIR/ioscribe"
  IOSCRIBE=$BATS_TEST_TMPDIR/ioscribe run random --seeds 1:2 --operations 120
  echo "$output"
  [ "$status" -eq 1 ]
  grep -q 'POSIX_SEEKS: 0 in the log' <<<"$output"
  IOSCRIBE=$BATS_TEST_TMPDIR/ioscribe run random --shrink 1 --operations 120
  echo "$output"
  [ "$status" -eq 0 ]
  [ "$(grep -c lseek <<<"$output")" -eq 1 ]
  [ "$(wc -l <<<"$output")" -lt 20 ]
  printf '%s\n' "$output" >"$BATS_TEST_TMPDIR/small.c"
  gcc -D_GNU_SOURCE -I "$IOSCRIBE_SOURCE" -o "$BATS_TEST_TMPDIR/small" "$BATS_TEST_TMPDIR/small.c" \
    "$IOSCRIBE_SOURCE"/tests/oracle/random/{printed,async}.c
  mkdir "$BATS_TEST_TMPDIR/data"
  "$BATS_TEST_TMPDIR/small" "$BATS_TEST_TMPDIR/data"
}
