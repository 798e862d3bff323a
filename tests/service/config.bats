#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Configuration files, ours and Darshan's, Darshan's environment, and that every
# key is documented.
load helper

darshan_file() {
  cat >"$T/darshan.conf" <<'E'
# a file as Darshan's users have it
MAX_RECORDS     5000      POSIX
MODMEM  8
NAMEMEM 2
NAME_EXCLUDE    \.secret$,^/zzz   *
NAME_INCLUDE    keep\.secret$     *
NAME_EXCLUDE    plain             STDIO
MOD_DISABLE     STDIO,H5F
APP_EXCLUDE     ^cp$,/none$
RANK_EXCLUDE    1:
RANK_INCLUDE    3
JOBID           PBS_JOBID
LOGHINTS        romio_no_indep_rw=true;cb_nodes=4
MEM_ALIGNMENT   64
DUMP_CONFIG
E
}

work='echo a >a.secret; echo bb >keep.secret; echo ccc >plain; cp plain copy; cat plain >other'

@test "--check-config: what is wrong, with file and line" {
  run_it "$IOSCRIBED" --check-config "$IOSCRIBE_CONFIG"
  [ "$status" -eq 0 ]
  darshan_file
  run_it "$IOSCRIBED" --check-config "$T/darshan.conf"
  [ "$status" -eq 0 ]
  local line
  while IFS='|' read -r line want; do
    printf '# x\n%s\n' "$line" >"$T/bad.conf"
    run_it "$IOSCRIBED" --check-config "$T/bad.conf"
    [ "$status" -eq 1 ]
    [ "$output" = "ioscribed: $T/bad.conf, line 2: $want" ]
  done <<'E'
colour = red|unknown key 'colour'
COLOUR red|'COLOUR red' is not key = value
records = 3|records: '3' is not a number from 16 to 16777216
MODMEM lots|MODMEM: 'lots' is not a number above 0
NAME_EXCLUDE [a *|'[a' is no extended regular expression: Unmatched [, [^, [:, [., or [=
NAME_EXCLUDE a.* POSIX,FOO|no module 'FOO'
MOD_DISABLE FOO|no module 'FOO'
RANK_EXCLUDE 1-3|'1-3' is no rank or range of ranks
LOGPATH here|log_dir: 'here' is not an absolute path
E
  run_it "$IOSCRIBED" --check-config "$T/none"
  [ "$status" -eq 1 ]
  [ "$output" = "ioscribed: cannot open $T/none: No such file or directory" ]
}

@test "a Darshan file: names, programs, alignment, hints" {
  darshan_file
  "$IOSCRIBE" run -q --private --config "$T/darshan.conf" --force --log "$T/logs/a.darshan" -- sh -c "$work"
  [ "$(value "$T/logs/a.darshan" POSIX_BYTES_WRITTEN '/a\.secret$')" = 0 ]
  [ "$(value "$T/logs/a.darshan" POSIX_OPENS '/(a\.secret|copy)$')" = 0 ]
  [ "$(value "$T/logs/a.darshan" POSIX_BYTES_WRITTEN '/keep\.secret$')" = 3 ]
  [ "$(value "$T/logs/a.darshan" POSIX_BYTES_WRITTEN '/plain$')" = 4 ]
  [ "$(value "$T/logs/a.darshan" POSIX_BYTES_WRITTEN '/other$')" = 4 ]
  [ "$(value "$T/logs/a.darshan" POSIX_MEM_ALIGNMENT '/plain$')" = 64 ]
  "$IOSCRIBE" parse "$T/logs/a.darshan" | grep -x '# metadata: h = romio_no_indep_rw=true;cb_nodes=4'
}

@test "Darshan's environment wins over its file; malformed values are as not set" {
  darshan_file
  DARSHAN_JOBID=MYJOB MYJOB=4711 DARSHAN_MODMEM=junk DARSHAN_MEMALIGN=128 DARSHAN_EXCLUDE_DIRS=$T/w/no \
    DARSHAN_APP_EXCLUDE='(' DARSHAN_NAME_EXCLUDE='other$' DARSHAN_LOGPATH=$T/logs \
    "$IOSCRIBE" run -q --private --config "$T/darshan.conf" -- sh -c "mkdir no; echo x >no/x; $work"
  log=$(find "$T/logs" -name '*.darshan')
  [[ "$log" =~ /logs/[0-9]{4}/[0-9]{1,2}/[0-9]{1,2}/root_sh_id4711- ]]
  "$IOSCRIBE" parse "$log" | grep -x '# jobid: 4711'
  [ "$(value "$log" POSIX_MEM_ALIGNMENT '/plain$')" = 128 ]
  [ "$(value "$log" POSIX_OPENS '/no/x$')" = 0 ]
  [ "$(value "$log" POSIX_OPENS '/other$')" = 0 ]
  [ "$(value "$log" POSIX_BYTES_WRITTEN '/plain$')" = 4 ]
}

# Without MPI as Darshan 3.5.0 does it (a build without MPI, side by side): the process is rank 0, and the log is
# written whatever is left out.
@test "a module can be left out; ranks are left out, and who is of no MPI world is rank 0" {
  local ranks there
  while read -r ranks there; do
    echo "$ranks"
    (set -f; "$IOSCRIBE" run -q --private --force --dxt --log "$T/logs/r.darshan" $(printf -- '--set %s ' ${ranks//,/ }) -- \
      sh -c "$work")
    [ "$(value "$T/logs/r.darshan" POSIX_BYTES_WRITTEN '/plain$')" = $((4 * there)) ]
    [ "$("$IOSCRIBE" dxt "$T/logs/r.darshan" | grep -c '/plain$')" -eq "$there" ]
  done <<'X'
RANK_EXCLUDE=0 0
RANK_EXCLUDE=1: 1
RANK_EXCLUDE=: 0
RANK_EXCLUDE=0: 0
RANK_EXCLUDE=*,RANK_INCLUDE=0 1
RANK_EXCLUDE=* 0
X
  DARSHAN_RANK_EXCLUDE=1: DARSHAN_RANK_INCLUDE=3 "$IOSCRIBE" run -q --private --no-runtime --force --log "$T/logs/m.darshan" -- \
    sh -c 'for r in 0 1 2 3; do PMI_RANK=$r PMI_SIZE=4 PMI_JOBID=x dd if=/dev/zero of=rank.$r bs=10 count=1 2>/dev/null; done'
  for r in 0 3; do [ "$(value "$T/logs/m.darshan" POSIX_BYTES_WRITTEN "/rank.$r\$")" = 10 ]; done
  for r in 1 2; do [ "$(value "$T/logs/m.darshan" POSIX_OPENS "/rank.$r\$")" = 0 ]; done
  DARSHAN_MOD_DISABLE=POSIX "$IOSCRIBE" run -q --private --force --log "$T/logs/n.darshan" -- sh -c "$work"
  [ "$(value "$T/logs/n.darshan" POSIX_OPENS)" = 0 ]
  [ -s "$T/logs/n.darshan" ]
}

@test "keys of one job of a service, and of the service's file" {
  printf 'NAME_EXCLUDE \\.out$ POSIX\n' >>"$IOSCRIBE_CONFIG"
  serve
  job begin --job-id 51 --uid 65534 --match-env JOBX=51 'NAME_EXCLUDE=\.tmp$'
  job begin --job-id 52 --uid 65534 --match-env JOBX=52 mem_alignment=256
  for id in 51 52; do
    user env "JOBX=$id" IOSCRIBE_ENABLE=1 sh -c 'for n in a.out a.tmp a.dat; do echo xyz >$JOBX.$n; done'
  done
  one=$(job end 51)
  two=$(job end 52)
  [ "$(value "$one" POSIX_OPENS '/51\.a\.(out|tmp)$')" = 0 ]
  [ "$(value "$one" POSIX_BYTES_WRITTEN '/51\.a\.dat$')" = 4 ]
  [ "$(value "$two" POSIX_OPENS '/52\.a\.out$')" = 0 ]
  [ "$(value "$two" POSIX_BYTES_WRITTEN '/52\.a\.(tmp|dat)$')" = 8 ]
  [ "$(value "$two" POSIX_MEM_ALIGNMENT '/52\.a\.dat$')" = 256 ]
}

@test "docs/config.md says of each key its default, its range, whose it is, and who sets it when" {
  local key default range whose row n=0
  while IFS='|' read -r key default range whose; do
    [ "$key" != job_number ] && [ "$key" != library ] || continue # told in words
    row=$(grep -F "| \`$key\` |" "$IOSCRIBE_SOURCE/docs/config.md") || { echo "no row: $key"; return 1; }
    default=$(xargs <<<"$default")
    [ -z "$default" ] || [ "$(cut -d'|' -f3 <<<"$row" | sed 's/[;:].*//' | xargs)" = "$default" ] || { echo "default $default: $row"; return 1; }
    cut -d'|' -f4 <<<"$row" | sed 's/2^30/1073741824/' | grep -qF "$range" || { echo "range $range: $row"; return 1; }
    [ -z "$whose" ] || grep -qF '*site*' <<<"$row" || { echo "site's: $row"; return 1; }
    cut -d'|' -f5 <<<"$row" | grep -qE '^ (site|user|site, user|tests|developers)[:;] *[^ ]' || { echo "set by nobody: $row"; return 1; }
    [ -n "$whose" ] || ! grep -qF '*site*' <<<"$row" || { echo "not the site's: $row"; return 1; }
    n=$((n + 1))
  done < <("$IOSCRIBED" --list-keys | tr '\t' '|')
  [ "$n" -gt 25 ]
}

@test "the manual page of the configuration is that of docs/config.md, and valid" {
  diff "$IOSCRIBE_SOURCE/docs/man/ioscribed.conf.5" <("$IOSCRIBE_SOURCE/scripts/man-config")
  [ -z "$(LC_ALL=C.UTF-8 MANROFFSEQ= MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z \
    "$IOSCRIBE_SOURCE/docs/man/ioscribed.conf.5" 2>&1 >/dev/null)" ]
}

@test "every key of ours and of Darshan's is in docs/config.md" {
  local key n=0
  for key in $(sed -n 's/^\t{"\([A-Za-z_]*\)", [A-Z_]*, .*/\1/p' "$IOSCRIBE_SOURCE"/runtime/daemon/config/*.c); do
    grep -qF "\`$key\`" "$IOSCRIBE_SOURCE/docs/config.md" || { echo "not documented: $key"; return 1; }
    n=$((n + 1))
  done
  [ "$n" -gt 50 ]
}

@test "a comment behind a value; and --config with a path from where one stands" {
  printf 'log_dir = %s/logs   # where all nodes see it\nlog_layout=flat\t# no days\nexclude = /a#b\nspool_dir = %s/spool #\nrecords = 5000\n' \
    "$T" "$T" >"$T/w/own.conf"
  run_it "$IOSCRIBED" --check-config own.conf
  [ "$status" -eq 0 ]
  unset IOSCRIBE_CONFIG
  cd "$T/w"
  "$IOSCRIBE" job begin --job-id 1 --uid 65534 --match-env JOBX=1 --below $$ --config own.conf --timeout 60
  "$IOSCRIBE" job show 1 --timeout 60 | grep -x "log_dir=$T/logs"
  "$IOSCRIBE" job end 1 --timeout 60
  "$IOSCRIBE" run --config own.conf --private -- true 2>"$T/said"
  grep "^ioscribe: log $T/logs/" "$T/said"
}

@test "bad options of ioscribed: unknown, ambiguous, without their argument: exit 2, and the option's name" {
  local words
  while IFS='|' read -r words said; do
    run_it "$IOSCRIBED" $words
    [ "$status" -eq 2 ]
    [ "$output" = "ioscribed: $said; see ioscribed --help" ]
  done <<'END'
--bogus|unknown option '--bogus'
-z|unknown option '-z'
--service --dir|option '--dir' needs an argument
--service --config|option '--config' needs an argument
--private --fd|option '--fd' needs an argument
--private --fd x|--fd 'x' is no descriptor
--s|option '--s' is ambiguous
--service --p|option '--p' is ambiguous
--stay=3|unknown option '--stay=3'
--service more|unexpected argument 'more'
END
  # its every option is one of the page's and of --help's
  for words in $("$IOSCRIBED" --help | grep -oE -- '--[a-z-]+' | sort -u); do
    grep -qF -- "${words//-/\\-}" "$IOSCRIBE_SOURCE/docs/man/ioscribed.8"
  done
}

@test "keys by their names of before: accepted everywhere, and one line says so, never one of the traced program's" {
  local old='old names of keys, which the next version refuses' n
  run_it "$IOSCRIBED" --check-config "$IOSCRIBE_CONFIG"
  [ -z "$output" ]
  printf 'grace_ms = 1500\nlibraries = none\n' >>"$IOSCRIBE_CONFIG"
  run_it "$IOSCRIBED" --check-config "$IOSCRIBE_CONFIG"
  [ "$status" -eq 0 ]
  [ "$output" = "ioscribed: $old: grace_ms (now exit_grace_ms), libraries (now trace_libraries)" ]
  # a service: its file and its environment; a job's keys; what a job's programs have
  IOSCRIBE_SILENT_MS=9000 serve
  grep -x "ioscribed: $old: grace_ms (now exit_grace_ms), silent_ms (now client_idle_timeout_ms), libraries (now trace_libraries)" \
    "$IOSCRIBE_DIR/log"
  run_it "$IOSCRIBE" job begin --job-id 7 --uid 65534 --match-env JOBX=7 --timeout 60 listed_processes=5
  [ "$output" = "ioscribe job: $old: listed_processes (now max_listed_processes)" ]
  for n in 1 2; do
    user env JOBX=7 IOSCRIBE_ENABLE=1 IOSCRIBE_DEADLINE_MS=4000 IOSCRIBE_ATTACH=auto sh -c "echo x >a.$n" >"$T/said" 2>&1
    [ ! -s "$T/said" ]
  done
  [ "$(value "$(job end 7)" POSIX_BYTES_WRITTEN '/a\.[12]$')" = 4 ]
  [ "$(grep -c 'old names of keys' "$IOSCRIBE_DIR/log")" = 3 ]
  grep -xE 'ioscribed: old names of keys, uid 0 pid [0-9]+: listed_processes \(now max_listed_processes\)' "$IOSCRIBE_DIR/log"
  grep -xE 'ioscribed: old names of keys in the environment, uid 65534: deadline_ms \(now finalize_timeout_ms\)' "$IOSCRIBE_DIR/log"
}

@test "ioscribe run says it once for --set, --config and its environment, and not with --quiet" {
  echo 'grace_ms = 1500' >"$T/one.conf"
  IOSCRIBE_LISTED_PROCESSES=5 "$IOSCRIBE" run --private --config "$T/one.conf" --set deadline_ms=7 --force --log "$T/logs/a.darshan" -- \
    sh -c 'echo mine >&2' 2>"$T/said"
  [ "$(grep -c 'old names of keys' "$T/said")" = 1 ]
  grep -xF "ioscribe run: old names of keys, which the next version refuses: listed_processes (now max_listed_processes), grace_ms (now exit_grace_ms), deadline_ms (now finalize_timeout_ms)" "$T/said"
  run_it "$IOSCRIBE" run -q --private --config "$T/one.conf" --force --log "$T/logs/a.darshan" -- sh -c 'echo mine >&2'
  [ "$output" = mine ]
}
