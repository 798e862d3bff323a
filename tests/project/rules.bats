#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The scripts that check the tree accept the tree, and can refuse.

setup() {
  S=$IOSCRIBE_SOURCE/scripts
  T=$(mktemp -d)
  mkdir -p "$T/logfmt/base" "$T/bpf" "$T/uprobes" "$T/runtime/core" "$T/runtime/daemon" "$T/runtime/client" "$T/util" \
    "$T/tests" "$T/scripts"
}

teardown() {
  rm -rf "$T"
}

# include FILE WHAT: a file of the room with one include; the check's verdict.
include() {
  rm -f "$T"/*/*.[ch] "$T"/*/*/*.[ch]
  printf '/* SPDX-License-Identifier: BSD-3-Clause */\n#include %s\n' "$2" >"$T/$1"
  run "$S/check-includes" "$T"
  echo "$1 includes $2: $status $output"
}

refused() {
  include "$1" "$2"
  [ "$status" -ne 0 ]
  [[ $output == "$1:2: "* ]]
}

accepted() {
  include "$1" "$2"
  [ "$status" -eq 0 ]
  [ -z "$output" ]
}

@test "include rule: what goes up is refused, by file and line" {
  refused logfmt/a.c '"util/b.h"'
  refused logfmt/a.c '"bpf/wire.h"'
  refused logfmt/base/a.h '"runtime/core/b.h"'
  refused logfmt/a.c '<bpf/libbpf.h>'
  refused logfmt/a.c '<linux/bpf.h>'
  refused bpf/a.c '"uprobes/b.h"'
  refused bpf/a.c '"runtime/daemon/b.h"'
  refused uprobes/a.c '"bpf/drain.h"'
  refused uprobes/a.c '"util/b.h"'
  refused util/a.c '"bpf/wire.h"'
  refused util/a.c '"runtime/daemon/daemon.h"'
  refused runtime/core/a.c '"runtime/daemon/daemon.h"'
  refused runtime/client/a.c '"runtime/daemon/daemon.h"'
  refused runtime/daemon/a.c '"runtime/client/client.h"'
  refused runtime/daemon/a.c '"util/command.h"'
  refused runtime/daemon/a.c '<mpi.h>'
  refused util/a.c '<mpi.h>'
  refused util/a.c '"tests/prog/prog.h"'
  refused util/a.c '"command.h"'
  refused util/a.c '"../logfmt/reader.h"'
}

@test "include rule: what goes down is accepted" {
  accepted logfmt/a.c '"logfmt/reader.h"'
  accepted logfmt/a.c '<zlib.h>'
  accepted bpf/a.bpf.h '"logfmt/rules/posix_rules.h"'
  accepted bpf/a.bpf.h '"bpf/kernel.bpf.h"'
  accepted uprobes/a.c '"bpf/wire.h"'
  accepted uprobes/a.c '"bpf/load.h"'
  accepted uprobes/a.bpf.c '"bpf/state.bpf.h"'
  accepted runtime/daemon/a.c '"bpf/load.h"'
  accepted runtime/daemon/a.c '"runtime/core/module.h"'
  accepted runtime/client/a.c '<mpi.h>'
  accepted util/a.c '"logfmt/reader.h"'
}

@test "tree rules: an offence of each kind is found" {
  printf 'int x;\n' >"$T/logfmt/no_spdx.c"
  { echo '/* SPDX-License-Identifier: BSD-3-Clause */'; yes ';' | head -n 600; } >"$T/logfmt/long.c"
  printf '/* SPDX-License-Identifier: BSD-3-Clause */\n/* %0120d */\n' 0 >"$T/logfmt/wide.c"
  printf '/* SPDX-License-Identifier: BSD-3-Clause */\nint x; \n' >"$T/logfmt/space.c"
  printf '/* SPDX-License-Identifier: BSD-3-Clause */\nsize_t f(void);\n' >"$T/logfmt/alone.h"
  printf '/* SPDX-License-Identifier: BSD-3-Clause */\nint f(void);\nint f(void) { return 1; }\n' >"$T/logfmt/defines.h"
  printf '#!/bin/sh\necho\n' >"$T/scripts/bare"
  run "$S/check-tree" "$T"
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"logfmt/no_spdx.c:1: no SPDX line"* ]]
  [[ $output == *"logfmt/long.c: 601 lines"* ]]
  [[ $output == *"logfmt/wide.c:2: 126 columns"* ]]
  [[ $output == *"logfmt/space.c:2: white space"* ]]
  [[ $output == *"logfmt/alone.h: does not compile alone"* ]]
  [[ $output == *"logfmt/defines.h: defines f"* ]]
  [[ $output == *"scripts/bare:1: no SPDX line"* ]]
}

@test "bats adapter: a skip that is not listed fails, all listed ones give 77" {
  mkdir -p "$T/tests/x"
  cp "$IOSCRIBE_SOURCE/tests/run-bats" "$T/tests/run-bats"
  printf '@test "one" {\n  skip "no reason"\n}\n' >"$T/tests/x/a.bats"
  : >"$T/tests/skips.txt"
  run env -i PATH=/usr/local/bin:/usr/bin:/bin "$T/tests/run-bats" "$IOSCRIBE_BUILD" "$T/tests/x/a.bats"
  [ "$status" -eq 1 ]
  [[ $output == *"not listed in tests/skips.txt: x/a.bats: one"* ]]
  echo 'x/a.bats: one' >"$T/tests/skips.txt"
  run env -i PATH=/usr/local/bin:/usr/bin:/bin "$T/tests/run-bats" "$IOSCRIBE_BUILD" "$T/tests/x/a.bats"
  [ "$status" -eq 77 ]
  printf '@test "two" {\n  true\n}\n' >>"$T/tests/x/a.bats"
  run env -i PATH=/usr/local/bin:/usr/bin:/bin "$T/tests/run-bats" "$IOSCRIBE_BUILD" "$T/tests/x/a.bats"
  [ "$status" -eq 0 ]
  printf '@test "three" {\n  false\n}\n' >>"$T/tests/x/a.bats"
  run env -i PATH=/usr/local/bin:/usr/bin:/bin "$T/tests/run-bats" "$IOSCRIBE_BUILD" "$T/tests/x/a.bats"
  [ "$status" -eq 1 ]
}

@test "every counter of POSIX and of our own record is explained in docs/counters.md" {
  local missing=""
  for name in $(sed -n 's/^\tX(\([A-Z0-9_]*\), .*/\1/p' "$IOSCRIBE_SOURCE/logfmt/counters_posix.h" |
    awk '{ print (++n > 69 ? "POSIX_F_" : "POSIX_") $1 }'); do
    grep -q "\`$name\`" "$IOSCRIBE_SOURCE/docs/counters.md" || missing="$missing $name"
  done
  for name in $(sed -n 's/^\tX(\([A-Z0-9_]*\), .*/\1/p' "$IOSCRIBE_SOURCE/logfmt/rules/posix_part.h"); do
    grep -q "\`POSIX_EXT_\(F_\)\?${name/%_NS/_TIME}\`" "$IOSCRIBE_SOURCE/docs/counters.md" || missing="$missing $name"
  done
  for name in $(sed -n 's/^\tX(\([A-Z0-9_]*\), .*/\1/p' "$IOSCRIBE_SOURCE/logfmt/ledger_list.h"); do
    grep -q "\`LEDGER_$name\`" "$IOSCRIBE_SOURCE/docs/counters.md" || missing="$missing $name"
  done
  echo "missing:$missing"
  [ -z "$missing" ]
}
