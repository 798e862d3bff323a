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
