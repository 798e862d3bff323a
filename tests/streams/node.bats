#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Samples of this node (ioscribe publish --node): to a file, to a store that listens, to a sink that takes nothing.
load ../trace/helper
load ../harness/wait.bash

# Values in the store of samples that came.
samples() {
  [ "$(sqlite3 "$T/db.sqlite" "SELECT count(DISTINCT time_us) FROM node_load" 2>/dev/null || echo 0)" -ge "$1" ]
}

lines() {
  [ "$(wc -l <"$T/f.json" 2>/dev/null || echo 0)" -ge "$1" ]
}

@test "what is wrong is said in one line" {
  local seconds
  for seconds in 0 3601 1x -1 ''; do
    ! "$IOSCRIBE" publish --node="$seconds" "json:$T/f" 2>"$T/err" || return 1
    [ "$(wc -l <"$T/err")" -eq 1 ]
    grep -qF "ioscribe publish: --node: '$seconds' is no number of seconds from 1 to 3600" "$T/err"
  done
  ! "$IOSCRIBE" publish --node 1 --job 3 "json:$T/f" 2>"$T/err" || return 1
  grep -q 'one of --job ID, --pid PID and --node SECONDS is needed' "$T/err"
  ! "$IOSCRIBE" publish --node 1 "modules=HDF5,json:$T/f" 2>"$T/err" || return 1
  grep -q -- '--node: samples are not thinned, nor CSV' "$T/err"
  ! "$IOSCRIBE" publish --node 1 odd:x 2>"$T/err" || return 1
  grep -q "'odd:x' is none of json:unix:PATH" "$T/err"
  [ ! -e "$T/f" ]
}

@test "samples of this node, without a daemon and by any user: to a file, from there to a store and a question" {
  install -m 666 /dev/null "$T/f.json"
  chmod 711 "$T"
  setpriv --reuid 65534 --regid 65534 --clear-groups "$IOSCRIBE" publish --node 1 "json:$T/f.json" 2>"$T/err" 3>&- &
  local publisher=$!
  until_true lines 2
  kill -INT "$publisher" # ignored by what a shell starts behind it, but for a handler of its own
  wait "$publisher"
  [ ! -s "$T/err" ]
  "$IOSCRIBE" store --db "$T/db.sqlite" "$T/f.json"
  [ "$(sqlite3 "$T/db.sqlite" 'SELECT DISTINCT node FROM node_load')" = "$(uname -n)" ]
  /usr/bin/python3 - "$T/f.json" <<'X'
import json, sys, time
a, b = [json.loads(line) for line in open(sys.argv[1])][:2]
assert abs(a["timestamp"] - time.time()) < 60 and 0.9 < b["timestamp"] - a["timestamp"] < 30, (a, b)
assert list(a) == ["schema", "ProducerName", "timestamp", "values"] and a["values"], a
assert a["values"].keys() == b["values"].keys() and all(type(v) is int and v <= b["values"][k] for k, v in a["values"].items())
print(json.dumps({"job_id": 3, "rank": 0, "record_id": 5, "module": "POSIX", "op": "write", "ProducerName": b["ProducerName"],
                  "seg": [{"timestamp": b["timestamp"], "len": 77}]}), file=open(sys.argv[1] + ".job", "w"))
X
  "$IOSCRIBE" store --db "$T/db.sqlite" "$T/f.json.job"
  "$IOSCRIBE" query --db "$T/db.sqlite" --csv samples job=3 seconds=1 | grep -q ",$(uname -n),1,77,[a-z_]*,[0-9]"
}

@test "a store that comes late gets the newest sample; one that is gone is counted" {
  "$IOSCRIBE" publish --node 1 "json:unix:$T/in.sock" 2>"$T/err" 3>&- &
  local publisher=$! status=0
  until_true grep -q "in.sock: No such file or directory; it is tried again" "$T/err"
  sleep 1.2
  "$IOSCRIBE" store --db "$T/db.sqlite" "unix:$T/in.sock" 3>&- &
  local store=$!
  until_true samples 1
  kill -TERM "$publisher"
  wait "$publisher" || status=$?
  [ "$status" -eq 1 ]
  kill "$store" && wait "$store"
  grep -Eq '^ioscribe publish: [0-9]+ samples? (is|are) missing in json:unix:' "$T/err"
  [ "$(wc -l <"$T/err")" -eq 2 ]
}

@test "a sample of which a part is written is written to its end, and then the newest one" {
  local publisher
  printf '%1015s\n' '' >"$T/f.json"
  bash -c 'trap "" XFSZ; ulimit -S -f 1; exec "$@"' - "$IOSCRIBE" publish --node 1 "json:$T/f.json" 2>"$T/err" 3>&- &
  publisher=$!
  until_true grep -q "f.json: File too large; it is tried again" "$T/err"
  [ "$(stat -c %s "$T/f.json")" = 1024 ]
  sleep 1.1 # the next sample comes meanwhile
  prlimit --pid "$publisher" --fsize=1000000:
  until_true lines 3
  kill "$publisher"
  wait "$publisher" || true # some may be missing where the machine is slow
  /usr/bin/python3 -c 'import json, sys; [json.loads(line) for line in open(sys.argv[1]).readlines()[1:]]' "$T/f.json"
}

@test "a pipe whose reader is stopped: it ends all the same, and tells" {
  local publisher status=0
  mkfifo "$T/pipe"
  exec 5<>"$T/pipe"
  # full but for some bytes
  /usr/bin/python3 -c 'import fcntl, os; fcntl.fcntl(5, 1031, 4096); os.write(5, b"x" * 4000 + b"\n")'
  "$IOSCRIBE" publish --node 1 "json:$T/pipe" 2>"$T/err" 3>&- 5>&- &
  publisher=$!
  sleep 0.3
  kill -HUP "$publisher"
  wait "$publisher" || status=$?
  [ "$status" -eq 1 ]
  [ "$(wc -l <"$T/err")" -eq 1 ]
  grep -q 'missing in json:.*: it did not take them in time' "$T/err"
}
