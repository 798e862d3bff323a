#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The ways an MPI job can go, traced: one finished log for each world, whatever
# happens, with all I/O up to the end.

traces=1
BOTH='only rank 0|layouts of files|one rank is killed|MPI_Finalize is never'
load helper

# What the cases killed, aborted, no-finalize and no-init have written before they end.
all_there() {
  has -1 POSIX_OPENS shared 4
  has -1 POSIX_WRITES shared 16
  for rank in 0 1 2 3; do
    has $rank POSIX_WRITES own.$rank $((rank + 1))
    has $rank POSIX_BYTES_WRITTEN own.$rank $((100 * (rank + 1)))
  done
}

# ended RANK KIND STATUS: how the log says that a rank ended (1 exited, 2 signalled).
ended() {
  local got
  got=$(awk -F '\t' -v r="$1" '$1 == "PROCESS" && $2 == r && $4 == "PROCESS_END_KIND" { k = $5 }
    $1 == "PROCESS" && $2 == r && $4 == "PROCESS_WAIT_STATUS" { s = $5 } END { print k, s }' "$T/log.txt")
  [ "$got" = "$2 $3" ] || { echo "rank $1 ended '$got', expected '$2 $3'"; return 1; }
}

@test "only rank 0 does I/O" {
  for mpi in $MPIS; do
    traced $mpi 4 mpi_cases root "$T/data"
    status_is 0
    by_ranks
    nprocs 4
    has 0 POSIX_WRITES root 7
    has -1 POSIX_WRITES root none
  done
}

@test "layouts of files: one record for what all ranks share, one a rank for the rest" {
  local type collective
  type=$(findmnt -no FSTYPE -T "$T")
  [ "$type" != tmpfs ] || type=$(findmnt -no FSTYPE /)
  for mpi in $MPIS; do
    for collective in yes no; do
      run_options=(--set "layout_source=$type,user.lov" --set "collective=$collective")
      rm -f shared rank.*
      for f in shared:flr rank.0:plain rank.1:pfl rank.2:dom; do
        touch "${f%:*}"
        setfattr -n user.lov -v "0s$(base64 -w0 <"$IOSCRIBE_SOURCE/tests/data/lov/${f#*:}.lov")" "${f%:*}"
      done
      traced $mpi 4 mpi_demo
      status_is 0
      awk -F '\t' -v OFS=' ' '$1 == "LUSTRE" && $4 ~ /NUM_COMP|COMP1_OST_ID/ { sub(".*/", "", $6); print $6, $2, $4, $5 }' \
        "$T/log.txt" | sort >"$T/layouts"
      diff "$T/layouts" - <<'END'
rank.0 0 LUSTRE_COMP1_OST_ID_0 3
rank.0 0 LUSTRE_COMP1_OST_ID_1 7
rank.0 0 LUSTRE_NUM_COMPONENTS 1
rank.1 1 LUSTRE_COMP1_OST_ID_0 5
rank.1 1 LUSTRE_NUM_COMPONENTS 2
rank.2 2 LUSTRE_NUM_COMPONENTS 2
shared -1 LUSTRE_COMP1_OST_ID_0 1
shared -1 LUSTRE_COMP1_OST_ID_1 2
shared -1 LUSTRE_NUM_COMPONENTS 2
END
    done
  done
}

@test "only odd ranks do" {
  for mpi in $MPIS; do
    traced $mpi 4 mpi_cases odd "$T/data"
    status_is 0
    by_ranks
    has 1 POSIX_WRITES odd 5
    has 3 POSIX_WRITES odd 5
    has -1 POSIX_WRITES odd none
    has 0 POSIX_WRITES odd none
  done
}

@test "one rank does no I/O: what the others share is not shared by all" {
  for mpi in $MPIS; do
    traced $mpi 4 mpi_cases idle "$T/data"
    status_is 0
    by_ranks
    for rank in 0 1 3; do
      has $rank POSIX_WRITES most 3
      has $rank POSIX_WRITES own.$rank 2
    done
    has 2 POSIX_WRITES most none
    has -1 POSIX_WRITES most none
  done
}

@test "no rank does anything" {
  for mpi in $MPIS; do
    traced $mpi 4 mpi_cases nothing "$T/data"
    status_is 0
    nprocs 4
  done
}

@test "one rank is killed" {
  for mpi in $MPIS; do
    traced $mpi 4 mpi_cases killed "$T/data"
    [ "$status" -ne 0 ]
    by_daemon
    nprocs 4
    all_there
    ended 1 2 9
  done
}

@test "all ranks are killed" {
  for mpi in $MPIS; do
    traced $mpi 4 mpi_cases all-killed "$T/data"
    [ "$status" -ne 0 ]
    nprocs 4
    all_there
    [ "$(grep -c "PROCESS_END_KIND	2	" "$T/log.txt")" -eq 4 ] # by signals: their own, or the launcher's
  done
}

@test "MPI_Abort" {
  for mpi in $MPIS; do
    traced $mpi 4 mpi_cases aborted "$T/data"
    [ "$status" -ne 0 ]
    nprocs 4
    all_there
  done
}

@test "MPI_Finalize is never called" {
  for mpi in $MPIS; do
    traced $mpi 4 mpi_cases no-finalize "$T/data"
    nprocs 4
    by_daemon
    all_there
  done
}

@test "MPI_Init is never called under the launcher: ranks from the environment" {
  for mpi in $MPIS; do
    traced $mpi 4 mpi_cases no-init "$T/data"
    status_is 0
    nprocs 4
    by_daemon
    all_there
    ended 3 1 0
  done
}

@test "I/O before MPI_Init and after MPI_Finalize is in the log" {
  for mpi in $MPIS; do
    traced $mpi 4 mpi_cases around "$T/data"
    status_is 0
    by_ranks
    has -1 POSIX_OPENS around 12
    has -1 POSIX_WRITES around 28
    has -1 POSIX_BYTES_WRITTEN around 2800
    for rank in 0 1 2 3; do
      has $rank POSIX_OPENS own.$rank 2
      has $rank POSIX_WRITES own.$rank 11
    done
  done
}

@test "eight threads a rank" {
  for mpi in $MPIS; do
    traced $mpi 4 mpi_cases threads "$T/data"
    status_is 0
    by_ranks
    has -1 POSIX_OPENS threads 32
    has -1 POSIX_WRITES threads 16000
    has -1 POSIX_BYTES_WRITTEN threads 1024000
    has -1 POSIX_ACCESS1_ACCESS threads 64
    has -1 POSIX_ACCESS1_COUNT threads 16000
  done
}

# MPICH as Debian builds it cannot spawn, traced or not.
@test "MPI_Comm_spawn: the children are a world of their own" {
  traced openmpi 2 mpi_cases spawn "$T/data"
  status_is 0
  local parents children
  parents=$(grep -l "/data/parents" "$T"/log*.txt)
  children=$(grep -l "/data/children" "$T"/log*.txt)
  [ "$(wc -w <<<"$parents")" -eq 1 ]
  [ "$(wc -w <<<"$children")" -eq 1 ]
  [ "$parents" != "$children" ]
  nprocs 2 "$parents"
  nprocs 2 "$children"
  has -1 POSIX_WRITES parents 4 "$parents"
  has -1 POSIX_WRITES children 6 "$children"
  [ "$(grep -c "reduced by the ranks" "$T/err")" -ge 1 ]
}

@test "two launches in one script are two worlds" {
  for mpi in $MPIS; do
    launcher $mpi 2
    rm -rf "$T"/log* "$T/data"
    mkdir -p "$T/data/a" "$T/data/b"
    cat >"$T/script" <<EOF
${launch[*]} $PROGS/$mpi/mpi_cases root $T/data/a
${launch[*]} $PROGS/$mpi/mpi_cases odd $T/data/b
echo from the script >$T/data/script
EOF
    "$IOSCRIBE" run --force --log "$T/log.darshan" -- sh "$T/script" 2>"$T/err"
    for log in "$T"/log*.darshan; do "$IOSCRIBE" parse "$log" >"${log%.darshan}.txt"; done
    [ "$(ls "$T"/log*.darshan | wc -l)" -eq 3 ]
    has 0 POSIX_WRITES a/root 7 "$(grep -l a/root "$T"/log*.txt)"
    has 1 POSIX_WRITES b/odd 5 "$(grep -l b/odd "$T"/log*.txt)"
    has 0 POSIX_WRITES script 1 "$(grep -l data/script "$T"/log*.txt)"
    nprocs 2 "$(grep -l a/root "$T"/log*.txt)"
    nprocs 1 "$(grep -l data/script "$T"/log*.txt)"
  done
}

@test "a launcher that lives has had a thread: what that has done is not missing in the ranks' log" {
  cat >"$T/launcher.py" <<'EOF'
import subprocess, sys, threading

def work():
    with open("by-thread", "wb", buffering=0) as file:
        for _ in range(50):
            file.write(b"x" * 100)

thread = threading.Thread(target=work)
thread.start()
thread.join()
sys.exit(subprocess.run(sys.argv[1:]).returncode)
EOF
  launcher mpich 2
  mkdir -p "$T/data"
  cd "$T/data"
  "$IOSCRIBE" run --force --log "$T/log.darshan" -- /usr/bin/python3 "$T/launcher.py" "${launch[@]}" \
    "$PROGS/mpich/mpi_cases" root "$T/data" 2>"$T/err"
  for log in "$T"/log*.darshan; do
    "$IOSCRIBE" summary "$log" >"$T/summary"
    grep '^ledger .* complete: .* all recorded' "$T/summary" || { cat "$T/summary"; return 1; }
    "$IOSCRIBE" parse "$log" >"${log%.darshan}.txt"
  done
  [ "$(ls "$T"/log*.darshan | wc -l)" -eq 2 ]
  has 0 POSIX_WRITES by-thread 50 "$(grep -l by-thread "$T"/log*.txt)"
}

@test "a rank that comes late to MPI_Finalize, within the deadline" {
  for mpi in $MPIS; do
    traced $mpi 4 mpi_cases late "$T/data"
    status_is 0
    by_ranks
    has -1 POSIX_WRITES shared 16
    [ ! -s "$T/out" ]
  done
}

@test "a rank that comes after the deadline: nobody waits longer, the daemon writes the log" {
  run_options=(--set finalize_timeout_ms=1000 --quiet)
  for mpi in $MPIS; do
    traced $mpi 4 mpi_cases late "$T/data"
    status_is 0
    has -1 POSIX_WRITES shared 16
    [ ! -s "$T/out" ]
    [ ! -s "$T/err" ]
  done
}

@test "a rank that is stopped in the meantime: the program ends as it would, and says nothing" {
  run_options=(--set finalize_timeout_ms=1000 --quiet)
  for mpi in $MPIS; do
    rm -f "$T/data/pid"
    (
      for _ in $(seq 400); do
        [ -s "$T/data/pid" ] && break
        sleep 0.05
      done
      sleep 2.5
      kill -CONT "$(cat "$T/data/pid")"
    ) 3>&- &
    traced $mpi 4 mpi_cases stopped "$T/data"
    wait $!
    status_is 0
    has -1 POSIX_WRITES shared 16
    [ ! -s "$T/out" ] && [ ! -s "$T/err" ] || { cat "$T/err"; false; }
  done
}

@test "only some ranks have the runtime: no rank waits in MPI for another, the daemon writes the log" {
  run_options=(--quiet)
  for mpi in $MPIS; do
    launcher $mpi 2
    rm -rf "$T"/log* "$T/data"
    mkdir "$T/data"
    status=0
    timeout 600 "$IOSCRIBE" run --quiet --force --log "$T/log.darshan" --set mpiio_wrap=no -- "${launch[@]}" "$PROGS/$mpi/mpi_cases" comms "$T/data" : \
      -n 2 env -u LD_PRELOAD "$PROGS/$mpi/mpi_cases" comms "$T/data" >"$T/out" 2>"$T/err" || status=$?
    status_is 0
    [ ! -s "$T/err" ] || { cat "$T/err"; false; }
    [ "$(sort "$T/out" | tr '\n' ' ')" = "rank 0: 2 of 2 rank 1: 4 of 2 rank 2: 2 of 2 rank 3: 4 of 2 " ]
    "$IOSCRIBE" parse "$T/log.darshan" >"$T/log.txt"
    nprocs 4
    has -1 POSIX_WRITES shared 16
  done
}

@test "the application's own communicators" {
  for mpi in $MPIS; do
    traced $mpi 4 mpi_cases comms "$T/data"
    status_is 0
    by_ranks
    has -1 POSIX_WRITES shared 16
    [ "$(sort "$T/out" | tr '\n' ' ')" = "rank 0: 2 of 2 rank 1: 4 of 2 rank 2: 2 of 2 rank 3: 4 of 2 " ]
  done
}
