#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# LUSTRE records from a traced program to the text of a log, without a Lustre: the
# file system at hand stands in for it (`layout_source`), and a user's attribute
# with a blob of tests/data/lov for its own.
load helper

# The type that the log's mount table has for this folder.
stand_in() {
  local type
  type=$(findmnt -no FSTYPE -T "$T")
  [ "$type" != tmpfs ] || type=$(findmnt -no FSTYPE /)
  trace_options=(--set "layout_source=$type,user.lov")
}

# layout FILE BLOB
layout() {
  setfattr -n user.lov -v "0s$(base64 -w0 <"$IOSCRIBE_SOURCE/tests/data/lov/$2.lov")" "$1"
}

# The LUSTRE rows of a file: "rank counter value".
rows() {
  "$IOSCRIBE" parse --all "$LOG" >"$T/parsed"
  awk -F '\t' -v OFS=' ' -v file="$1" '$1 == "LUSTRE" && $6 == file { sub(/^LUSTRE_/, "", $4); print $2, $4, $5 }' "$T/parsed"
}

@test "each form of a layout, as Darshan's parser prints it" {
  stand_in
  for form in plain pool overstriped pfl dom flr sel foreign untouched; do
    echo "$form" >"$form"
    layout "$form" "$form"
  done
  echo none >none
  trace sh -c 'cat plain pool overstriped pfl dom flr sel foreign untouched none >out'
  [ "$status" -eq 0 ]
  one_log
  diff <(rows "$T/w/plain") - <<'END'
0 NUM_COMPONENTS 1
0 NUM_STRIPES 2
0 COMP1_STRIPE_SIZE 1048576
0 COMP1_STRIPE_COUNT 2
0 COMP1_STRIPE_PATTERN raid0
0 COMP1_FLAGS 0
0 COMP1_EXT_START 0
0 COMP1_EXT_END -1
0 COMP1_MIRROR_ID 0
0 COMP1_POOL_NAME N/A
0 COMP1_OST_ID_0 3
0 COMP1_OST_ID_1 7
END
  diff <(rows "$T/w/pfl") - <<'END'
0 NUM_COMPONENTS 2
0 NUM_STRIPES 5
0 COMP1_STRIPE_SIZE 1048576
0 COMP1_STRIPE_COUNT 1
0 COMP1_STRIPE_PATTERN raid0
0 COMP1_FLAGS init
0 COMP1_EXT_START 0
0 COMP1_EXT_END 1048576
0 COMP1_MIRROR_ID 0
0 COMP1_POOL_NAME N/A
0 COMP1_OST_ID_0 5
0 COMP2_STRIPE_SIZE 1048576
0 COMP2_STRIPE_COUNT 4
0 COMP2_STRIPE_PATTERN raid0
0 COMP2_FLAGS init
0 COMP2_EXT_START 1048576
0 COMP2_EXT_END 268435456
0 COMP2_MIRROR_ID 0
0 COMP2_POOL_NAME disk
0 COMP2_OST_ID_0 6
0 COMP2_OST_ID_1 7
0 COMP2_OST_ID_2 8
0 COMP2_OST_ID_3 0
END
  diff <(rows "$T/w/dom" | grep -E 'NUM|PATTERN|COUNT|OST') - <<'END'
0 NUM_COMPONENTS 2
0 NUM_STRIPES 1
0 COMP1_STRIPE_COUNT 0
0 COMP1_STRIPE_PATTERN mdt
0 COMP2_STRIPE_COUNT 1
0 COMP2_STRIPE_PATTERN raid0
0 COMP2_OST_ID_0 2
END
  diff <(rows "$T/w/flr" | grep -E 'FLAGS|MIRROR|POOL|OST') - <<'END'
0 COMP1_FLAGS init
0 COMP1_MIRROR_ID 1
0 COMP1_POOL_NAME flash
0 COMP1_OST_ID_0 1
0 COMP1_OST_ID_1 2
0 COMP2_FLAGS stale,init
0 COMP2_MIRROR_ID 2
0 COMP2_POOL_NAME disk
0 COMP2_OST_ID_0 12
END
  [ "$(rows "$T/w/overstriped" | grep -c -E 'PATTERN raid0,overstriped$|OST_ID_[0-3] [01]$')" = 5 ]
  [ "$(rows "$T/w/pool" | grep -c -E 'POOL_NAME flash$|OST_ID_[0-3] [0-3]$')" = 5 ]
  [ "$(rows "$T/w/sel" | grep -E 'NUM|EXT_END')" = $'0 NUM_COMPONENTS 1\n0 NUM_STRIPES 1\n0 COMP1_EXT_END 67108864' ]
  [ "$(rows "$T/w/foreign" | grep -E 'PATTERN|NUM')" = $'0 NUM_COMPONENTS 1\n0 NUM_STRIPES 0\n0 COMP1_STRIPE_PATTERN foreign' ]
  for none in none untouched out; do
    [ -z "$(rows "$T/w/$none")" ]
  done
}

@test "a layout that changes while the file is written: as it is at the end" {
  stand_in
  echo x >grows
  layout grows plain
  trace sh -c 'cat grows >/dev/null; setfattr -n user.lov -v "0s$1" grows' - \
    "$(base64 -w0 <"$IOSCRIBE_SOURCE/tests/data/lov/pfl.lov")"
  [ "$status" -eq 0 ]
  [ "$(rows "$T/w/grows" | head -1)" = "0 NUM_COMPONENTS 2" ]
}

@test "on the file system it is not meant for, or switched off: no records" {
  echo x >plain
  layout plain plain
  trace cat plain
  [ -z "$(rows "$T/w/plain")" ]
  for off in modules=-LUSTRE 'MOD_DISABLE=LUSTRE'; do
    stand_in
    trace_options+=(--set "$off")
    trace cat plain
    [ "$status" -eq 0 ]
    expect POSIX_OPENS 1 '/plain$'
    [ -z "$(rows "$T/w/plain")" ]
  done
}

@test "it is the user who looks: what only root may reach says nothing" {
  stand_in
  chmod 1777 "$T"
  mkdir -m 700 closed
  for f in plain closed/plain; do
    echo x >$f
    layout $f plain
  done
  # a user's program that root has handed a file it could not open itself
  SUDO_UID=65534 SUDO_GID=65534 trace sh -c 'cat plain; cat <&9' 9<closed/plain
  [ "$status" -eq 0 ]
  expect POSIX_BYTES_READ 2 '/w/plain$'
  expect POSIX_BYTES_READ 2 '/closed/plain$'
  [ "$(rows "$T/w/plain" | head -1)" = "0 NUM_COMPONENTS 1" ]
  [ -z "$(rows "$T/w/closed/plain")" ]
}
