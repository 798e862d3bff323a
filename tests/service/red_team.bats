#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What a user can do to the node, or to another user, through the service: fork goes on, and the other's requests are
# answered within 200 ms. Further attacks: hostile.bats, hung.bats, libraries.bats, attempts.bats, quotas.bats, logdir.bats.
load helper

# worst forks|answers [COMMAND...]: begins to measure; `measured` ends it: MS of the worst, and N.
worst() {
  rm -f "$T/enough"
  # not how long it waits for a processor
  chrt -f 50 /usr/bin/python3 "$IOSCRIBE_SOURCE/tests/service/worst.py" "$1" "$T/enough" "${@:2}" >"$T/worst" 3>&- 4>&- &
  MEASURES=$!
  echo "$MEASURES" >>"$T/pids"
}

measured() {
  touch "$T/enough"
  wait "$MEASURES"
  read -r MS N <"$T/worst"
  echo "worst $MS ms of $N"
  [ "$N" -ge 20 ]
}

# hdf5_jobs: of nobody's, one after the other, each recorded with its HDF5.
hdf5_jobs() {
  local id log
  for id in 1 2 3 4 5; do
    job begin --job-id "$id" --uid 65534 --match-env "JOBX=$id"
    user env "JOBX=$id" IOSCRIBE_ENABLE=1 "$IOSCRIBE_BUILD/tests/uprobes/hdf5_chunks_serial" chunks.h5 >/dev/null 3>&-
    log=$(job end --job-id "$id" --deadline 30)
    [ "$(value "$log" H5D_OPENS)" -ge 1 ]
  done
}

# The service's libraries are probed: no link has come for a second.
all_probed() {
  local n
  n=$("$IOSCRIBE_SOURCE/tests/service/links.py" "$DAEMON" | grep -c scribe_lib)
  sleep 1
  [ "$n" -ge 4 ] && [ "$("$IOSCRIBE_SOURCE/tests/service/links.py" "$DAEMON" | grep -c scribe_lib)" -eq "$n" ]
}

# A page of its own is asked of a file system that does not answer, and a writer of the memory's lock waits behind that.
@test "a process that maps the site's libraries has its memory locked while jobs come and go: nobody's fork waits" {
  local library pid untraced
  library=$(ldconfig -p | awk '$1 == "libhdf5_serial.so.103" { print $NF; exit }')
  page_fs
  worst forks
  sleep 3
  measured
  untraced=$MS
  printf 'attach_at_begin = no\nattach_linger_ms = 0\n' >>"$IOSCRIBE_CONFIG"
  serve
  until_true all_probed
  USER_ID=60001 user env "LD_PRELOAD=$library" /usr/bin/python3 "$T/locked_memory.py" "$T/fs/page" "$T/logs/locked" >"$T/said" 3>&- 4>&- &
  until_true test -s "$T/logs/locked"
  pid=$(cat "$T/logs/locked")
  echo "$pid" >>"$T/pids"
  grep -q libhdf5_serial "/proc/$pid/maps"
  kill -STOP "$FS"
  rm "$T/logs/locked"
  until_true is_locked "$pid"
  worst forks
  hdf5_jobs
  is_locked "$pid"
  measured
  kill -KILL "$FS"
  # held, it was 700 ms and more
  [ "$MS" -le $((untraced + 100)) ]
}

@test "a mount namespace of 18,000 mounts, and 200 files mapped in it again and again: another user is answered" {
  serve
  mkdir "$T/many"
  chown 60001 "$T/many"
  job begin --job-id 1 --uid 60001 --match-env JOBX=1
  job begin --job-id 2 --uid 65534 --match-env JOBX=2
  echo 20000 >/proc/sys/fs/mount-max 2>/dev/null || true
  env JOBX=1 IOSCRIBE_ENABLE=1 unshare --mount /usr/bin/python3 "$IOSCRIBE_SOURCE/tests/service/many_mounts.py" \
    "$T/many" 18000 200 "$T/stop" >"$T/said" 3>&- 4>&- &
  local mounts=$!
  echo "$mounts" >>"$T/pids"
  until_true grep -q mounted "$T/said"
  worst answers setpriv --reuid=65534 --regid=65534 --clear-groups "$IOSCRIBE" job list
  sleep 5
  measured
  touch "$T/stop"
  wait "$mounts"
  [ "$MS" -le 200 ]
}

@test "a user who stops each of his helpers as it begins: another user's jobs begin, are shown and end" {
  local id begun ms worst=0
  serve
  USER_ID=60001 user bash -c 'echo $$ >>"$1"; while [ ! -e "$2" ]; do pkill -STOP -u 60001 -x ioscribe-helper; sleep 0.002; done' \
    - "$T/logs/stops" "$T/enough" >/dev/null 2>&1 3>&- 4>&- &
  until_true test -s "$T/logs/stops"
  cat "$T/logs/stops" >>"$T/pids"
  worst answers setpriv --reuid=65534 --regid=65534 --clear-groups "$IOSCRIBE" job list
  for id in $(seq 10); do
    job begin --job-id "$id" --uid 60001 --match-env "JOBX=$id"
    USER_ID=60001 user env "JOBX=$id" IOSCRIBE_ENABLE=1 sh -c 'ln -s a "$0.$1"; cat "$0.$1"; exit 0' "$T/logs/link" "$id" >/dev/null 2>&1 3>&-
    begun=$(date +%s%N)
    job begin --job-id "o$id" --uid 65534 --match-env "JOBX=o$id"
    ms=$((($(date +%s%N) - begun) / 1000000))
    [ "$ms" -le "$worst" ] || worst=$ms
    user env "JOBX=o$id" IOSCRIBE_ENABLE=1 sh -c 'echo >a'
    job end --job-id "o$id" --deadline 30 | grep -q darshan
    job end --job-id "$id" >/dev/null
  done
  measured
  echo "worst begin $worst ms"
  # those that were stopped are not left behind
  until_true sh -c '! pgrep -u 60001 -x ioscribe-helper'
  [ "$MS" -le 200 ]
  [ "$worst" -le 200 ]
}

@test "an exec that its user makes last as long as he likes: another user is answered, and his run is whole" {
  local fs slow
  cp "$BATS_TEST_DIRNAME/slow_exec.py" "$T"
  mkdir "$T/fs"
  /usr/bin/python3 "$BATS_TEST_DIRNAME/dirty_fs.py" "$T/fs" 3>&- &
  fs=$!
  echo "$fs" >>"$T/pids"
  until_true mountpoint -q "$T/fs"
  serve
  USER_ID=60001 user python3 "$T/slow_exec.py" "$T/fs/page" "$IOSCRIBE_DIR/socket" "$T/go" >"$T/says" 3>&- &
  slow=$!
  until_true grep -q dirty "$T/says"
  kill -STOP "$fs"
  worst answers setpriv --reuid=65534 --regid=65534 --clear-groups "$IOSCRIBE" job list
  touch "$T/go"
  sleep 1
  user timeout -s KILL 20 "$IOSCRIBE" run --quiet --log "$T/w/run.darshan" sh -c 'echo x >a'
  sleep 2
  # before anything looks at the process: what does waits
  kill -KILL "$fs"
  measured
  wait "$slow"
  [ "$(value "$T/w/run.darshan" POSIX_BYTES_WRITTEN '/a$')" = 2 ]
  ! grep 'not on its list' "$IOSCRIBE_DIR/log" || return 1
  [ "$MS" -le 200 ]
}
