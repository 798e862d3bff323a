#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# clang-tidy over all of the build's C files; and that the check finds what it is for.

@test "clang-tidy finds nothing but what is excepted" {
  "$IOSCRIBE_SOURCE/scripts/check-tidy" "$IOSCRIBE_BUILD"
}

# A tree of one file, with the checks of ours: BODY, then the lines of its exceptions.
tree() {
  export IOSCRIBE_ROOT=$BATS_TEST_TMPDIR/tree
  mkdir -p "$IOSCRIBE_ROOT"/{logfmt,scripts,build}
  cp "$IOSCRIBE_SOURCE/.clang-tidy" "$IOSCRIBE_ROOT"
  printf '%s\n' "$1" >"$IOSCRIBE_ROOT/logfmt/one.c"
  printf '# a list\n%s\n' "$2" >"$IOSCRIBE_ROOT/scripts/tidy-exceptions.txt"
  printf '[{"directory": "%s", "command": "cc -c logfmt/one.c", "file": "%s/logfmt/one.c"}]\n' "$IOSCRIBE_ROOT" \
    "$IOSCRIBE_ROOT" >"$IOSCRIBE_ROOT/build/compile_commands.json"
}

planted='int f(int n); int f(int n) { return n == n; }'

@test "a finding is named and refused; one with a reason stands; a reason for nothing is refused" {
  tree "$planted"
  run "$IOSCRIBE_SOURCE/scripts/check-tidy" "$IOSCRIBE_ROOT/build"
  [ "$status" -eq 1 ]
  [[ "$output" == "logfmt/one.c:1: both sides of operator are equivalent [misc-redundant-expression]" ]]
  tree "$planted" 'logfmt/one.c misc-redundant-expression: it is not a number'
  "$IOSCRIBE_SOURCE/scripts/check-tidy" "$IOSCRIBE_ROOT/build"
  tree 'int f(int n); int f(int n) { return n; }' 'logfmt/one.c misc-redundant-expression: it is not a number'
  run "$IOSCRIBE_SOURCE/scripts/check-tidy" "$IOSCRIBE_ROOT/build"
  [ "$status" -eq 1 ]
  [[ "$output" == "check-tidy: no finding any more: logfmt/one.c misc-redundant-expression" ]]
}

@test "a function of more than 60 lines, a file that does not compile, an exception without a reason" {
  tree "int f(int n); int f(int n) {$(printf '\nn++;%.0s' {1..70}) return n; }"
  run "$IOSCRIBE_SOURCE/scripts/check-tidy" "$IOSCRIBE_ROOT/build"
  [ "$status" -eq 1 ]
  [[ "$output" == *"function 'f' exceeds recommended size/complexity thresholds [readability-function-size]" ]]
  tree 'int f(int n) { return m; }'
  run "$IOSCRIBE_SOURCE/scripts/check-tidy" "$IOSCRIBE_ROOT/build"
  [ "$status" -eq 1 ]
  [[ "$output" == *"use of undeclared identifier 'm' [clang-diagnostic-error]"* ]]
  tree "$planted" 'logfmt/one.c misc-redundant-expression'
  run "$IOSCRIBE_SOURCE/scripts/check-tidy" "$IOSCRIBE_ROOT/build"
  [ "$status" -eq 1 ]
  [[ "$output" == "check-tidy: scripts/tidy-exceptions.txt: no FILE CHECK: why: logfmt/one.c misc-redundant-expression" ]]
}
