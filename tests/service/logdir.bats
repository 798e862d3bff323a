#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Directories of logs: made with safe modes, and what becomes of a log whose place
# is missing, full, read-only or hangs: one finished log, in the spool, then in its
# place; the job's end waits for none of it.
load helper

# place NAME: a file system of its own at $T/NAME, in a file: it can be frozen.
place() {
  mkdir -p "$T/$1"
  truncate -s 8M "$T/$1.image"
  mkfs.ext4 -q -F "$T/$1.image"
  mount -o loop "$T/$1.image" "$T/$1"
  chmod "${2:-755}" "$T/$1"
  echo "$T/$1" >>"$T/mounted"
}

# Fill it to the last byte.
fill() {
  dd if=/dev/zero of="$1/fill" bs=64k 2>/dev/null || true
  dd if=/dev/zero of="$1/fill" bs=512 oflag=append conv=notrunc 2>/dev/null || true
}

# All of them work again: thawed, writable, with room.
mend() {
  local at
  while read -r at; do
    fsfreeze -u "$at" 2>/dev/null || true
    mount -o remount,rw "$at" 2>/dev/null || true
    rm -f "$at/fill"
  done <"$T/mounted"
}

# A daemon whose logs go to this place.
serve_place() {
  sed -i "s|^log_dir.*|log_dir = $T/$1|; s|^log_layout.*|log_layout = dated|" "$IOSCRIBE_CONFIG"
  echo 'write_deadline_ms = 1000' >>"$IOSCRIBE_CONFIG"
  serve
}

# Helpers that hung end first, then the daemon, then the mounts.
teardown() {
  local pid at
  if [ -e "$T/mounted" ]; then
    mend
    pid=$(cat "$IOSCRIBE_DIR/pid" 2>/dev/null || true)
    [ -z "$pid" ] || { kill -INT "$pid"; gone "$pid"; }
    while read -r at; do
      ! mountpoint -q "$at" || until_true umount "$at"
    done <"$T/mounted"
  fi
  helper_teardown
}

logs() {
  [ ! -d "$1" ] || find "$1" -name '*.darshan' -type f
}

# job_of ID [KEY=VALUE...]: a job that writes 7000 bytes, says "out", and fails with 3.
job_of() {
  local id=$1
  shift
  job begin --job-id "$id" --uid 65534 --match-env "JOBX=$id" "$@"
  [ "$(user env "JOBX=$id" IOSCRIBE_ENABLE=1 \
    sh -c 'dd if=/dev/zero of=data.$JOBX bs=7000 count=1 2>/dev/null; echo out; exit 3'; echo $?)" = "out
3" ]
}

# finished ID DIR...: there is one finished log of the job, whole, and it is in DIR.
finished() {
  local id=$1 log
  log=$(find "${@:2}" -name "*_id$id-*.darshan" -type f 2>/dev/null)
  [ -n "$log" ] || log=$(grep -ls "_id$id-" "$T"/spool/*/*.to | sed 's/\.to$//')
  [ "$(wc -l <<<"$log")" -eq 1 ] && [ -f "$log" ] || { echo "not one log of $id: $log"; return 1; }
  [ "$(stat -c %a "$log")" = 400 ]
  [ "$(value "$log" POSIX_BYTES_WRITTEN "/data.$id\$")" = 7000 ]
}

@test "dated: year and month are root's alone, the day is shared; users cannot remove each other's logs" {
  place place
  serve_place place
  local id uid day
  for id in 1 2; do
    uid=$((65533 + id % 2))
    job begin --job-id "$id" --uid "$uid" --match-env "JOBX=$id"
    chown "$uid" "$T/w"
    USER_ID=$uid user env "JOBX=$id" IOSCRIBE_ENABLE=1 sh -c 'echo abc >"data.$JOBX"'
    job end "$id"
  done
  [ "$(logs "$T/place" | wc -l)" -eq 2 ]
  [ "$(logs "$T/place" | xargs dirname | sort -u | wc -l)" -eq 1 ]
  day=$(logs "$T/place" | head -n 1 | xargs dirname)
  [ "$(stat -c '%a %u' "$day" "${day%/*}" "${day%/*/*}" "$T/place" | xargs)" = "1777 0 755 0 755 0 755 0" ]
  [ "$(stat -c %u "$day"/* | sort | xargs)" = "65533 65534" ]
  USER_ID=65533 run_it user sh -c "rm -f '$day'/* ; rmdir '$day'; mv '${day%/*}' '$T/place/x'"
  [ "$(find "$day" -uid 65534 -type f | wc -l)" -eq 1 ]
}

@test "a directory of each user's own: made for the user alone" {
  place place 1777
  sed -i "s|^log_dir.*|log_dir = $T/place/%u|" "$IOSCRIBE_CONFIG"
  serve
  # another user stands in the way of user 1234
  install -d -o 4321 -m 777 "$T/place/1234"
  job begin --job-id 1 --uid 65534 --match-env JOBX=1
  user env JOBX=1 IOSCRIBE_ENABLE=1 sh -c 'echo abc >data.1'
  log=$(job end 1)
  [ "${log%/*}" = "$T/place/nobody" ]
  [ "$(stat -c '%a %u' "$T/place/nobody")" = "700 65534" ]
  job begin --job-id 2 --uid 1234 --match-env JOBX=2
  chmod 777 "$T/w"
  USER_ID=1234 user env JOBX=2 IOSCRIBE_ENABLE=1 sh -c 'echo abc >data.2'
  log=$(job end 2)
  [ "${log%/*}" = "$T/spool/1234" ]
  [ -z "$(ls "$T/place/1234")" ]
}

@test "missing, full, read-only, hung: one finished log in the spool, moved when the place works; nobody waits" {
  place missing
  place full
  place readonly
  place hung
  umount "$T/missing"
  rmdir "$T/missing"
  serve_place missing
  job_of 1
  job_of 2 "log_dir=$T/full"
  job_of 3 "log_dir=$T/readonly"
  job_of 4 "log_dir=$T/hung"
  job_of 5 "log_dir=$T/logs" log_layout=flat
  fill "$T/full"
  mount -o remount,ro "$T/readonly"
  fsfreeze -f "$T/hung"
  local id
  # an epilog has its two seconds, whatever hangs
  for id in 4 1 2 3; do
    "$IOSCRIBE" job end "$id" --timeout 2 >"$T/said" 2>&1 || true
  done
  # another place has its log at once
  log=$(job end 5)
  [ "${log%/*}" = "$T/logs" ]
  spooled() { [ "$(find "$T/spool/65534" -name '*.darshan' | wc -l)" -eq 4 ]; }
  until_true spooled
  for id in 1 2 3 4; do
    finished "$id" "$T/spool/65534"
  done
  # there they are root's alone, and their user is told of them; nobody else is
  user "$IOSCRIBE" job list >"$T/said"
  [ "$(grep -c "^waits in the spool: $T/spool/65534/[0-9a-f]*\.darshan for $T/.*\.darshan$" "$T/said")" -eq 4 ]
  run_it user flock --nonblock --shared "$(awk '/^waits/ { print $5; exit }' "$T/said")" true
  [[ "$output" == *"Permission denied" ]]
  [ "$("$IOSCRIBE" job list | grep -c "^waits in the spool: $T/spool/65534/")" -eq 4 ]
  USER_ID=4321 user "$IOSCRIBE" job list >"$T/said"
  ! grep waits "$T/said" || return 1
  [ ! -e "$T/missing" ]
  [ -z "$(logs "$T/full")$(logs "$T/readonly")" ]
  mkdir "$T/missing"
  mount -o loop "$T/missing.image" "$T/missing"
  mend
  emptied() { [ -z "$(find "$T/spool" -type f)" ]; }
  until_true emptied
  # what hung in the frozen place has woken: there is one log none the less
  for id in 1 2 3 4; do
    finished "$id" "$T/missing" "$T/full" "$T/readonly" "$T/hung"
  done
  for id in missing full readonly hung; do
    [ "$(logs "$T/$id" | wc -l)" -eq 1 ]
    [ "$(stat -c '%u' "$(logs "$T/$id")")" = 65534 ]
    [ "$(find "$T/$id" -type f ! -name '*.darshan' | wc -l)" -eq 0 ]
  done
}

@test "no place and no spool: the end says why, by name" {
  place place
  serve_place place
  mount -o remount,ro "$T/place"
  echo x >"$T/spool"
  job begin --job-id 7 --uid 65534 --match-env JOBX=7
  user env JOBX=7 IOSCRIBE_ENABLE=1 sh -c 'echo abc >data.7'
  run_it job end 7
  [[ "$output" == "ioscribe job: no log: cannot write $T/place/"*": Read-only file system"* ]]
  rm "$T/spool"
}

@test "a user's logs in the spool have a limit: beyond it a log is lost, and the end says both reasons" {
  place place
  echo 'user_spool_mib = 0' >>"$IOSCRIBE_CONFIG"
  serve_place place
  mount -o remount,ro "$T/place"
  job_of 2
  run_it job end 2
  [[ "$output" == "ioscribe job: no log: cannot write $T/place/"*": Read-only file system; user 65534 has 0 MiB of logs in the spool here already (user_spool_mib)"* ]]
  [ -z "$(find "$T/spool" -name '*.darshan')" ]
}

# run_broken BREAK: a private run whose place breaks meanwhile. Sets log.
run_broken() {
  printf 'write_deadline_ms = 1000\n' >>"$IOSCRIBE_CONFIG"
  run_it "$IOSCRIBE" run --private --config "$IOSCRIBE_CONFIG" --set "log_dir=$T/place" -- \
    bash -c "dd if=/dev/zero of=$T/w/data.9 bs=7000 count=1 2>/dev/null; $1; exit 5"
  [ "$status" -eq 5 ]
  log=$(sed -n 's|.*\(/tmp/[^ ]*\.darshan\).*|\1|p' <<<"$output")
  [ -f "$log" ]
  [ "$(value "$log" POSIX_BYTES_WRITTEN '/data.9$')" = 7000 ]
  rm -f "$log"
}

@test "a private run whose place becomes full, read-only, or hangs: the log is in /tmp, the exit code the command's" {
  place place 1777
  run_broken "$(declare -f fill); fill $T/place"
  mend
  run_broken "mount -o remount,ro $T/place"
  mend
  run_broken "fsfreeze -f $T/place"
  mend
  [ -z "$(logs "$T/place")" ]
}

@test "ranks are not sent to a place that hangs: MPI_Finalize ends, the log is the daemon's, in the spool" {
  place place
  serve_place place
  local prog=$IOSCRIBE_BUILD/tests/mpi/mpich/mpi_demo
  mpi_job() {
    job begin --job-id "$1" --uid 65534 --match-env "JOBX=$1" collective=yes
    user env "JOBX=$1" IOSCRIBE_ENABLE=1 "IOSCRIBE_SOCKET=$IOSCRIBE_DIR/socket" \
      "LD_PRELOAD=$T/libioscribe.so" timeout 120 mpiexec.mpich -n 2 "$T/mpi_demo" >/dev/null
  }
  # users cannot look into every folder that holds a build
  cp "$prog" "$IOSCRIBE_BUILD/runtime/client/libioscribe.so" "$T"
  chmod 755 "$T/mpi_demo" "$T/libioscribe.so"
  # the first job of a day: its directories are root's, the ranks write there together
  mpi_job 1
  log=$(job end 1 | grep mpi_demo)
  "$IOSCRIBE" parse "$log" | grep -qx '# metadata: finalize = collective'
  [ "$(stat -c '%a %u' "${log%/*}")" = "1777 0" ]
  fsfreeze -f "$T/place"
  mpi_job 2
  "$IOSCRIBE" job end 2 --timeout 2 >/dev/null 2>&1 || true
  spooled() { [ "$(grep -ls mpi_demo "$T"/spool/*/*.to | wc -l)" -eq 1 ]; }
  until_true spooled
  log=$(grep -ls mpi_demo "$T"/spool/*/*.to | sed 's/\.to$//')
  "$IOSCRIBE" parse "$log" | grep -qx '# nprocs: 2'
  "$IOSCRIBE" parse "$log" | grep -qx '# metadata: finalize = deferred'
}
