#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What keeps and drops traces (DXT) in an MPI job, against Darshan 3.5.0.
traces=1
load helper

# "module file:ranks" of the log's traces, a line each.
kept() {
  "$IOSCRIBE" dxt "$T/log.darshan" | awk '
    /^# DXT, file_id/ { n = split($0, part, "/"); name = part[n]; sub(/\.[0-9]$/, "", name) }
    $1 ~ /^X_/ && !seen[$1, name, $2]++ { ranks[$1 " " name] = ranks[$1 " " name] $2 }
    END { for (k in ranks) print k ":" ranks[k] }' | sort
}

# of MODULE: on one line
line_of() {
  kept | awk -v module="$1" '$1 == module { line = line " " $2 } END { print line == "" ? " -" : line }'
}

# Which ranks' traces of which files Darshan 3.5.0 (with MPICH 4.0.2) keeps of tests/prog/mpi_triggers.c, four ranks:
# recorded with a DARSHAN_CONFIG_PATH of `MOD_ENABLE DXT_POSIX,DXT_MPIIO` and these lines (here with ; between
# them), on a file system of 4 KiB blocks, where every file has DXT_POSIX and DXT_MPIIO records but as said.
@test "triggers, patterns, ranks, alone and together: kept and dropped as by Darshan 3.5.0" {
  local settings posix mpiio line n=0
  while IFS='|' read -r settings posix mpiio; do
    run_options=(--dxt --set trace_libraries=mpiio)
    while read -r -d ';' line; do
      [ -z "$line" ] || run_options+=(--set "${line/ /=}")
    done <<<"$settings;"
    rm -f "$T"/{small,large,odd,posix}.? "$T/coll"
    traced mpich 4 mpi_triggers </dev/null # which would take the table
    echo "$settings"
    n=$((n + 1))
    [ "$status" -eq 0 ]
    diff <(echo "$posix") <(line_of X_POSIX)
    diff <(echo "$mpiio") <(line_of X_MPIIO)
  done <<'X'
| coll:0 large:0123 odd:0123 posix:0123 small:0123| coll:0123 large:0123 odd:0123 small:0123
DXT_SMALL_IO_TRIGGER 0.5| coll:0 posix:0123 small:0123| coll:0123 small:0123
DXT_UNALIGNED_IO_TRIGGER 0.5| odd:0123| coll:123 odd:0123
DXT_SMALL_IO_TRIGGER 0.5;DXT_UNALIGNED_IO_TRIGGER 0.5| -| coll:123
RANK_EXCLUDE 0:;RANK_INCLUDE 2| large:2 odd:2 posix:2 small:2| coll:2 large:2 odd:2 small:2
RANK_EXCLUDE 3;DXT_SMALL_IO_TRIGGER 0.5| coll:0 posix:012 small:012| coll:012 small:012
NAME_EXCLUDE /large,/coll DXT_POSIX| odd:0123 posix:0123 small:0123| coll:0123 large:0123 odd:0123 small:0123
NAME_EXCLUDE /large,/coll DXT_MPIIO| coll:0 large:0123 odd:0123 posix:0123 small:0123| odd:0123 small:0123
NAME_EXCLUDE .* DXT_POSIX,DXT_MPIIO;NAME_INCLUDE odd\.[12]$ *| odd:12| odd:12
NAME_EXCLUDE .* DXT_POSIX;DXT_SMALL_IO_TRIGGER 0.5| -| coll:0123 large:0123 odd:0123 small:0123
NAME_EXCLUDE small\.1 POSIX| coll:0 large:0123 odd:0123 posix:0123 small:023| coll:0123 large:0123 odd:0123 small:0123
NAME_EXCLUDE small\.1 MPI-IO| coll:0 large:0123 odd:0123 posix:0123 small:0123| coll:0123 large:0123 odd:0123 small:023
NAME_EXCLUDE large DXT_MPIIO;RANK_EXCLUDE :1;DXT_UNALIGNED_IO_TRIGGER 0.5| odd:23| coll:23 odd:23
X
  [ "$n" -eq 13 ]
}
