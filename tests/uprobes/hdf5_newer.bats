#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# HDF5 of other versions than the system's. SCRIBE_TEST_HDF5 names where they are
# installed (with MPICH), with colons; each has to give what the system's gives.
# By itself: a library of a version that is not known is refused and marked.
load helper
load hdf5_edges

# Each installation that SCRIBE_TEST_HDF5 names: the same totals; several datasets in one call; event sets.
other_versions() {
  local prefix
  for prefix in $(tr : " " <<<"${SCRIBE_TEST_HDF5:-}"); do
    echo "$prefix"
    mpicc.mpich -O1 -w -D_GNU_SOURCE "$IOSCRIBE_SOURCE/tests/prog/hdf5_calls.c" -I"$prefix/include" \
      -L"$prefix/lib" -Wl,-rpath,"$prefix/lib" -lhdf5 -o "$T/calls"
    rm -f a.h5
    trace hdf5,mpiio "$T/calls" a.h5
    hdf5_totals
    mpicc.mpich -O1 -w -D_GNU_SOURCE "$IOSCRIBE_SOURCE/tests/prog/hdf5_edges.c" -I"$prefix/include" \
      -L"$prefix/lib" -Wl,-rpath,"$prefix/lib" -lhdf5 -o "$T/edges"
    trace hdf5,mpiio "$T/edges" .
    edges_totals
    grep -q 'define H5_VERS_MINOR *14' "$prefix/include/H5public.h" || continue
    mpicc.mpich -O1 -w -D_GNU_SOURCE "$IOSCRIBE_SOURCE/tests/prog/hdf5_multi.c" -I"$prefix/include" \
      -L"$prefix/lib" -Wl,-rpath,"$prefix/lib" -lhdf5 -o "$T/multi"
    trace hdf5,mpiio "$T/multi" m.h5
    [ "$status" -eq 0 ]
    one_log
    expect '/m.h5$' H5F_OPENS=2 H5F_FLUSHES=1
    expect '/m.h5:/set0$' H5D_OPENS=1 H5D_WRITES=1 H5D_READS=1 H5D_BYTES_WRITTEN=800 H5D_BYTES_READ=160 \
      H5D_REGULAR_HYPERSLAB_SELECTS=1 H5D_DATASPACE_NPOINTS=100
    expect '/m.h5:/set1$' H5D_OPENS=1 H5D_WRITES=1 H5D_READS=1 H5D_BYTES_WRITTEN=1600 H5D_BYTES_READ=160
    expect '/m.h5:/set2$' H5D_OPENS=2 H5D_WRITES=2 H5D_READS=2 H5D_BYTES_WRITTEN=2560 H5D_BYTES_READ=2560 \
      H5D_REGULAR_HYPERSLAB_SELECTS=2 H5D_DATASPACE_NPOINTS=300
    [ "$(records H5D)" -eq 3 ]
    expect '' LEDGER_LIB_DROPPED=0 LEDGER_LIB_UNKNOWN=0
  done
}

# A program of a library that looks like HDF5 and says that it is 1.MINOR.
like_hdf5() {
  cat >"$T/lib.c" <<EOF
int H5get_libversion(unsigned *a, unsigned *b, unsigned *c) { if (a) *a = 1; if (b) *b = $1; if (c) *c = 0; return 0; }
long H5Fopen(const char *n, unsigned f, long p) { return 72057594037927936; }
int H5D__write(void *d) { return 0; }
EOF
  printf 'long H5Fopen(const char *, unsigned, long);\nint main(void) { return H5Fopen("x", 0, 0) < 0; }\n' >"$T/main.c"
  cc -O1 -shared -fPIC "$T/lib.c" -o "$T/lib/libhdf5.so"
  cc "$T/main.c" -L"$T/lib" -lhdf5 -o "$T/main"
}

@test "a version that is not known: refused in one line, the module marked; others that are named" {
  like_hdf5 99
  rm -f "$LOG"
  status=0
  LD_LIBRARY_PATH=$T/lib "$IOSCRIBE" run --verbose --force --log "$LOG" --set library_cache=no --set trace_libraries=hdf5 \
    -- "$T/main" >"$T/said" 2>&1 || status=$?
  [ "$status" -eq 0 ]
  [ "$(grep -c '^ioscribed: .*libhdf5.so: cannot be probed for HDF5: ' "$T/said")" -eq 1 ]
  output=$("$IOSCRIBE" parse "$LOG" 2>&1) || true
  [[ "$output" == *"H5F"*"incomplete"* ]]
  # the user is told what is missing and why: at the end of the run, and by the log
  why="$T/lib/libhdf5.so: cannot be probed for HDF5: its version is not known, or built in an unknown way"
  grep -qx "  note       records are incomplete: $why" "$T/said"
  ! grep 'operations were lost' "$T/said" || return 1
  "$IOSCRIBE" parse --show-incomplete "$LOG" | grep -qxF "# metadata: incomplete = $why"
  "$IOSCRIBE" summary "$LOG" | tr -s '[:space:]' ' ' | grep -F "INCOMPLETE $why: records are missing of H5F"
  ! grep 'memory ran out' <<<"$output" || return 1
  other_versions
}
