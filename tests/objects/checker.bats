#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# scripts/bpf-objects: what it reads from objects, and what it refuses.

setup() {
  S=$IOSCRIBE_SOURCE/scripts/bpf-objects
  T=$(mktemp -d)
  CLANG=$(sed -n 's/^IOSCRIBE_CLANG:[A-Z]*=//p' "$IOSCRIBE_BUILD/CMakeCache.txt")
  : >"$T/allow"
  cat >"$T/head.h" <<'END'
#define SEC(n) __attribute__((section(n), used))
#define SUB __attribute__((noinline))
#define KFUNC __attribute__((section(".ksyms")))
typedef unsigned int u32;
typedef unsigned long u64;
static long (*bpf_loop)(u32, void *, void *, u64) = (void *)181;
static long (*bpf_timer_set_callback)(void *, void *) = (void *)170;
static u64 (*bpf_ktime_get_ns)(void) = (void *)5;
char LICENSE[] SEC("license") = "GPL";
static inline __attribute__((always_inline)) int fill(volatile char *p, int n) { p[0] = n; p[n - 1] = n; asm volatile("" : "+r"(p)); return p[0]; }
END
}

teardown() {
  rm -rf "$T"
}

# object OPTIONS...: compiles the source on stdin to x.bpf.o and checks it.
object() {
  { echo '#include "head.h"'; cat; } >"$T/x.bpf.c"
  "$CLANG" -g -O2 -target bpf -mcpu=v3 -I "$T" -c "$T/x.bpf.c" -o "$T/x.bpf.o"
  run "$S" --allow "$T/allow" "$@" "$T/x.bpf.o"
  echo "$status: $output"
}

@test "stack: frames are rounded up to 32, at least 32, and added along the deepest chain" {
  object --stack <<'END'
SUB int none(int x) { return x + 1; }
SUB int leaf(int x) { volatile char b[40]; return fill(b, 40) + x; }
SUB int small(int x) { volatile char b[8]; return fill(b, 8) + none(x); }
SEC("raw_tp/a") int entry(void *c) { volatile char b[100]; return fill(b, 100) + small(1) + leaf(2); }
END
  [ "$status" -eq 0 ]
  [[ $output == *" 192 bytes, 3 frames  raw_tp/a: entry 128 > "* ]]
}

@test "stack: the last byte that fits, and the first that does not" {
  object --stack <<'END'
SUB int leaf(int x) { volatile char b[256]; return fill(b, 256) + x; }
SEC("raw_tp/a") int entry(void *c) { volatile char b[256]; return fill(b, 256) + leaf(2); }
END
  [ "$status" -eq 0 ]
  [[ $output == *" 512 bytes, 2 frames"*"entry 256 > leaf 256"* ]]
  object --stack <<'END'
SUB int leaf(int x) { volatile char b[257]; return fill(b, 257) + x; }
SEC("raw_tp/a") int entry(void *c) { volatile char b[256]; return fill(b, 256) + leaf(2); }
END
  [ "$status" -eq 1 ]
  [[ $output == *"refused: x.bpf.o: entry: combined stack of 2 calls is 544 bytes, the limit is 512"* ]]
}

@test "stack: a callback of bpf_loop is a call; that of a timer has its own stack" {
  object --stack <<'END'
static SUB int each(u32 i, void *c) { volatile char b[300]; return fill(b, 300); }
SEC("raw_tp/a") int entry(void *c) { volatile char b[256]; fill(b, 256); return bpf_loop(4, each, 0, 0); }
END
  [ "$status" -eq 1 ]
  [[ $output == *"entry: combined stack of 2 calls is 576 bytes"* ]]
  object --stack <<'END'
static SUB int later(void *m, void *k, void *v) { volatile char b[300]; return fill(b, 300); }
SEC("raw_tp/a") int entry(void *c) { volatile char b[256]; fill(b, 256); return bpf_timer_set_callback(c, later); }
END
  [ "$status" -eq 0 ]
  [[ $output == *" 256 bytes, 1 frames  raw_tp/a: entry 256"* ]]
  [[ $output == *" 320 bytes, 1 frames  .text: later 320"* ]]
}

@test "stack: recursion and more than 8 frames are refused" {
  object --stack <<'END'
SUB int b(int x);
SUB int a(int x) { asm volatile(""); return b(x) + 1; }
SUB int b(int x) { asm volatile(""); return a(x) + 2; }
SEC("raw_tp/a") int entry(void *c) { return a(1); }
END
  [ "$status" -eq 1 ]
  [[ $output == *"refused: x.bpf.o: entry: recursion: entry > a > b > a"* ]]
  {
    echo 'SUB int f8(int x) { return x + 8; }'
    for i in 7 6 5 4 3 2 1; do echo "SUB int f$i(int x) { return f$((i + 1))(x) + $i; }"; done
    echo 'SEC("raw_tp/a") int entry(void *c) { return f1(1); } SEC("raw_tp/b") int entry2(void *c) { return f2(1); }'
  } >"$T/chain"
  object --stack <"$T/chain"
  [ "$status" -eq 1 ]
  [[ $output == *"refused: x.bpf.o: entry: 9 frames, the limit is 8"* ]]
  [[ $output != *"refused: x.bpf.o: entry2"* ]]
}

@test "helpers: what is newer than 5.15 needs a line with a reason; a line that nothing uses is refused" {
  cat >"$T/new" <<'END'
static SUB int each(u32 i, void *c) { return 0; }
SEC("raw_tp/a") int entry(void *c) { return bpf_loop(4, each, 0, 0) + bpf_ktime_get_ns(); }
END
  object --helpers <"$T/new"
  [ "$status" -eq 1 ]
  [[ $output == *"refused: x.bpf.o: helper bpf_loop is of Linux 5.17, newer than 5.15, and has no second way"* ]]
  [[ $output != *"refused: x.bpf.o: helper bpf_ktime_get_ns"* ]]
  object --helpers --base 5.17 <"$T/new"
  [ "$status" -eq 0 ]
  echo 'x.bpf.o helper bpf_loop' >"$T/allow"
  object --helpers <"$T/new"
  [ "$status" -ne 0 ]
  [[ $output == *"allow:1: an object, a sort, a name and a reason are wanted"* ]]
  echo 'x.bpf.o helper bpf_loop guarded by a constant' >"$T/allow"
  object --helpers <"$T/new"
  [ "$status" -eq 0 ]
  echo 'x.bpf.o helper bpf_strncmp not there any more' >>"$T/allow"
  mkdir -p "$T/bpf" && cp "$T/x.bpf.o" "$T/bpf"
  run "$S" --helpers --allow "$T/allow" "$T"
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"refused: allow: x.bpf.o helper bpf_strncmp: nothing uses it"* ]]
}

@test "helpers: kernel functions must be weak, even those that are allowed" {
  cat >"$T/strong" <<'END'
extern void *bpf_rdonly_cast(void *o, u32 id) KFUNC;
SEC("raw_tp/a") int entry(void *c) { return bpf_rdonly_cast(c, 1) != 0; }
END
  object --helpers <"$T/strong"
  [[ $output == *"refused: x.bpf.o: kfunc bpf_rdonly_cast is of Linux 6.2, newer than 5.15, and has no second way"* ]]
  echo 'x.bpf.o kfunc bpf_rdonly_cast reads by probes instead' >"$T/allow"
  object --helpers <"$T/strong"
  [ "$status" -eq 1 ]
  [[ $output == *"refused: x.bpf.o: kfunc bpf_rdonly_cast is not weak"* ]]
  sed 's/ KFUNC;/ KFUNC __attribute__((weak));/' "$T/strong" >"$T/weak"
  object --helpers <"$T/weak"
  [ "$status" -eq 0 ]
}

@test "helpers: an object that cannot do without a kernel function has another one that does" {
  echo 'x.bpf.o kfunc bpf_rdonly_cast object other.bpf.o reads by probes' >"$T/allow"
  cat >"$T/strong" <<'END'
extern void *bpf_rdonly_cast(void *o, u32 id) KFUNC;
SEC("raw_tp/a") int entry(void *c) { return bpf_rdonly_cast(c, 1) != 0; }
END
  object --helpers <"$T/strong"
  [ "$status" -eq 1 ]
  [[ $output == *"refused: x.bpf.o: kfunc bpf_rdonly_cast: other.bpf.o, which is to do without, is not there"* ]]
  cp "$T/x.bpf.o" "$T/other.bpf.o"
  object --helpers <"$T/strong"
  [ "$status" -eq 1 ]
  [[ $output == *"refused: x.bpf.o: kfunc bpf_rdonly_cast: other.bpf.o, which is to do without, uses it too"* ]]
  object --helpers <<'END'
SEC("raw_tp/a") int entry(void *c) { return 0; }
END
  cp "$T/x.bpf.o" "$T/other.bpf.o"
  object --helpers <"$T/strong"
  [ "$status" -eq 0 ]
}

@test "helpers: program types, map types and instructions count too" {
  object --helpers <<'END'
struct { int (*type)[33]; int (*map_flags)[1024]; int (*max_entries)[1]; } a SEC(".maps");
SEC("uprobe.multi/x") int entry(void *c) { return *(long *)&a != 0; }
SEC("?nosuchtype/x") int other(u64 *c) { return __sync_fetch_and_add(c, 1); }
END
  [ "$status" -eq 1 ]
  [[ $output == *"refused: x.bpf.o: program uprobe.multi is of Linux 6.6,"* ]]
  [[ $output == *"refused: x.bpf.o: program nosuchtype is of Linux unknown,"* ]]
  [[ $output == *"refused: x.bpf.o: map arena is of Linux 6.9,"* ]]
  [[ $output == *"map      mmapable 5.5"* ]]
  [[ $output == *"insn     fetch_atomic 5.12"* ]]
}

@test "what is no BPF object and a folder without objects are named" {
  cp "$IOSCRIBE" "$T/y.bpf.o"
  run "$S" "$T/y.bpf.o"
  [ "$status" -eq 1 ]
  [[ $output == *"y.bpf.o: not a little-endian BPF object"* ]]
  run "$S" "$T"
  [ "$status" -eq 1 ]
  [[ $output == *"no objects in bpf/ or uprobes/: build first"* ]]
}
