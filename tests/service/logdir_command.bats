#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# ioscribe logdir: what it makes, what it finds wrong, and that nobody leads it
# elsewhere.
load helper

logdir() {
  "$IOSCRIBE" logdir "$@"
}

# wrong TEXT ARGUMENT...: --check says this one line and exits with 1.
wrong() {
  local text=$1
  shift
  run_it logdir --check "$@"
  [ "$status" -eq 1 ]
  [ "$output" = "ioscribe logdir: $text" ]
}

modes() {
  stat -c '%a %u' "$@" | xargs
}

@test "dated: the directory, and every day of two years; leap years too" {
  logdir "$T/plain"
  [ "$(modes "$T/plain")" = "755 0" ]
  logdir --check "$T/plain"
  run_it logdir --years 5 "$T/d"
  [ "$status" -eq 0 ]
  local year=$(date +%Y) days=0 y
  for y in 0 1 2 3 4; do days=$((days + $(date -d "$((year + y))-12-31" +%-j))); done
  [ "$(find "$T/d" -mindepth 3 -type d -perm 1777 -user 0 | wc -l)" -eq "$days" ]
  [ "$(find "$T/d" -maxdepth 2 -type d -perm 755 -user 0 | wc -l)" -eq $((1 + 5 + 60)) ]
  [ "$output" = "$((1 + 5 + 60 + days)) directories made" ]
  [ "$(date -d "$year-02-01 +1 month -1 day" +%-d)" -eq "$(ls "$T/d/$year/2" | sort -n | tail -n 1)" ]
  logdir --check --years 5 "$T/d"
  user "$IOSCRIBE" logdir --check "$T/d"
  # again: nothing to do, what is in it stays
  user sh -c "echo x >$T/d/$year/1/1/kept"
  [ -z "$(logdir --years 5 "$T/d")" ]
  [ -s "$T/d/$year/1/1/kept" ]
}

@test "flat, and a directory for each user" {
  logdir --layout flat "$T/f"
  [ "$(modes "$T/f")" = "1777 0" ]
  logdir --check --layout flat "$T/f/"
  logdir --layout users "$T/open"
  [ "$(modes "$T/open")" = "1777 0" ]
  logdir --layout users --users games,news "$T/u"
  [ "$(modes "$T/u" "$T/u/games" "$T/u/news")" = "755 0 700 $(id -u games) 700 $(id -u news)" ]
  logdir --check --layout users --users games,news "$T/u"
  run_it logdir --layout users --users nobody-of-that-name "$T/u"
  [ "$status" -eq 1 ]
  [ "$output" = "ioscribe logdir: nobody-of-that-name: no such user" ]
}

@test "--check: what is wrong, in one line, and nothing is changed" {
  local y=$T/d/$(date +%Y)
  wrong "$T/d: missing: make it with ioscribe logdir" "$T/d"
  [ ! -e "$T/d" ]
  logdir --years 1 "$T/d"
  chmod 777 "$T/d"
  wrong "$T/d: mode 0777 lets every user remove the logs of others: chmod 0755" "$T/d"
  chmod 700 "$T/d"
  wrong "$T/d: mode 0700, users cannot get through: chmod 0755" "$T/d"
  chmod 755 "$T/d"
  chmod 755 "$y/1/1"
  wrong "$y/1/1: mode 0755, users cannot write there: chmod 1777" --years 1 "$T/d"
  chmod 777 "$y/1/1"
  wrong "$y/1/1: mode 0777 lets every user remove the logs of others: chmod 1777" --years 1 "$T/d"
  chmod 1777 "$y/1/1"
  chown 65534 "$y/1/1"
  wrong "$y/1/1: user 65534's instead of user 0's: who owns it can shut out others and remove their logs" --years 1 "$T/d"
  chown 0 "$y/1/1"
  rmdir "$y/1/1"
  ln -s / "$y/1/1"
  wrong "$y/1/1: a symbolic link: name the directory itself" --years 1 "$T/d"
  rm "$y/1/1"
  echo >"$y/1/1"
  wrong "$y/1/1: not a directory: move it away" --years 1 "$T/d"
  rm "$y/1/1"
  wrong "$y/1/1: missing: make it with ioscribe logdir" --years 1 "$T/d"
  ln -s d "$T/link"
  wrong "$T/link: a symbolic link: name the directory itself" "$T/link"
  mkdir -m 777 "$T/any"
  run_it logdir --layout flat "$T/any/logs"
  [ "$status" -eq 1 ]
  wrong "$T/any: mode 0777, any user can put another directory in the place of $T/any/logs" --layout flat "$T/any/logs"
  chmod 700 "$T/any"
  wrong "$T/any: mode 0700, users cannot get through: chmod o+x" --layout flat "$T/any/logs"
  chmod 755 "$T/any"
  chown 65534 "$T/any"
  wrong "$T/any: user 65534's, who can put another directory in the place of $T/any/logs" --layout flat "$T/any/logs"
}

@test "--check: a file system that is read-only, full, or out of files" {
  mkdir "$T/m"
  mount -t tmpfs -o size=64m,nr_inodes=2000,mode=755 tmpfs "$T/m"
  logdir --check "$T/m"
  mount -o remount,ro "$T/m"
  run_it logdir --check "$T/m"
  read_only=$output
  mount -o remount,rw "$T/m"
  dd if=/dev/zero of="$T/m/fill" bs=1M count=60 2>/dev/null
  run_it logdir --check "$T/m"
  full=$output
  rm "$T/m/fill"
  mkdir "$T/m/n"
  (cd "$T/m/n" && seq 1500 | xargs touch)
  run_it logdir --check "$T/m"
  umount "$T/m"
  [ "$read_only" = "ioscribe logdir: $T/m: its file system is mounted read-only" ]
  [ "$full" = "ioscribe logdir: $T/m: its file system is full: 4096 KiB left for users" ]
  [[ "$output" == "ioscribe logdir: $T/m: its file system has only "*" files left" ]]
}

@test "what is another's is left alone and named; what is ours is put right" {
  install -d -o 65534 -m 700 "$T/theirs"
  run_it logdir --layout flat "$T/theirs"
  [ "$status" -eq 1 ]
  [[ "$output" == *"$T/theirs: user 65534's instead of user 0's"* ]]
  [ "$(modes "$T/theirs")" = "700 65534" ]
  mkdir -m 700 "$T/ours"
  logdir --layout flat "$T/ours"
  [ "$(modes "$T/ours")" = "1777 0" ]
}

@test "a user who swaps a directory for a link meanwhile gains nothing" {
  mkdir -m 755 "$T/victim"
  mkdir -m 1777 "$T/race"
  user bash -c "cd $T/race; while [ ! -e $T/stop ]; do mkdir d; mkdir d/x; rmdir d/x d; ln -s $T/victim d; rm d; done" 2>/dev/null 3>&- &
  started=($!)
  local i
  for i in $(seq 200); do
    ! logdir "$T/race/d" >/dev/null 2>&1 || rm -rf "$T/race/d"
  done
  : >"$T/stop"
  wait "${started[0]}" || true
  started=()
  [ "$(modes "$T/victim")" = "755 0" ]
  [ -z "$(ls "$T/victim")" ]
}

@test "wrong words" {
  local case
  for case in "--layout deep|--layout deep: none of flat, dated, users" "--years many|--years many is not a number from 0 to 20" \
    "logs|logs: an absolute path other than / is expected" "/|/: an absolute path other than / is expected" \
    "--users games $T/x|--years belongs to --layout dated, --users to --layout users"; do
    # shellcheck disable=SC2086 # an option and its value
    run_it "$IOSCRIBE" logdir ${case%|*}
    [ "$status" -eq 2 ]
    [[ "$output" == "ioscribe logdir: ${case#*|}"* ]]
  done
  [ ! -e "$T/x" ]
}
