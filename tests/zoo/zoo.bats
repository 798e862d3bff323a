#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Every ending leaves exactly one finished log, and the program's exit code and
# outputs are those that it has untraced. The tables stand in zoo.py and unharmed.py.

setup() {
  [ "$(id -u)" -eq 0 ] || { echo "the zoo traces: it needs root"; return 1; }
  T=$(mktemp -d /tmp/ioscribe-zoo.XXXXXX)
}

teardown() {
  rm -rf "$T"
}

@test "every ending below every launcher in every language, as jobs of one service" {
  python3 "$BATS_TEST_DIRNAME/zoo.py" "$IOSCRIBE_BUILD" --service --workers 4
}

@test "every ending with a private daemon" {
  python3 "$BATS_TEST_DIRNAME/zoo.py" "$IOSCRIBE_BUILD"
}

@test "sanitizers, emulators, debuggers, filters, namespaces, other preloads: the same with and without" {
  python3 "$BATS_TEST_DIRNAME/unharmed.py" "$IOSCRIBE_BUILD" --workers 4
}
