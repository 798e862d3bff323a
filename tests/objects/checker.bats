#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# scripts/bpf-objects: what it reads from objects, and what it refuses.

setup() {
  S=$IOSCRIBE_SOURCE/scripts/bpf-objects
  T=$(mktemp -d)
  CLANG=$(sed -n 's/^IOSCRIBE_CLANG:[A-Z]*=//p' "$IOSCRIBE_BUILD/CMakeCache.txt")
  cat >"$T/head.h" <<'END'
#define SEC(n) __attribute__((section(n), used))
#define SUB __attribute__((noinline))
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
  run "$S" "$@" "$T/x.bpf.o"
  echo "$status: $output"
}

@test "stack: frames are rounded up to 32, at least 32, and added along the deepest chain" {
  object <<'END'
SUB int none(int x) { return x + 1; }
SUB int leaf(int x) { volatile char b[40]; return fill(b, 40) + x; }
SUB int small(int x) { volatile char b[8]; return fill(b, 8) + none(x); }
SEC("raw_tp/a") int entry(void *c) { volatile char b[100]; return fill(b, 100) + small(1) + leaf(2); }
END
  [ "$status" -eq 0 ]
  [[ $output == *" 192 bytes, 3 frames  raw_tp/a: entry 128 > "* ]]
}

@test "stack: the last byte that fits, and the first that does not" {
  object <<'END'
SUB int leaf(int x) { volatile char b[256]; return fill(b, 256) + x; }
SEC("raw_tp/a") int entry(void *c) { volatile char b[256]; return fill(b, 256) + leaf(2); }
END
  [ "$status" -eq 0 ]
  [[ $output == *" 512 bytes, 2 frames"*"entry 256 > leaf 256"* ]]
  object <<'END'
SUB int leaf(int x) { volatile char b[257]; return fill(b, 257) + x; }
SEC("raw_tp/a") int entry(void *c) { volatile char b[256]; return fill(b, 256) + leaf(2); }
END
  [ "$status" -eq 1 ]
  [[ $output == *"refused: x.bpf.o: entry: combined stack of 2 calls is 544 bytes, the limit is 512"* ]]
}

@test "stack: a callback of bpf_loop is a call; that of a timer has its own stack" {
  object <<'END'
static SUB int each(u32 i, void *c) { volatile char b[300]; return fill(b, 300); }
SEC("raw_tp/a") int entry(void *c) { volatile char b[256]; fill(b, 256); return bpf_loop(4, each, 0, 0); }
END
  [ "$status" -eq 1 ]
  [[ $output == *"entry: combined stack of 2 calls is 576 bytes"* ]]
  object <<'END'
static SUB int later(void *m, void *k, void *v) { volatile char b[300]; return fill(b, 300); }
SEC("raw_tp/a") int entry(void *c) { volatile char b[256]; fill(b, 256); return bpf_timer_set_callback(c, later); }
END
  [ "$status" -eq 0 ]
  [[ $output == *" 256 bytes, 1 frames  raw_tp/a: entry 256"* ]]
  [[ $output == *" 320 bytes, 1 frames  .text: later 320"* ]]
}

@test "stack: recursion and more than 8 frames are refused" {
  object <<'END'
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
  object <"$T/chain"
  [ "$status" -eq 1 ]
  [[ $output == *"refused: x.bpf.o: entry: 9 frames, the limit is 8"* ]]
  [[ $output != *"refused: x.bpf.o: entry2"* ]]
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

@test "docs/kernels.md has what the objects need of a kernel; a need without a row is refused" {
  "$IOSCRIBE_SOURCE/scripts/kernel-needs" "$IOSCRIBE_BUILD" --check "$IOSCRIBE_SOURCE/docs/kernels.md"
  cp "$IOSCRIBE_SOURCE"/scripts/{kernel-needs,bpf-objects} "$T"
  grep -v '^bpf_find_vma' "$IOSCRIBE_SOURCE/scripts/kernel-needs.tsv" >"$T/kernel-needs.tsv"
  run "$T/kernel-needs" "$IOSCRIBE_BUILD"
  [ "$status" -eq 1 ]
  [ "$output" = "kernel-needs: no row in scripts/kernel-needs.tsv: bpf_find_vma" ]
}
