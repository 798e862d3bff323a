#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# scripts/test: what fails runs again alone, what then passes is named, and only so many may; the table of what the
# gate leaves to full.

# A ctest of four tests: one passes always, one from the second time on, one from the third, one never.
# ONCE: how many more there are like the second.
setup() {
  cd "$BATS_TEST_TMPDIR"
  mkdir bin tree tree/tests
  cat >bin/ctest <<'END'
#!/bin/bash
echo "$*" >>"$BATS_TEST_TMPDIR/calls"
only='.*'
while [ $# -gt 0 ]; do [ "$1" != -R ] || only=$2; shift; done
n=0
for test in unit.always unit.once $(seq -f unit.more%g $ONCE) unit.twice unit.never; do
  grep -qE "$only" <<<"$test" || continue
  case $test in
  unit.always) fails=0 ;;
  unit.once | unit.more*) fails=1 ;;
  unit.twice) fails=2 ;;
  unit.never) fails=${NEVER:-0} ;;
  esac
  n=$((n + 1))
  echo x >>"$BATS_TEST_TMPDIR/runs.$test"
  if [ "$(wc -l <"$BATS_TEST_TMPDIR/runs.$test")" -gt "$fails" ]; then
    echo " $n/$([ "$only" = '.*' ] && echo 5 || echo 1) Test #$n: $test .....   Passed    0.01 sec"
  else
    echo " $n/5 Test #$n: $test .....***Failed    0.01 sec"
    printf 'ok 1 fine\nnot ok 2 a count of %s\n# (in test file x, line 3)\n#   `[ 1 -eq 2 ]'"'"' failed\n' "$test"
  fi
done
echo "33% tests passed"
END
  chmod +x bin/ctest
  PATH=$PWD/bin:$PATH
  . "$IOSCRIBE_SOURCE/scripts/test"
  set +u
  cd "$BATS_TEST_TMPDIR/tree"
  root=$PWD builds=$PWD ONCE=0 NEVER=0
  export ONCE NEVER
  printf '# a list\nunit.long\ttakes hours\nunit.part: a name\tonly this of it\n' >tests/full.tsv
}

@test "what passes alone, at the first or the second time, has passed and is named with what failed" {
  tests dev >/dev/null
  echo "$passed $failed; ${unsteady[*]}"
  [ "$passed $failed" = "4 0" ]
  [ "${#unsteady[@]}" -eq 2 ]
  [ "${unsteady[0]}" = 'dev: unit.once: not ok 2 a count of unit.once: #   `[ 1 -eq 2 ]'"' failed" ]
}

@test "what fails each time has failed" {
  NEVER=9
  tests dev >/dev/null
  [ "$passed $failed" = "3 1" ]
  [[ ${failures[0]} == "dev: unit.never: not ok 2 a count of unit.never: "* ]]
  [ "$(wc -l <"$BATS_TEST_TMPDIR/runs.unit.never")" -eq 3 ]
}

@test "more than three are not run again: all have failed; those of earlier steps count" {
  ONCE=2
  tests dev >/dev/null
  [ "$passed $failed" = "2 4" ]
  [ "${#unsteady[@]}" -eq 0 ]
  rm "$BATS_TEST_TMPDIR"/runs.*
  ONCE=0 passed=0 failed=0 unsteady=(a b)
  tests dev >/dev/null
  [ "$passed $failed" = "2 2" ]
}

@test "the gate leaves out what the table says, full nothing" {
  tests dev >/dev/null
  grep -qF -- '-E ^(unit\.long)$' "$BATS_TEST_TMPDIR/calls"
  rm "$BATS_TEST_TMPDIR/calls"
  tier=full
  tests dev >/dev/null
  run grep -c -- '-E ' "$BATS_TEST_TMPDIR/calls"
  [ "$output" -eq 0 ]
}

@test "a line of the table without a reason, or with a tab too many, is refused; the table has none" {
  [ -z "$(awk -F '\t' '!/^#/ && (NF != 2 || $2 == "")' "$IOSCRIBE_SOURCE/tests/full.tsv")" ]
}
