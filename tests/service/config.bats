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
NAME_EXCLUDE [a *|'[a' is no extended regular expression
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
  "$IOSCRIBE" run -q --private --config "$T/darshan.conf" --log "$T/logs/a.darshan" -- sh -c "$work"
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

@test "a module can be left out; ranks are of MPI worlds alone" {
  DARSHAN_RANK_EXCLUDE=0: "$IOSCRIBE" run -q --private --log "$T/logs/r.darshan" -- sh -c "$work"
  [ "$(value "$T/logs/r.darshan" POSIX_BYTES_WRITTEN '/plain$')" = 4 ]
  DARSHAN_RANK_EXCLUDE=1: DARSHAN_RANK_INCLUDE=3 "$IOSCRIBE" run -q --private --no-runtime --log "$T/logs/m.darshan" -- \
    sh -c 'for r in 0 1 2 3; do PMI_RANK=$r PMI_SIZE=4 PMI_JOBID=x dd if=/dev/zero of=rank.$r bs=10 count=1 2>/dev/null; done'
  for r in 0 3; do [ "$(value "$T/logs/m.darshan" POSIX_BYTES_WRITTEN "/rank.$r\$")" = 10 ]; done
  for r in 1 2; do [ "$(value "$T/logs/m.darshan" POSIX_OPENS "/rank.$r\$")" = 0 ]; done
  DARSHAN_MOD_DISABLE=POSIX "$IOSCRIBE" run -q --private --log "$T/logs/n.darshan" -- sh -c "$work"
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

@test "docs/config.md says of each key its default, its range and whose it is" {
  local key default range whose row n=0
  while IFS='|' read -r key default range whose; do
    [ "$key" != job_number ] && [ "$key" != library ] || continue # told in words
    row=$(grep -F "| \`$key\` |" "$IOSCRIBE_SOURCE/docs/config.md") || { echo "no row: $key"; return 1; }
    default=$(xargs <<<"$default")
    [ -z "$default" ] || [ "$(cut -d'|' -f3 <<<"$row" | sed 's/[;:].*//' | xargs)" = "$default" ] || { echo "default $default: $row"; return 1; }
    cut -d'|' -f4 <<<"$row" | sed 's/2^30/1073741824/' | grep -qF "$range" || { echo "range $range: $row"; return 1; }
    [ -z "$whose" ] || grep -qF '*site*' <<<"$row" || { echo "site's: $row"; return 1; }
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
  for key in $(sed -n 's/^\t{"\([A-Za-z_]*\)", [A-Z_]*, .*/\1/p' "$IOSCRIBE_SOURCE"/runtime/daemon/{config,darshan}.c); do
    grep -qF "\`$key\`" "$IOSCRIBE_SOURCE/docs/config.md" || { echo "not documented: $key"; return 1; }
    n=$((n + 1))
  done
  [ "$n" -gt 50 ]
}
