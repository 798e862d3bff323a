#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The library as an object: what it needs, what it shows, and how it bears other
# libraries beside it. Nothing is traced.

load helper

@test "it needs nothing but the C library, and no MPI symbol" {
  [ "$(readelf -d "$RUNTIME" | grep -c NEEDED)" -eq 1 ]
  readelf -d "$RUNTIME" | grep NEEDED | grep -q 'libc\.so'
  undefined=$(nm -D --undefined-only "$RUNTIME" | awk '{ print $NF }' | grep -i -E 'mpi|zlib|deflate|BZ2|hdf5' || true)
  [ -z "$undefined" ] || { echo "undefined: $undefined"; false; }
}

@test "it exports the interposed names alone" {
  nm -D --defined-only "$RUNTIME" | awk '{ print $NF }' | sort >"$T/have"
  sort >"$T/want" <<EOF
__asan_default_options
execl
execle
execlp
execv
execve
execvp
execvpe
fexecve
posix_spawn
posix_spawnp
MPI_INIT
MPI_INIT_THREAD
MPI_Init
MPI_Init_thread
PMPI_Init
PMPI_Init_thread
mpi_init
mpi_init_
mpi_init__
mpi_init_f08_
mpi_init_thread
mpi_init_thread_
mpi_init_thread__
mpi_init_thread_f08_
EOF
  diff "$T/want" "$T/have"
}

@test "it asks for no C library newer than glibc 2.17" {
  newest=$(nm -D --undefined-only "$RUNTIME" | grep -o 'GLIBC_[0-9.]*' | sed 's/GLIBC_//' | sort -V | tail -1)
  [ "$(printf '%s\n2.17\n' "$newest" | sort -V | tail -1)" = 2.17 ] || { echo "GLIBC_$newest"; false; }
}

@test "what it calls is in musl too" {
  # by name, as musl's loader binds; the list is musl 1.2's
  for name in $(nm -D --undefined-only "$RUNTIME" | awk '$1 == "U" { print $2 }' | sed 's/@.*//'); do
    grep -qx "$name" <<EOF || { echo "not in musl: $name"; return 1; }
__cxa_finalize
__environ
__errno_location
__stack_chk_fail
access
calloc
clock_gettime
close
connect
dl_iterate_phdr
dladdr
dlclose
dlerror
dlopen
dlsym
environ
fcntl
free
getauxval
getenv
getpid
getrlimit
lseek
malloc
memchr
memcmp
memcpy
memmove
memset
mmap
munmap
nanosleep
open
poll
pwrite
qsort
read
readlink
realloc
recvmsg
sched_yield
sendmsg
snprintf
socket
strchr
strcmp
strcspn
strerror
strlen
strncmp
strnlen
strrchr
strspn
strstr
syscall
unlink
vsnprintf
EOF
  done
}

@test "preloaded into programs without MPI it is not felt" {
  run env LD_PRELOAD="$RUNTIME" IOSCRIBE_SOCKET="$T/socket" sh -c 'ls / >/dev/null && cat /dev/null && echo done'
  [ "$status" -eq 0 ]
  [ "$output" = done ]
  command -v strace >/dev/null || { echo "strace is not installed: run scripts/install-deps"; false; }
  strace -f -o "$T/trace" env LD_PRELOAD="$RUNTIME" IOSCRIBE_SOCKET="$T/socket" true
  ! grep -E 'socket\(|connect\(|getdents|libz' "$T/trace"
}

@test "an unknown MPI library is left alone" {
  cat >"$T/other.c" <<EOF
#include <stdio.h>
int MPI_Init(int *c, char ***v) { return 0; }
int PMPI_Init(int *c, char ***v) { return 0; }
EOF
  cat >"$T/main.c" <<EOF
#include <stdio.h>
int MPI_Init(int *c, char ***v);
int main(int c, char **v) { printf("%d\n", MPI_Init(&c, &v)); return 4; }
EOF
  cc -shared -fPIC "$T/other.c" -o "$T/libother.so"
  cc "$T/main.c" -L"$T" -lother -Wl,-rpath,"$T" -o "$T/main"
  run env LD_PRELOAD="$RUNTIME" IOSCRIBE_SOCKET="$T/socket" "$T/main"
  [ "$status" -eq 4 ] && [ "$output" = 0 ]
}

@test "a function of another library that happens to be called mpi_init gets its call" {
  cat >"$T/other.c" <<EOF
void mpi_init(long *x) { *x = 42; }
EOF
  cat >"$T/main.c" <<EOF
#include <stdio.h>
void mpi_init(long *x);
int main(void) { long x = 0; mpi_init(&x); printf("%ld\n", x); return 0; }
EOF
  cc -shared -fPIC "$T/other.c" -o "$T/libother.so"
  cc "$T/main.c" -L"$T" -lother -Wl,-rpath,"$T" -o "$T/main"
  run env LD_PRELOAD="$RUNTIME" IOSCRIBE_SOCKET="$T/socket" "$T/main"
  [ "$status" -eq 0 ] && [ "$output" = 42 ]
}

@test "beside another preloaded tool, in either order: both see MPI_Init, ours stays unseen" {
  for mpi in $MPIS; do
    for preload in "$RUNTIME:$PROGS/$mpi/tool.so" "$PROGS/$mpi/tool.so:$RUNTIME"; do
      fake 4 ok 4000
      PRELOAD=$preload with_runtime $mpi 4 "$PROGS/$mpi/mpi_cases" nothing "$T/data"
      fake_end
      [ "$status" -eq 0 ]
      [ "$(cat "$T/out")" = "tool: 1 MPI_Init, 0 collectives" ] || { cat "$T/out"; false; }
      [ "$(grep -c '^done . ok' "$T/fake.out")" -eq 4 ] || { echo "$mpi $preload"; cat "$T/fake.out"; false; }
    done
  done
}

@test "an MPI library loaded privately (RTLD_LOCAL), as mpi4py does" {
  for mpi in $MPIS; do
    fake 4 ok 4000
    with_runtime $mpi 4 "$PROGS/mpi_local" "$PROGS/$mpi/mpi_plugin.so" "$T/data"
    fake_end
    [ "$status" -eq 0 ]
    [ "$(grep -c '^done . ok' "$T/fake.out")" -eq 4 ] || { echo $mpi; cat "$T/fake.out"; false; }
  done
}

@test "linked instead of preloaded" {
  for mpi in $MPIS; do
    mpicc.$mpi -D_GNU_SOURCE -I"$IOSCRIBE_SOURCE/tests/prog" "$IOSCRIBE_SOURCE/tests/prog/mpi_known.c" \
      -L"${RUNTIME%/*}" -lioscribe -Wl,-rpath,"${RUNTIME%/*}" -o "$T/linked"
    fake 4 ok 4000
    PRELOAD=libc.so.6 with_runtime $mpi 4 "$T/linked" "$T/data"
    fake_end
    [ "$status" -eq 0 ]
    [ "$(grep -c '^done . ok' "$T/fake.out")" -eq 4 ] || { echo $mpi; cat "$T/fake.out"; false; }
  done
}
