#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What is rare, hostile or goes wrong.
load helper

cleanup() {
  if [ -n "${LEFT:-}" ]; then kill -KILL "$LEFT" 2>/dev/null || true; fi
}

@test "32-bit system calls are counted as such and never taken for others" {
  local untraced=0
  [ "$(uname -m)" = x86_64 ] || return 0
  "$PROG/int80" || untraced=$?
  rm f32
  trace "$PROG/int80"
  [ "$status" -eq "$untraced" ]
  one_log
  expect POSIX_OPENS 1 f32
  if [ "$untraced" -eq 38 ]; then # this kernel takes none: nothing is made of what it refused
    expect POSIX_WRITES 0 f32
    expect LEDGER_COMPAT_SYSCALL 0
    return
  fi
  [ "$untraced" -eq 0 ]
  expect POSIX_WRITES 1 f32
  expect POSIX_BYTES_WRITTEN 7 f32
  expect POSIX_EXT_CLOSES 0 f32
  [ "$(counter LEDGER_COMPAT_SYSCALL)" -ge 10 ]
}

@test "buffers not aligned in memory" {
  trace "$PROG/aligned"
  [ "$status" -eq 0 ]
  one_log
  expect POSIX_MEM_NOT_ALIGNED 4 aligned
  expect POSIX_MEM_ALIGNMENT 8 aligned
  expect POSIX_FILE_ALIGNMENT "$(stat -f -c %S .)" aligned
}

@test "a walk over excluded folders uses up nothing" {
  trace sh -c 'cd /usr && find . -size +1k >/dev/null; cd "$OLDPWD"; echo x > after'
  [ "$status" -eq 0 ]
  one_log
  expect POSIX_BYTES_WRITTEN 2 after
  expect LEDGER_SLOT_INDEX_FULL 0
  expect LEDGER_OVERFLOWED_FILES 0
}

@test "names with spaces, tabs, other alphabets; very long; very deep" {
  cat >"$T/names.sh" <<'X'
echo 1 > "a b  c"; echo 22 > "ünï"; printf 333 > "$(printf 'tab\tin')"
echo 4444 > "$(printf 'l%.0s' $(seq 1 250))"
mkdir x; echo 55555 > ./x/.././/y; stat x/../y >/dev/null
d=.; for i in $(seq 1 55); do d=$d/folder-of-a-deep-tree-$i; done; mkdir -p "$d"; cd "$d"; echo 666666 > deep
X
  trace sh "$T/names.sh"
  [ "$status" -eq 0 ]
  one_log
  expect POSIX_BYTES_WRITTEN 2 '/w/a b  c$'
  expect POSIX_BYTES_WRITTEN 3 '/w/ünï$'
  expect POSIX_BYTES_WRITTEN 5 '/w/l+$'
  expect POSIX_BYTES_WRITTEN 6 '/w/y$'
  expect POSIX_STATS 1 '/w/y$'
  expect POSIX_BYTES_WRITTEN 7 '/folder-of-a-deep-tree-55/deep$'
  expect LEDGER_NAME_CUT 0
}

@test "chroot: names are those that the process sees" {
  mkdir -p root/bin
  cp "$PROG/static_io" root/bin/
  trace chroot root /bin/static_io
  [ "$status" -eq 0 ]
  one_log
  expect POSIX_BYTES_WRITTEN 7000 '^/static$'
}

@test "what cannot load our libraries is executed without them, by each call; the look at it is not the program's" {
  local how file
  mkdir -p root/bin
  cp "$PROG/preloads" same
  cp same other
  printf '\001' | dd of=other bs=1 seek=4 conv=notrunc status=none # the class of 32 bits, which the kernel does not ask for
  printf '#!%s\n' "$PWD/other" >script
  chmod +x script
  for file in same other script; do
    for how in execl execle execlp execv execve execvp execvpe fexecve posix_spawn posix_spawnp v:execv v:execlp; do
      [ $how$file = fexecvescript ] || echo "'$PROG/preloads' $how $PWD/$file"
    done
  done >each
  for how in execlp execvp execvpe posix_spawnp; do echo "PATH=/nowhere:$PWD:/bin '$PROG/preloads' $how other"; done >>each
  for file in same $(ldd same | grep -o '/[^ )]*'); do
    mkdir -p "root/$(dirname "$file")"
    cp -L "$file" "root/$file"
  done
  echo "chroot root /same print" >>each
  trace sh each
  [ "$status" -eq 0 ]
  one_log
  [ "$(grep -c '/libioscribe-inside.so:.*/libioscribe.so$' <<<"$output")" -eq 12 ] # same
  [ "$(grep -cx none <<<"$output")" -eq 28 ]                                         # other, script, PATH, chroot
  [ "${#lines[@]}" -eq 40 ]
  [ -z "$(grep -E $'^(POSIX|STDIO)[^\t]*\t.*/w/(same|other|script|root/)' "$T/parsed")" ] || { cat "$T/parsed"; false; }
  trace "$PWD/other" print
  [ "$output" = none ]
}

@test "two runs at once do not see each other" {
  "$IOSCRIBE" run --quiet --force --log "$T/other" -- sh -c 'for i in $(seq 1 300); do echo 2 >> two; done' 3>&- &
  local other=$!
  trace sh -c 'for i in $(seq 1 300); do echo 11 >> one; done'
  wait "$other"
  expect POSIX_WRITES 300 /one
  expect POSIX_BYTES_WRITTEN 900 /one
  expect POSIX_WRITES 0 /two
  LOG=$T/other
  expect POSIX_WRITES 300 /two
  expect POSIX_WRITES 0 /one
}

@test "under sudo the command and the log belong to the invoking user" {
  chmod 777 "$T" "$T/w"
  SUDO_UID=65534 SUDO_GID=65534 SUDO_USER=nobody trace sh -c 'id -u; id -g; id -G; echo hi > mine'
  [ "$status" -eq 0 ]
  [ "${lines[0]} ${lines[1]} ${lines[2]}" = "65534 65534 65534" ]
  [ "$(stat -c '%u %a' "$LOG")" = "65534 400" ]
  expect POSIX_BYTES_WRITTEN 3 mine
}

@test "an environment of two megabytes: the rank at its end is found" {
  local i
  for i in $(seq 1 15); do export "V$i=$(head -c 120000 /dev/zero | tr '\0' x)"; done
  export Z_LAST=1 PMI_RANK=3 PMI_SIZE=8
  trace sh -c 'echo hi > ranked'
  unset PMI_RANK PMI_SIZE
  [ "$status" -eq 0 ]
  "$IOSCRIBE" parse "$LOG" | awk -F '\t' '$4 == "POSIX_WRITES" && $6 ~ /ranked/ && $2 == 3 { ok = 1 } END { exit !ok }'
  expect LEDGER_ENV_LOST 0
}

@test "ioscribe run is killed: the command goes on, the daemon writes the log" {
  "$IOSCRIBE" run --quiet --force --log "$LOG" -- sh -c 'echo 1 > rk; sleep 1.5; echo 22 >> rk' 3>&- &
  local run=$! i
  for i in $(seq 1 50); do [ -s rk ] && break; sleep 0.1; done
  kill -KILL "$run"
  wait "$run" || true
  for i in $(seq 1 80); do [ -e "$LOG" ] && break; sleep 0.1; done
  [ "$(cat rk)" = "$(printf '1\n22')" ]
  one_log
  expect POSIX_BYTES_WRITTEN 5 rk
}

@test "the daemon is killed: the command is unharmed, its code comes through, nothing stays" {
  "$IOSCRIBE" run --force --log "$LOG" -- sh -c 'echo 1 > dk; sleep 1.5; echo 2 >> dk; exit 4' 2>"$T/err" 3>&- &
  local run=$! i daemon before
  before=$(ls -d /run/ioscribe-* 2>/dev/null | wc -l)
  for i in $(seq 1 50); do [ -s dk ] && break; sleep 0.1; done
  daemon=$(pgrep -x ioscribed -P "$run" | head -n 1)
  [ -n "$daemon" ]
  before=$(ls -d /run/ioscribe-* 2>/dev/null | wc -l)
  kill -KILL "$daemon"
  local code=0
  wait "$run" || code=$?
  cat "$T/err"
  [ "$code" -eq 4 ]
  [ "$(cat dk)" = "$(printf '1\n2')" ]
  [ "$(wc -l <"$T/err")" -eq 1 ]
  [ "$(ls -d /run/ioscribe-* 2>/dev/null | wc -l)" -lt "$before" ]
}

@test "times lie within the run, starts before ends" {
  trace sh -c 'for i in 1 2 3; do head -c 300000 /dev/zero > t$i; cat t$i > u$i; sync t$i; done'
  [ "$status" -eq 0 ]
  "$IOSCRIBE" parse --base "$LOG" | awk -F '\t' '
    /^# run time:/ { sub(/.*: */, ""); run = $0 + 0.001 }
    $1 == "POSIX" && $4 ~ /_F_.*TIMESTAMP$/ { if ($5 < 0 || $5 > run) { print "outside:", $0; bad = 1 }
      t[$3, $4] = $5; id[$3] = 1 }
    $1 == "POSIX" && $4 ~ /_F_(READ|WRITE|META)_TIME$/ && ($5 < 0 || $5 > run) { print "too long:", $0; bad = 1 }
    END { for (i in id) { n = split("OPEN READ WRITE CLOSE", what, " ")
        for (k = 1; k <= n; k++) if (t[i, "POSIX_F_" what[k] "_START_TIMESTAMP"] > t[i, "POSIX_F_" what[k] "_END_TIMESTAMP"]) { print "order:", i, what[k]; bad = 1 } }
      exit bad || run < 0.002 }'
}

@test "paths through links that are switched, moved and removed at once mean what they meant" {
  trace "$PROG/links_switched"
  [ "$status" -eq 0 ]
  one_log
  expect POSIX_STATS 300 a/f
  expect POSIX_EXT_TRUNCATES 100 a/f
  expect POSIX_EXT_ACCESSES 0 a/f
  expect POSIX_STATS 200 b/f
  expect POSIX_EXT_TRUNCATES 200 b/f
  expect POSIX_EXT_ACCESSES 100 b/f
  expect POSIX_STATS 100 l/f
  expect POSIX_EXT_UNLINKS 100 l/f
  expect LEDGER_NAME_UNRESOLVED 0
}
