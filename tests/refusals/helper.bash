# SPDX-License-Identifier: BSD-3-Clause
# What the tests of refusals share: a scratch folder, a run that is refused for one
# cause, and after every test a look at what was left behind.

setup() {
  [ "$(id -u)" -eq 0 ] || { echo "these tests need root, to take it away again"; return 1; }
  T=$(mktemp -d /tmp/ioscribe-refusal.XXXXXX)
  chmod 755 "$T"
  PROG=$IOSCRIBE_BUILD/tests/prog
  IOSCRIBED=$IOSCRIBE_BUILD/runtime/daemon/ioscribed
  mkdir -m 1777 "$T/logs"
  LOG=$T/logs/run.darshan
  RELEASE=$(uname -r)
  export IOSCRIBE_DIR=$T/run IOSCRIBE_CONFIG=$T/ioscribed.conf
  printf 'log_dir = %s/logs\nspool_dir = %s/spool\nlog_layout = flat\n' "$T" "$T" >"$IOSCRIBE_CONFIG"
  run_options=()
  cd "$T" || return 1
}

teardown() {
  local pid
  cd /
  [ -n "${T:-}" ] || return 0
  pid=$(cat "$IOSCRIBE_DIR/pid" 2>/dev/null || true)
  [ -z "$pid" ] || kill -INT "$pid" 2>/dev/null || true
  if declare -F cleanup >/dev/null; then cleanup; fi
  rm -rf "$T"
}

# Run a command with all of a shell's words; leaves status and output.
run_it() {
  status=0
  output=$("$@" 2>&1) || status=$?
  echo "$output"
}

# Without these capabilities (a list with commas).
without() {
  local caps=$1
  shift
  setpriv --bounding-set "-${caps//,/,-}" "$@"
}

# refused LINE WRAPPER...: below WRAPPER nothing can be traced, and LINE (a pattern of the
# shell's) is all that is said; --best-effort runs CMD all the same, and says that.
refused() {
  local line=$1
  shift
  run_it "$@" "$IOSCRIBE" run --quiet --force --log "$LOG" "${run_options[@]}" -- sh -c 'echo hi; exit 6'
  [ "$status" -eq 1 ]
  # shellcheck disable=SC2053
  [[ $output == "ioscribe run: "$line ]]
  [ "$(wc -l <<<"$output")" -eq 1 ]
  run_it "$@" "$IOSCRIBE" run --best-effort --force --log "$LOG" "${run_options[@]}" -- sh -c 'echo hi; exit 6'
  [ "$status" -eq 6 ]
  [ "$(grep -vx hi <<<"$output" | wc -l)" -eq 1 ]
  # shellcheck disable=SC2053
  [[ $(grep -vx hi <<<"$output") == "ioscribe run: "$line"; CMD runs untraced" ]]
  grep -qx hi <<<"$output"
  [ -z "$(ls "$T/logs")" ]
}

# diagnosed LINE WRAPPER...: so does doctor, which calls nothing "ok privileges" then if
# the line speaks of them.
diagnosed() {
  local line=$1
  shift
  run_it "$@" "$IOSCRIBE" doctor
  [ "$status" -eq 1 ]
  # shellcheck disable=SC2053
  [[ $(grep '^FIX   tracing programs ' <<<"$output") == "FIX   tracing programs       "$line ]]
}

no_privileges() {
  ! grep '^ok *privileges' <<<"$output" || return 1
  grep '^FIX *privileges' <<<"$output"
}
