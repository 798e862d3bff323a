# SPDX-License-Identifier: BSD-3-Clause
# What the MPI tests share: launching with either MPI, traced or with the
# daemon's stand-in, and looking into the logs. Sets T (scratch), MPIS.

MPIS="mpich openmpi"
PROGS=$IOSCRIBE_BUILD/tests/mpi
RUNTIME=$IOSCRIBE_BUILD/runtime/client/libioscribe.so

setup() {
  local mpi
  # BOTH: a pattern of the tests of a file that the gate runs with both MPIs, if these are not all
  if [ -n "${IOSCRIBE_GATE:-}" ] && ! [[ $BATS_TEST_DESCRIPTION =~ ${BOTH:-.} ]]; then MPIS=mpich; fi
  for mpi in $MPIS; do
    [ -x "$PROGS/$mpi/mpi_cases" ] || { echo "no programs for $mpi: run scripts/install-deps and build"; return 1; }
  done
  T=$(mktemp -d /tmp/ioscribe-mpi.XXXXXX)
  mkdir "$T/data"
  cd "$T" || return 1
  if [ -n "${traces:-}" ]; then
    [ "$(id -u)" -eq 0 ] || { echo "these tests trace: they need root"; return 1; }
  fi
}

teardown() {
  cd /
  [ -n "${T:-}" ] || return 0
  if [ -n "${fake_pid:-}" ]; then
    kill "$fake_pid" 2>/dev/null || true
    wait "$fake_pid" 2>/dev/null || true
  fi
  rm -rf "$T"
}

# launcher MPI RANKS: words of the command, in `launch`.
launcher() {
  case $1 in
  mpich) launch=(mpiexec.mpich -n "$2") ;;
  openmpi) launch=(mpirun.openmpi --allow-run-as-root --oversubscribe -n "$2") ;;
  esac
}

# traced MPI RANKS PROGRAM ARG...: into $T/out, $T/err, $status; logs are $T/log*.darshan,
# their text is beside them. The ranks write their log, as those of several nodes do, if run_options do not say else.
traced() {
  local mpi=$1 ranks=$2 prog=$3 log
  shift 3
  launcher "$mpi" "$ranks"
  rm -rf "$T"/log* "$T/data"
  mkdir "$T/data"
  status=0
  timeout 600 "$IOSCRIBE" run --set collective=yes "${run_options[@]}" --force --log "$T/log.darshan" -- \
    "${launch[@]}" "$PROGS/$mpi/$prog" "$@" >"$T/out" 2>"$T/err" || status=$?
  for log in "$T"/log*.darshan; do
    "$IOSCRIBE" parse "$log" >"${log%.darshan}.txt" 2>"$T/parse.err" || { cat "$T/parse.err"; return 1; }
    [ ! -s "$T/parse.err" ] || { echo "parse complains: $(cat "$T/parse.err")"; return 1; }
  done
  unfinished=$(find "$T" -name '*partial*')
  [ -z "$unfinished" ] || { echo "unfinished: $unfinished"; return 1; }
}

# status_is N
status_is() {
  [ "$status" -eq "$1" ] || { echo "exit status $status, expected $1"; cat "$T/err"; return 1; }
}

# Was the log made by the ranks together?
by_ranks() {
  grep -q "reduced by the ranks" "$T/err" || { echo "not reduced by the ranks:"; cat "$T/err"; return 1; }
}

by_daemon() {
  ! grep -q "reduced by the ranks" "$T/err" || { echo "reduced by the ranks, unexpectedly"; return 1; }
}

# value RANK COUNTER FILE [LOG-TEXT]: a counter in the log, or "none".
value() {
  awk -F '\t' -v r="$1" -v c="$2" -v f="$T/data/$3" '
    $2 == r && $4 == c && $6 == f { print $5; found = 1; exit }
    END { if (!found) print "none" }' "${4:-$T/log.txt}"
}

# has RANK COUNTER FILE VALUE [LOG-TEXT]
has() {
  local got
  got=$(value "$1" "$2" "$3" "${5:-}")
  [ "$got" = "$4" ] || { echo "$3 rank $1 $2: $got, expected $4"; return 1; }
}

# How many ranks does the log of this world say?
nprocs() {
  local got
  got=$(awk '$2 == "nprocs:" { print $3 }' "${2:-$T/log.txt}")
  [ "$got" = "$1" ] || { echo "nprocs $got, expected $1"; return 1; }
}

# as_expected PROGRAM-OUTPUT: every value of it is in the log.
as_expected() {
  "$BATS_TEST_DIRNAME/check_expected.py" "$T/out" "$T/log.txt" "$T/data"
}

# ---- without tracing: the daemon's stand-in ----

# fake RANKS [BEHAVIOUR [DEADLINE_MS]]: starts it; its socket is $T/socket.
fake() {
  rm -f "$T/socket" "$T/partial" "$T/fake.out"
  mkfifo "$T/fake.in" 2>/dev/null || true
  "$PROGS/fake_daemon" "$T/socket" "$1" "$T/partial" "${@:2}" <>"$T/fake.in" >"$T/fake.out" 2>&1 3>&- &
  fake_pid=$!
  for _ in $(seq 3000); do
    grep -q ready "$T/fake.out" && return 0
    sleep 0.02
  done
  echo "the stand-in does not start"
  cat "$T/fake.out"
  return 1
}

fake_end() {
  for _ in $(seq 100); do
    kill -0 "$fake_pid" 2>/dev/null || break
    sleep 0.02
  done
  kill "$fake_pid" 2>/dev/null || true
  wait "$fake_pid" 2>/dev/null || true
  fake_pid=
}

# with_runtime MPI RANKS COMMAND...: preloaded, its socket in $SOCKET.
with_runtime() {
  local mpi=$1 ranks=$2
  shift 2
  launcher "$mpi" "$ranks"
  status=0
  case $mpi in
  mpich)
    timeout 600 "${launch[@]}" -env LD_PRELOAD "${PRELOAD:-$RUNTIME}" -env IOSCRIBE_SOCKET "${SOCKET:-$T/socket}" \
      "$@" >"$T/out" 2>"$T/err" || status=$?
    ;;
  openmpi)
    timeout 600 "${launch[@]}" -x LD_PRELOAD="${PRELOAD:-$RUNTIME}" -x IOSCRIBE_SOCKET="${SOCKET:-$T/socket}" \
      "$@" >"$T/out" 2>"$T/err" || status=$?
    ;;
  esac
}
