#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The comparison itself can fail: a log that is wrong in one value is refused.

setup() {
  T=$(mktemp -d)
  ORACLE=$IOSCRIBE_SOURCE/tests/oracle/oracle.py
}

teardown() {
  rm -rf "$T"
}

# lie AWK-PROGRAM: run a workload with a parse that changes what the log says.
lie() {
  cat >"$T/ioscribe" <<X
#!/bin/sh
[ "\$1" = parse ] || exec "$IOSCRIBE" "\$@"
"$IOSCRIBE" "\$@" | awk -F '\t' -v OFS='\t' '$1 { print }'
X
  chmod +x "$T/ioscribe"
  IOSCRIBE="$T/ioscribe" run /usr/bin/python3 "$ORACLE" run two-fds
  echo "$output"
}

# lie_each SED WORKLOAD: the same with an export of single operations that is changed.
lie_each() {
  cat >"$T/ioscribe" <<X
#!/bin/sh
[ "\$1" = export ] || exec "$IOSCRIBE" "\$@"
"$IOSCRIBE" "\$@" | sed -E '$1'
X
  chmod +x "$T/ioscribe"
  IOSCRIBE="$T/ioscribe" run /usr/bin/python3 "$ORACLE" run "$2"
  echo "$output"
}

@test "an honest log passes" {
  lie ''
  [ "$status" -eq 0 ]
  [[ $output == *"0 differ"* ]]
}

@test "a count off by one is found and named" {
  lie '$4 == "POSIX_READS" { $5++ }'
  [ "$status" -eq 1 ]
  [[ $output == *"1 differ"* ]]
  [[ $output =~ file\ +POSIX_READS\ +17\ +18 ]]
}

@test "a missing file, a wrong name, a wrong stride are found" {
  lie '$6 ~ /file$/ { next }'
  [ "$status" -eq 1 ]
  lie '{ sub(/file$/, "life", $6) }'
  [ "$status" -eq 1 ]
  lie '$4 == "POSIX_ACCESS1_COUNT" { $5++ }'
  [ "$status" -eq 1 ]
  [[ $output == *"ACCESS top 4"* ]]
}

@test "a partial log is refused" {
  lie 'NR == 1 { print "# *WARNING*: the POSIX module contains incomplete data" }'
  [ "$status" -eq 1 ]
  [[ $output == *"partial"* ]]
}

@test "an operation at another place, and one of another rank, are found" {
  lie_each '0,/("is_write":0.*)"offset":[0-9]+/s//\1"offset":77/' two-fds
  [ "$status" -eq 1 ]
  [[ $output == *"reads one by one"* ]]
  [[ $output == *"1 differ"* ]]
  lie_each '0,/"rank":2/s//"rank":1/' mpi-mpich
  [ "$status" -eq 1 ]
  [[ $output == *"of a process"* ]]
}
