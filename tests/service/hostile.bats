#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Hostile jobs of several users beside honest ones: every honest log is exact, and no turn of the
# daemon's loop is long by itself (without waiting for a processor).
# SCRIBE_TEST_HOSTILE=48: so many of them, beside 4 honest ones, for a minute ($SCRIBE_TEST_SECONDS); then the daemon is
# killed, and another one ends the jobs.
load helper

KINDS=(patterns cut_short huge directories pipes environment hung looks flood names forks runs late_publishers held no_place stopped
  forged long_names)

# of_status FIELD: of what the service tells root.
of_status() { "$IOSCRIBE" job status --timeout 60 | sed -n "s/^$1=//p" | head -n 1; }

# Builds that check every access take their time.
is_quick() { grep -qE '^CMAKE_BUILD_TYPE:.*=Rel' "$IOSCRIBE_BUILD/CMakeCache.txt" && ! grep -qE '^CMAKE_C_FLAGS:.*sanitize' "$IOSCRIBE_BUILD/CMakeCache.txt"; }

# honest N SECONDS: a job of known totals: files of its own all the while, how many in $T/hN/count.
honest() {
  local pause
  pause=$(awk -v s="$2" 'BEGIN { p = s / 220; print p < 0.05 ? 0.05 : p }') # 4,000 files at most
  mkdir -m 777 "$T/h$1"
  user env "JOBX=honest$1" IOSCRIBE_ENABLE=1 bash -c '
    cd "$1" || exit 1
    end=$((SECONDS + $2))
    for ((n = 1; n <= 4000 && SECONDS < end; n++)); do
      echo "file $n" >"f.$n"
      read -r line <"f.$n"
      if [ $((n % 20)) = 0 ]; then read -rt "$4" <>"$3"; fi
    done
    echo $((n - 1)) >count' - "$T/h$1" "$2" "$T/never" "$pause" 3>&- &
  honest+=("$!")
}

# honest_runs SECONDS: commands of an honest user with a log each, one a second; how many in $T/runs.
honest_runs() {
  mkdir -m 777 "$T/hr"
  user bash -c '
    cd "$1" || exit 1
    end=$((SECONDS + $2))
    for ((n = 1; SECONDS < end; n++)); do
      "$4" run --quiet --log "$1/$n.darshan" sh -c "echo $n >a; echo $n >>a" || exit 1
      read -rt 1 <>"$3"
    done
    echo $((n - 1)) >count' - "$T/hr" "$1" "$T/never" "$IOSCRIBE" 3>&- &
  honest+=("$!")
}

# hostile N SECONDS
hostile() {
  local kind=${KINDS[$1 % ${#KINDS[@]}]} uid=$((60001 + $1 % 6)) mark="JOBX=$1"
  [[ $kind != runs && $kind != no_place ]] || mark=A=b # jobs of their own
  mkdir "$T/u$1"
  chown "$uid" "$T/u$1"
  job begin --job-id "$1" --uid "$uid" --match-env "JOBX=$1"
  USER_ID=$uid user env "$mark" "HUNG=$T/fs/real" "MINE=$T/fs2" "SOCKET=$IOSCRIBE_DIR/socket" "IOSCRIBE=$IOSCRIBE" \
    "LIBRARY=$IOSCRIBE_BUILD/runtime/client/libioscribe.so" \
    "$IOSCRIBE_SOURCE/tests/service/hostile.py" "$kind" "$T/u$1" "$2" >"$T/said.$1" 2>&1 3>&- &
  hostile+=("$!")
}

@test "hostile jobs of several users beside honest ones: exact, and no turn of the daemon's loop is long" {
  local n=${SCRIBE_TEST_HOSTILE:-${#KINDS[@]}} friends=2 seconds=8 i log files longest
  [ -z "${SCRIBE_TEST_HOSTILE:-}" ] || { friends=4; seconds=${SCRIBE_TEST_SECONDS:-60}; }
  hostile=() honest=()
  run_in_memory
  late_fs fs2
  late_fs
  mkfifo -m 666 "$T/never"
  printf 'records = 200000\nprocesses = 8192\n' >>"$IOSCRIBE_CONFIG"
  # as the unit starts it: the event ring has room for every record's name, however seldom the daemon gets a processor
  mountpoint -q /sys/fs/bpf || mount -t bpf bpf /sys/fs/bpf
  serve --pin
  # a unit has a control group, and so a share of the processors, of its own
  renice -n -5 -p "$DAEMON" $(pgrep -P "$DAEMON") $(pgrep -P "$(pgrep -P "$DAEMON" -x ioscribed-procs)") >/dev/null
  for i in $(seq "$friends"); do job begin --job-id "honest$i" --uid 65534 --match-env "JOBX=honest$i"; done
  kill -STOP "$FS"
  for i in $(seq "$n"); do hostile "$i" "$seconds"; done
  for i in $(seq "$friends"); do honest "$i" "$seconds"; done
  honest_runs "$seconds"
  started=("${hostile[@]}" "${honest[@]}")
  wait "${honest[@]}"
  wait "${hostile[@]}" || { cat "$T"/said.*; return 1; }
  started=()
  kill -0 "$DAEMON" || { grep -v " refused uid" "$IOSCRIBE_DIR/log" | tail -n 60; return 1; }
  "$IOSCRIBE" job status --timeout 60 | head -n 10
  longest=$(of_status longest_turn_ms)
  if [ -n "${SCRIBE_TEST_HOSTILE:-}" ]; then
    kill -KILL "$DAEMON"
    until_true is_gone "$DAEMON"
    serve --pin
  fi
  ! grep 'uid 65534.*daemon' "$IOSCRIBE_DIR/log" || return 1 # nothing of theirs would end with the daemon
  for i in $(seq "$n"); do job end "$i" --deadline 0 >/dev/null || true; done
  for i in $(seq "$friends"); do
    log=$(job end "honest$i" --deadline 30)
    files=$(cat "$T/h$i/count")
    echo "honest job $i: $files files; $("$IOSCRIBE" parse --base "$log" | awk -F '\t' '$4 ~ /^LEDGER_/ && $5 > 0 { printf "%s=%s ", $4, $5 }')"
    [ "$files" -ge 20 ]
    [ "$(value "$log" POSIX_WRITES '/f[.][0-9]+$')" = "$files" ]
    # each is opened twice, and what was opened is given the number 0 or 1
    [ "$(value "$log" POSIX_OPENS '/f[.][0-9]+$')" = $((4 * files)) ]
    [ "$(value "$log" POSIX_BYTES_WRITTEN '/f[.][0-9]+$')" = "$(cat "$T/h$i"/f.* | wc -c)" ]
  done
  files=$(cat "$T/hr/count")
  echo "$files honest runs"
  [ "$files" -ge 3 ]
  for i in $(seq "$files"); do
    until_true test -e "$T/hr/$i.darshan"
    [ "$(value "$T/hr/$i.darshan" POSIX_BYTES_WRITTEN '/a$')" = $((2 * (${#i} + 1))) ]
  done
  echo "longest turn: $longest ms; after a restart: $(of_status longest_turn_ms) ms"
  kill -KILL "$FS"
  umount -l "$T/fs" "$T/fs2"
  # what a user has no place for is kept for him
  [ "$(find "$T/spool" -name '*.darshan' ! -path '*/65534/*' | wc -l)" -ge 1 ]
  ! is_quick || awk -v ms="$longest" 'BEGIN { exit ms > 200 }'
}
