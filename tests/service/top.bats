#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# ioscribe top: what it shows of programs that do what they are told, step by step.
load helper

TOP=$BATS_TEST_DIRNAME/top.py

setup() {
  helper_setup
  SESSION=
}

teardown() {
  exec 7>&- 8<&- || true
  [ -z "$SESSION" ] || tmux -S "$SOCKET" kill-server || true
  helper_teardown
}

# A run of nobody's that has joined the service, and waits for steps. Sets JOB.
steps() {
  mkfifo "$T/in" "$T/out"
  user "$IOSCRIBE" run -q --force --log "$T/logs/steps.darshan" -- \
    "$IOSCRIBE_BUILD/tests/prog/steps" <"$T/in" >"$T/out" 2>"$T/err" 3>&- &
  RUN=$!
  echo "$RUN" >>"$T/pids"
  exec 7>"$T/in" 8<"$T/out"
  step w 1 10 begun
  JOB=$(top_json | python3 "$TOP" value job)
}

# One step is done, and what it has brought is known to the daemon: names come by events.
step() {
  local said
  echo "$*" >&7
  read -r said <&8
  [ "$said" = done ]
}

end_steps() {
  exec 7>&- 8<&-
  wait "$RUN"
}

top() {
  user "$IOSCRIBE" top "$@"
}

# One sample, of a short time.
top_json() {
  top --once --json --interval 0.1 "$@"
}

# of COLUMN KEY=VALUE... [-- OPTION...]
of() {
  local wanted=()
  while [ $# -gt 0 ] && [ "$1" != -- ]; do
    wanted+=("$1")
    shift
  done
  [ $# -eq 0 ] || shift
  top_json "$@" | python3 "$TOP" value "${wanted[@]}"
}

# is VALUE COLUMN KEY=VALUE... [-- OPTION...]
is() {
  [ "$(of "${@:2}" 2>/dev/null)" = "$1" ]
}

@test "totals of a job, a process and its files, by layer; nothing is taken: the log has all" {
  serve
  steps
  step w 300 4096 data
  step s 50 1000 stream
  until_true is $((10 + 300 * 4096 + 50 * 1000)) bytes_written job="$JOB"
  until_true is 1 processes job="$JOB"
  until_true is $((10 + 300 * 4096 + 50 * 1000)) bytes_written program=steps -- --view processes
  until_true is $((300 * 4096)) bytes_written file="$T/w/data" -- --view files
  until_true is POSIX layers file="$T/w/data" -- --view files
  until_true is 50000 bytes_written file="$T/w/stream" -- --view files
  until_true is STDIO layers file="$T/w/stream" -- --view files
  until_true is 0.0 written_bytes_per_second job="$JOB"
  until_true is None mean_bytes job="$JOB"
  [ "$(top_json --view files --filter stream | python3 "$TOP" value file)" = "$T/w/stream" ]
  [ "$(top_json --view files --filter nothing | python3 -c 'import json, sys; print(json.load(sys.stdin)["rows"])')" = "[]" ]
  # what children moved that have ended counts to the job
  step c 5
  until_true sh -c '[ "$(setpriv --reuid=65534 --regid=65534 --clear-groups "$1" top --once --json --interval 0.1 | python3 "$2" value bytes_written)" -eq "$3" ]' \
    sh "$IOSCRIBE" "$TOP" $((10 + 300 * 4096 + 50 * 1000 + 5000))
  end_steps
  [ "$(value "$T/logs/steps.darshan" POSIX_BYTES_WRITTEN '/data$')" -eq $((300 * 4096)) ]
  [ "$(value "$T/logs/steps.darshan" STDIO_BYTES_WRITTEN '/stream$')" -eq 50000 ]
  [ "$(value "$T/logs/steps.darshan" POSIX_BYTES_WRITTEN '/child$')" -eq 5000 ]
}

# last_says FILE BYTES KEY=VALUE: the last sample in FILE does.
last_says() {
  [ "$(python3 "$TOP" value bytes_written "$3" <"$1" 2>/dev/null)" = "$2" ]
}

# about FILE COLUMN KEY=VALUE EXPECTED: its rates by the samples' seconds, give or take what a sample lasts.
about() {
  local sum
  sum=$(python3 "$TOP" sum "$2" "$3" <"$1")
  echo "$sum for $4"
  [ "$sum" -ge $(($4 * 7 / 10)) ]
  [ "$sum" -le $(($4 * 13 / 10)) ]
}

@test "rates by their seconds are what was written between two samples" {
  serve
  steps
  step w 1000 100 data
  setpriv --reuid=65534 --regid=65534 --clear-groups "$IOSCRIBE" top --json --interval 0.3 >"$T/jobs" 3>&- 7>&- 8<&- &
  local a=$!
  setpriv --reuid=65534 --regid=65534 --clear-groups "$IOSCRIBE" top --json --interval 0.3 --view files \
    >"$T/files" 3>&- 7>&- 8<&- &
  local b=$!
  printf '%s\n' "$a" "$b" >>"$T/pids"
  # each has had its first sample when it tells the second
  until_true test -s "$T/jobs" -a -s "$T/files"
  step w 7 100000 data
  step s 100 777 stream
  step w 500 100 other
  # the samples have seen all of it
  until_true last_says "$T/jobs" $((10 + 100000 + 700000 + 77700 + 50000)) job="$JOB"
  until_true last_says "$T/files" 800000 file="$T/w/data"
  until_true last_says "$T/files" 77700 file="$T/w/stream"
  until_true last_says "$T/files" 50000 file="$T/w/other"
  kill "$a" "$b"
  wait "$a" "$b" || true
  about "$T/jobs" written_bytes_per_second job="$JOB" $((700000 + 77700 + 50000))
  about "$T/files" written_bytes_per_second file="$T/w/data" 700000
  about "$T/files" written_bytes_per_second file="$T/w/stream" 77700
  about "$T/files" operations_per_second file="$T/w/other" 501
  [ "$(python3 "$TOP" value bytes_written file="$T/w/data" <"$T/files")" -eq 800000 ]
  end_steps
}

# as_fio OPTION...: top's mean rates over three seconds of fio's, within 5 % of fio's own.
as_fio() {
  rm -f "$T/fio.json"
  JOBX=72 IOSCRIBE_ENABLE=1 user fio --name=paced --filename="$T/w/fio" --size=16m --rw=randrw --rwmixread=60 --bs=8k \
    --ioengine=psync --thread=0 --rate_iops=600,400 --time_based --runtime=7 --output-format=json --output="$T/w/fio.json" \
    >/dev/null 2>&1 3>&- &
  local fio=$!
  echo "$fio" >>"$T/pids"
  until_true sh -c 'setpriv --reuid=65534 --regid=65534 --clear-groups "$1" top --job 72 --once --json --interval 0.5 |
    python3 "$2" value written_bytes_per_second | grep -vqx 0.0' sh "$IOSCRIBE" "$TOP"
  top --job 72 --json --interval 3 --count 1 >"$T/sample"
  wait "$fio"
  python3 - "$T/sample" "$T/w/fio.json" <<'END'
import json, sys
row = json.load(open(sys.argv[1]))["rows"][0]
fio = json.load(open(sys.argv[2]))["jobs"][0]
pairs = [(row["read_bytes_per_second"], fio["read"]["bw_bytes"]), (row["written_bytes_per_second"], fio["write"]["bw_bytes"]),
         (row["operations_per_second"], fio["read"]["iops"] + fio["write"]["iops"])]
print(pairs, row["mean_bytes"])
sys.exit(row["mean_bytes"] != 8192 or any(abs(a / b - 1) > 0.05 for a, b in pairs))
END
}

@test "rates of fio's reads and writes are fio's own, within 5 %" {
  serve
  job begin --job-id 72 --uid 65534 --match-env JOBX=72
  # who has the processor meanwhile may be another: once in three times is enough
  as_fio || as_fio || as_fio
}

three_ranks() {
  top_json --view ranks >"$T/ranks"
  [ "$(python3 -c 'import json, sys; print(sorted(r["rank"] for r in json.load(sys.stdin)["rows"]))' <"$T/ranks")" = "[0, 1, 2]" ]
}

@test "ranks of an MPI job" {
  serve
  job begin --job-id 71 --uid 65534 --match-env JOBX=71
  user env JOBX=71 IOSCRIBE_ENABLE=1 HOME="$T/w" mpiexec.mpich -n 3 "$IOSCRIBE_BUILD/tests/mpi/mpich/mpi_paced" \
    >"$T/out" 2>&1 3>&- &
  local mpi=$!
  echo "$mpi" >>"$T/pids"
  until_true test -e "$T/w/running.0" -a -e "$T/w/running.1" -a -e "$T/w/running.2"
  until_true three_ranks
  user touch "$T/w/enough"
  [ "$(python3 "$TOP" value job rank=2 <"$T/ranks")" = 71 ]
  [ "$(python3 "$TOP" value processes rank=1 <"$T/ranks")" = 1 ]
  wait "$mpi"
}

@test "a user sees his own jobs, root all, another none; messages that are wrong are refused" {
  serve
  steps
  [ "$("$IOSCRIBE" top --once --json --interval 0.1 | python3 "$TOP" value uid job="$JOB")" = 65534 ]
  run_it env USER_ID=54321 setpriv --reuid=54321 --regid=54321 --clear-groups "$IOSCRIBE" top --once --job "$JOB"
  [ "$status" -eq 1 ]
  [ "$output" = "ioscribe top: no job $JOB here" ]
  [ "$(USER_ID=54321 top --once --interval 0.1 | wc -l)" -eq 1 ]
  [ "$(python3 "$TOP" foreign "$IOSCRIBE_DIR")" = "True [0, 0, 0, 0]" ]
  python3 "$TOP" messages "$IOSCRIBE_DIR" | tee "$T/messages"
  diff "$T/messages" - <<'END'
what 0: LOOK at nothing that there is
what 4: LOOK at nothing that there is
job 256: LOOK with an impossible number
65 names: LOOK with an impossible number
cut: message type 74 with 544 bytes of payload instead of 552
an answer: not a message for the daemon
place (1, 7, 0, 0): 75 32
place (4294967295, 1, 1, 1): 75 32
place (5, 0, 4294967295, 4294967295): 75 32
END
  end_steps
  # nothing is left of it, and nobody serves
  run_it env IOSCRIBE_DIR="$T/none" "$IOSCRIBE" top --once
  [ "$status" -eq 1 ]
  [ "$output" = "ioscribe top: no service at $T/none: only jobs that it traces can be seen" ]
}

@test "names of any bytes are shown as escapes, in every form" {
  serve
  steps
  local name=$'a\e[31m,b =c\xff\\'
  step w 3 100 "$name"
  until_true is 300 bytes_written file_escaped="$T/w/"'a\x1b[31m,b =c\xff\\' -- --view files
  top --once --interval 0.1 --view files >"$T/table"
  grep -qF 'a\x1b[31m,b =c\xff\' "$T/table"
  ! grep -q $'\e' "$T/table" || return 1
  [ "$(top_json --view files | python3 "$TOP" value file_escaped bytes_written=300)" = "$T/w/"'a\x1b[31m,b =c\xff\\' ]
  top --once --lines --interval 0.1 --view files | python3 "$TOP" lines >"$T/lines"
  grep -F '"bytes_written": 300' "$T/lines" | python3 -c '
import json, sys
row = json.load(sys.stdin)
assert row["file"].endswith(r"/a\x1b[31m,b =c\xff\x5c"), row
assert row["measurement"] == "ioscribe_file" and row["operations"] == 4, row'
  end_steps
}

@test "more files than a page holds: all are counted, by whoever asks at once, and the daemon's turns stay short" {
  serve
  steps
  user mkdir "$T/w/many"
  step o 6000 "$T/w/many"
  local i pids=()
  for i in 1 2 3 4; do
    top_json --view files --rows 7 --sort name --filter "$T/w/many/" >"$T/many.$i" 3>&- &
    pids+=($!)
  done
  wait "${pids[@]}"
  for i in 1 2 3 4; do
    [ "$(python3 -c 'import json, sys; d = json.load(sys.stdin); print(d["rows_of_all"], len(d["rows"]), d["rows"][1]["file"])' <"$T/many.$i")" = \
      "6000 7 $T/w/many/1" ]
  done
  until_true is 6010 bytes_written job="$JOB"
  # a turn that looks took most of it would be called by that
  job status | tee "$T/status"
  ! grep -qx 'longest_turn_mostly=looks' "$T/status" || grep -qE '^longest_turn_worked_ms=[0-9]\.' "$T/status"
  end_steps
}

# screen WIDTH HEIGHT OPTION...
screen() {
  SESSION=$1x$2
  SOCKET=$T/tmux.$SESSION # each server its own: one that ends may take the next with it
  tmux -S "$SOCKET" -f /dev/null new-session -d -x "$1" -y "$2" -s "$SESSION" \
    "IOSCRIBE_DIR=$IOSCRIBE_DIR LC_ALL=C.UTF-8 '$IOSCRIBE' top --interval 0.2 ${*:3}; echo ended with \$?; cat" 3>&- 7>&- 8<&-
}

# shows TEXT: it stands on the screen, whose text is in $T/screen.
shows() {
  tmux -S "$SOCKET" capture-pane -p -t "$SESSION" >"$T/screen"
  grep -qF -- "$1" "$T/screen"
}

press() {
  tmux -S "$SOCKET" send-keys -t "$SESSION" "$@"
}

@test "the screen at 80x24 and 200x50: views, in and out, sort, filter, pause, help, end" {
  serve
  steps
  step w 100 1000 data
  step w 1 5000 "$(printf 'long%.0s' {1..50})"
  local size
  for size in "80 24" "200 50"; do
    # shellcheck disable=SC2086 # two words
    screen $size
    until_true shows "$JOB"
    until_true shows "1 jobs by rate"
    until_true shows READ/s
    press Enter
    until_true shows "1 processes of job $JOB by rate"
    until_true shows steps
    press Enter
    until_true shows " files of process"
    until_true shows "/w/data"
    until_true shows POSIX
    until_true shows longlonglong
    [ "$(wc -L <"$T/screen")" -le "${size% *}" ]
    press s
    until_true shows "by read"
    press / l o n g Enter
    until_true shows "1 files of process"
    until_true shows "with long"
    press Space
    until_true shows PAUSED
    press Space
    press h
    until_true shows "q            end"
    press h BSpace
    until_true shows "processes of job"
    press 3
    until_true shows "ranks of job"
    press q
    until_true shows "ended with 0"
    tmux -S "$SOCKET" kill-server
    SESSION=
  done
  end_steps
}

@test "a screen outlives the service that it asks, and a small window" {
  serve
  steps
  screen 80 24
  until_true shows "$JOB"
  tmux -S "$SOCKET" resize-window -t "$SESSION" -x 10 -y 3
  tmux -S "$SOCKET" resize-window -t "$SESSION" -x 100 -y 12
  until_true shows "jobs by rate"
  end_steps
  until_true shows "nothing is traced now"
  kill -INT "$DAEMON"
  gone "$DAEMON"
  until_true shows "no service at"
  press q
  until_true shows "ended with 0"
  tmux -S "$SOCKET" kill-server
  SESSION=
}

@test "a metadata storm: job, user, folder and calls are named within two seconds; in the metrics as far as all may know" {
  mkdir -p "$T/prom" "$T/w/modules/pack"
  printf 'metrics_file = %s/prom/ioscribe.prom\nmetrics_interval_s = 1\n' "$T" >>"$IOSCRIBE_CONFIG"
  serve
  for i in $(seq 100); do
    echo "x = $i" >"$T/w/modules/pack/m$i.py"
    echo "import pack.m$i"
  done >"$T/w/modules/all.py"
  chmod -R a+rX "$T/w"
  user "$IOSCRIBE" run -q --force --log "$T/logs/storm.darshan" -- \
    sh -c 'for i in $(seq 1000); do /usr/bin/python3 -B "$0"; done' "$T/w/modules/all.py" >/dev/null 2>&1 3>&- &
  echo "$!" >>"$T/pids"
  until_true is nobody user
  timeout 2 env IOSCRIBE_DIR="$IOSCRIBE_DIR" "$IOSCRIBE" top --once --json --interval 1.5 --sort meta >"$T/storm"
  [ "$(python3 "$TOP" value metadata_folder <"$T/storm")" = "$T/w/modules/pack" ]
  [ "$(python3 "$TOP" value user <"$T/storm")" = nobody ]
  python3 -c 'import json, sys
row = json.load(open(sys.argv[1]))["rows"][0]
assert row["metadata_folder_part"] > 0.5 and row["opens_per_second"] > 100 and row["stats_per_second"] > 100, row' "$T/storm"
  "$IOSCRIBE" top --once --interval 1.5 | grep -q "^most metadata: job .* of nobody, .* below $T/w/modules/pack on "
  until_true grep -q '^ioscribe_job_metadata_folder{.*user="nobody",folder="/tmp"' "$T/prom/ioscribe.prom"
  ! grep -q modules "$T/prom/ioscribe.prom"
}
