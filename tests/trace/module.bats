#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Modules: the example reaches the log on both paths, and the page that explains
# how to add one is followed to the letter.
load helper

@test "the NULL module reaches the log when it is switched on" {
  trace_options=(--set modules=NULL)
  trace sh -c 'true; false; sh -c "exit 9"; exit 0'
  [ "$status" -eq 0 ]
  "$IOSCRIBE" parse --all "$LOG" >"$T/parsed"
  grep -P '^NULL\t0\t\d+\tNULL_FOOS\t2\t<null-module>' "$T/parsed"
  grep -P '^NULL\t0\t\d+\tNULL_FOO_MAX_DAT\t9\t' "$T/parsed"
}

@test "it does not when it is not" {
  trace true
  "$IOSCRIBE" parse --all "$LOG" >"$T/parsed"
  ! grep -q '^NULL' "$T/parsed"
}

@test "a module that does not exist: one line, the command is not started" {
  trace_options=(--set modules=NULL,NONE)
  trace touch "$T/w/started"
  [ "$status" -eq 1 ]
  [[ "$output" == "ioscribe run: options, line "*": modules: no module 'NONE' is fed by plain code" ]]
  [ ! -e "$T/w/started" ]
}

@test "docs/adding-a-module.md, step by step, in a build that leaves all optional modules out" {
  # a build that has them: what is looked for is found in it
  for word in MPI_File_open H5Dopen1 ncmpi_enddef fopen64 lustre.lov; do
    grep -q -a -F "$word" "$IOSCRIBE_BUILD/runtime/daemon/ioscribed"
  done
  "$IOSCRIBE_SOURCE/tests/trace/add_module.sh" "$IOSCRIBE_SOURCE" "$T/module"
}

# Whole builds for each would take long: what the options touch is compiled, no more.
@test "a build without any one of the modules" {
  local module file files arch
  files=$(cd "$IOSCRIBE_SOURCE" && grep -rl --include='*.c' IOSCRIBE_MODULE_ runtime uprobes)
  [ "$(wc -w <<<"$files")" -ge 4 ]
  arch=$(uname -m | sed 's/x86_64/x86/; s/aarch64/arm64/')
  for module in $(sed -n 's/^set(ioscribe_modules \(.*\))$/\1/p' "$IOSCRIBE_SOURCE/CMakeLists.txt"); do
    for file in $files; do
      if [[ $file == *.bpf.c ]]; then
        clang -g -O2 -target bpf -mcpu=v3 "-D__TARGET_ARCH_$arch" -Wall -Wextra -Werror -Wno-unused-parameter \
          -I"$IOSCRIBE_SOURCE" -idirafter "/usr/include/$(cc -print-multiarch)" "-DIOSCRIBE_MODULE_$module=0" \
          -fsyntax-only "$IOSCRIBE_SOURCE/$file"
      else
        cc -D_GNU_SOURCE -std=gnu11 -Wall -Wextra -Werror -Wno-unused-parameter -I"$IOSCRIBE_SOURCE" \
          "-DIOSCRIBE_MODULE_$module=0" -fsyntax-only "$IOSCRIBE_SOURCE/$file"
      fi || { echo "$file without $module"; return 1; }
    done
  done
}
