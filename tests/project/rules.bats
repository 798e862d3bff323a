#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The scripts that check the tree accept the tree, and can refuse.

setup() {
  S=$IOSCRIBE_SOURCE/scripts
  T=$(mktemp -d)
  mkdir -p "$T"/logfmt/{base,file} "$T"/bpf/{kern,user} "$T"/uprobes/{elf,kern,attach} "$T"/runtime/{core,daemon} \
    "$T"/runtime/daemon/{base,model,output} "$T"/runtime/client/{process,mpi} "$T"/util/{tool,text,cmd/run,cmd/dxt} \
    "$T/tests" "$T/scripts"
}

teardown() {
  rm -rf "$T"
}

# include FILE WHAT: a file of the room with one include; the check's verdict.
include() {
  find "$T" -name '*.[ch]' -delete
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
  refused logfmt/file/a.c '"util/tool/command.h"'
  refused logfmt/file/a.c '"bpf/wire.h"'
  refused logfmt/base/a.h '"logfmt/file/reader.h"'
  refused logfmt/base/a.h '"runtime/core/module.h"'
  refused logfmt/file/a.c '<bpf/libbpf.h>'
  refused logfmt/file/a.c '<linux/bpf.h>'
  refused bpf/user/a.c '"uprobes/attach/attach.h"'
  refused bpf/user/a.c '"runtime/daemon/state/daemon.h"'
  refused uprobes/elf/a.c '"bpf/user/load.h"'
  refused uprobes/elf/a.c '"uprobes/attach/attach.h"'
  refused uprobes/attach/a.c '"util/tool/command.h"'
  refused util/tool/a.c '"bpf/wire.h"'
  refused util/tool/a.c '"runtime/daemon/state/daemon.h"'
  refused util/tool/a.c '"util/cmd/run/run_parts.h"'
  refused util/text/a.c '"util/tool/command.h"'
  refused util/cmd/dxt/a.c '"util/cmd/run/run_parts.h"'
  refused util/cmd/dxt/a.c '"util/link/service_link.h"'
  refused runtime/core/a.c '"runtime/daemon/state/daemon.h"'
  refused runtime/client/mpi/a.c '"runtime/daemon/state/daemon.h"'
  refused runtime/client/process/a.c '"runtime/client/mpi/client.h"'
  refused runtime/daemon/output/a.c '"runtime/client/mpi/client.h"'
  refused runtime/daemon/output/a.c '"util/tool/command.h"'
  refused runtime/daemon/output/a.c '<mpi.h>'
  refused util/tool/a.c '<mpi.h>'
  refused util/tool/a.c '"tests/prog/prog.h"'
  refused util/tool/a.c '"command.h"'
  refused util/tool/a.c '"../logfmt/file/reader.h"'
}

@test "include rule: what is private to a folder is refused, and a folder that is no room" {
  refused runtime/daemon/output/a.c '"bpf/user/load_private.h"'
  refused runtime/core/a.c '"bpf/user/load.h"'
  refused uprobes/attach/a.c '"bpf/user/levels.h"'
  refused runtime/daemon/output/a.c '"uprobes/attach/attach_state.h"'
  refused util/tool/a.c '"util/odd/b.h"'
}

@test "include rule: what goes down is accepted" {
  accepted logfmt/file/a.c '"logfmt/counters/records.h"'
  accepted logfmt/file/a.c '<zlib.h>'
  accepted bpf/kern/a.bpf.h '"logfmt/rules/posix_rules.h"'
  accepted bpf/kern/a.bpf.h '"bpf/kern/kernel.bpf.h"'
  accepted uprobes/attach/a.c '"bpf/wire.h"'
  accepted uprobes/attach/a.c '"bpf/user/load.h"'
  accepted uprobes/kern/a.bpf.c '"bpf/kern/slot.bpf.h"'
  accepted runtime/daemon/output/a.c '"bpf/user/load.h"'
  accepted runtime/daemon/output/a.c '"runtime/daemon/model/mpi_worlds.h"'
  accepted runtime/daemon/output/a.c '"runtime/core/module.h"'
  accepted runtime/client/mpi/a.c '<mpi.h>'
  accepted util/cmd/dxt/a.c '"logfmt/file/reader.h"'
  accepted util/cmd/run/a.c '"util/link/service_link.h"'
}

@test "tree rules: an offence of each kind is found" {
  printf 'int x;\n' >"$T/logfmt/no_spdx.c"
  { echo '/* SPDX-License-Identifier: BSD-3-Clause */'; yes ';' | head -n 600; } >"$T/logfmt/long.c"
  printf '/* SPDX-License-Identifier: BSD-3-Clause */\n/* %0120d */\n' 0 >"$T/logfmt/wide.c"
  printf '/* SPDX-License-Identifier: BSD-3-Clause */\nint x; \n' >"$T/logfmt/space.c"
  printf '/* SPDX-License-Identifier: BSD-3-Clause */\nsize_t f(void);\n' >"$T/logfmt/alone.h"
  printf '/* SPDX-License-Identifier: BSD-3-Clause */\nint f(void);\nint f(void) { return 1; }\n' >"$T/logfmt/defines.h"
  printf '#!/bin/sh\necho\n' >"$T/scripts/bare"
  mkdir -p "$T/docs/decisions"
  seq 251 >"$T/ARCHITECTURE.md"
  echo '# No date' >"$T/docs/decisions/01-one.md"
  echo '# Unlisted' >"$T/docs/alone.md"
  mkdir -p "$T/tests/untold"
  echo '| `tests/told` |' >"$T/tests/README.md"
  printf '%s\n' 'x() {' '  ! true' '  [ 1 ] && [ 2 ]' '' '  ! false || return 1' '  [ 1 ] && [ 2 ]' '}' >"$T/tests/untold/dead.bash"
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
  [[ $output == *"tests/untold/dead.bash:2: asserts nothing"* ]]
  [[ $output == *"tests/untold/dead.bash:3: asserts nothing"* ]]
  [[ $output != *"tests/untold/dead.bash:"[4-9]* ]]
  [[ $output == *"ARCHITECTURE.md: 251 lines"* ]]
  [[ $output == *"docs/decisions/01-one.md: no line 'Date:"* ]]
  [[ $output == *"docs/decisions/01-one.md: ARCHITECTURE.md does not link it"* ]]
  [[ $output == *"tests/untold: not in the table of tests/README.md"* ]]
  [[ $output == *"docs/alone.md: docs/README.md does not link it"* ]]
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
  printf '#include "logfmt/counters/counters_posix.h"\n%s\n' '#define N(name, rule, text) POSIX_##name' \
    'SCRIBE_POSIX_COUNTERS(N)' '#define F(name, rule, text) POSIX_F_##name' 'SCRIBE_POSIX_F_COUNTERS(F)' |
    cc -E -P -I"$IOSCRIBE_SOURCE" - | grep -ow 'POSIX_[A-Z0-9_]*' >"$BATS_TEST_TMPDIR/names"
  [ "$(wc -l <"$BATS_TEST_TMPDIR/names")" -eq 86 ]
  while read -r name; do
    grep -q "\`$name\`" "$IOSCRIBE_SOURCE/docs/counters.md" || missing="$missing $name"
  done <"$BATS_TEST_TMPDIR/names"
  for name in $(sed -n 's/^\tX(\([A-Z0-9_]*\), .*/\1/p' "$IOSCRIBE_SOURCE/logfmt/rules/posix_shard.h"); do
    grep -q "\`POSIX_EXT_\(F_\)\?${name/%_NS/_TIME}\`" "$IOSCRIBE_SOURCE/docs/counters.md" || missing="$missing $name"
  done
  echo "missing:$missing"
  [ -z "$missing" ]
}

@test "every counter of the ledger stands in docs/counters.md in the group that its list gives it" {
  cd "$IOSCRIBE_SOURCE"
  {
    sed -n 's/^\tX(\([A-Z0-9_]*\), \([A-Z]*\),.*/LEDGER_\1 \2/p' logfmt/counters/ledger_list.h
    sed -n '/SCRIBE_LEDGER_F_COUNTERS(X)/,/^$/s/^\tX(\([A-Z0-9_]*\), \([A-Z]*\),.*/LEDGER_F_\1 \2/p' \
      logfmt/counters/counters_own.h
  } | sort >"$T/list"
  awk '/^## /{ group = /^## LEDGER/ ? "FACT" : "" }
    /^Approximate, but counted:/ { group = "APPROX" }
    /^Lost, and POSIX is marked/ { group = "DROP" }
    /^Lost:/ { group = "LOSS" }
    /^\*\*Checked by the kernel/ { group = "FACT" }
    group && /^\| `LEDGER_/ { split($0, cell, "|"); n = split(cell[2], name, "`")
      for (i = 2; i <= n; i += 2) print name[i], group }' docs/counters.md | sort >"$T/page"
  [ "$(wc -l <"$T/list")" -gt 60 ]
  diff "$T/list" "$T/page"
}

# word FILE TEXT: a file of the room; the check's verdict.
word() {
  mkdir -p "$T/$(dirname "$1")"
  printf '%s\n' "$2" >"$T/$1"
  run "$S/check-words" "$T"
  rm "$T/$1"
}

@test "words that have the field's in their place: none is an identifier, a key, a counter or a file any more" {
  run "$S/check-words"
  echo "$output"
  [ "$status" -eq 0 ]
  local line
  while IFS='|' read -r file text name; do
    word "$file" "$text"
    echo "$file: $status $output"
    [ "$status" -eq 1 ]
    [[ $output == "$file: '$name': the field has another word"* || $output == "key: '$name': "* ]]
  done <<'E'
util/a.c|struct scribe_work *w;|scribe_work
util/a.c|static int outbox_bytes;|outbox_bytes
util/a.c|static void lose_hand(void) {}|lose_hand
logfmt/base/a.h|struct scribe_look_record;|scribe_look_record
logfmt/base/a.h|#define SCRIBE_LEDGER(X) X(HASH_FULL, "table full")|HASH_FULL
bpf/kern/a.bpf.h|enum { SCRIBE_JOB_NOBODY = 1 };|SCRIBE_JOB_NOBODY
runtime/core/a.c|	{"attach", LEVEL, FIELD(level), 0, 0, SITE},|attach
runtime/daemon/base/outbox.c|int x;|outbox
E
  word util/a.c '/* a place */ const char *x = "grace_ms over \"there\""; int placed;'
  [ "$status" -eq 0 ]
  # a word that is allowed stands in the list's folders alone
  mkdir -p "$T/util"
  echo 'place util: where a thing is' >"$T/scripts/words.txt"
  word util/a.c 'int place;'
  [ "$status" -eq 0 ]
  word util/text/a.c 'int place;'
  [ "$status" -eq 1 ]
  # and a line that nothing needs is refused
  [[ $output == *"'place' is no name in util any more"* ]]
  echo 'attach *: the verb' >"$T/scripts/words.txt"
  word util/a.c 'int attach;'
  [ "$status" -eq 0 ]
  word util/a.c '	{"attach", LEVEL, FIELD(level), 0, 0, SITE},'
  [ "$status" -eq 1 ]
}

@test "an exported function and the tag of a struct have one definition" {
  mkdir -p "$T/util" "$T/bpf"
  printf 'struct scribe_x {\n\tint a;\n};\nint scribe_f(int a)\n{\n\treturn a;\n}\nstatic int scribe_s(void)\n{\n}\n' >"$T/bpf/b.c"
  word util/a.c "$(printf 'struct scribe_x *scribe_y(void);\nint scribe_f(int a);\nstatic int scribe_s(void)\n{\n}\n')"
  [ "$status" -eq 0 ]
  word util/a.c "$(printf 'struct scribe_x {\n\tlong b;\n};')"
  [ "$status" -eq 1 ]
  [ "$output" = "'scribe_x' is defined in bpf/b.c and util/a.c: one name, one definition" ]
  word util/a.c "$(printf 'int scribe_f(int b,\n\tint c)\n{\n}\n')"
  [ "$output" = "'scribe_f()' is defined in bpf/b.c and util/a.c: one name, one definition" ]
}

comments() {
  run "$S/check-comments" "$@" "$T"
  echo "$status $output"
}

@test "comments: a folder's words for people and speech do not grow, and the product does not without a reason" {
  mkdir -p "$T/util/text"
  printf 'int a; /* it returns the number of bytes, or a negative code */\n' >"$T/util/text/a.c"
  printf '# Changelog\n\n| 9 | of another table |\n\n## Size\n\n| lines | reason |\n|---|---|\n| 1 | the first |\n' >"$T/CHANGELOG.md"
  comments
  [ "$status" -eq 0 ]
  printf 'int a; /* whoever asks is told "nobody is" */\n' >"$T/util/text/a.c"
  comments
  [ "$status" -eq 1 ]
  [[ $output == *"util/text: people 333.3 per thousand words of comments, at most 0.3: "* ]]
  [[ $output == *"util/text: speech 333.3 "* ]]
  printf 'util/text 340 340 0\n' >"$T/scripts/comments.txt"
  comments
  [ "$status" -eq 0 ]
  printf 'int a; /* who is it that returns the number of bytes here */\n' >"$T/util/text/a.c"
  comments --write
  [ "$status" -eq 0 ]
  [ "$(grep -v '^#' "$T/scripts/comments.txt" | tr -s ' ')" = "util/text 100.0 2.0 1.0" ]
  # a string is no comment; lines beyond the last row of the table
  printf 'const char *a = "/* nobody told him */";\nint b;\n' >"$T/util/text/a.c"
  comments
  [ "$status" -eq 1 ]
  [[ $output == 'the product has 2 lines: CHANGELOG.md, "Size", allows 1: '* ]]
  printf '| 1,002 | b |\n' >>"$T/CHANGELOG.md"
  comments
  [ "$status" -eq 0 ]
}

# unit NAME TEXT: a .c file and its object.
unit() {
  mkdir -p "$T/$(dirname "$1")" "$T/build/$(dirname "$1")/CMakeFiles/x.dir"
  printf '%s\n' "$2" >"$T/$1.c"
  cc -I"$T" -c -o "$T/build/$(dirname "$1")/CMakeFiles/x.dir/$(basename "$1").c.o" "$T/$1.c"
}

circles() {
  IOSCRIBE_ROOT=$T run "$S/check-circles" "$T/build" "$@"
  echo "$status $output"
}

@test "circles: a call back is a circle, and so is an include; folders too; known ones must stay as long as they are" {
  echo 'int unit_b(void);' >"$T/util/b.h"
  unit util/a 'int unit_b(void); int unit_a(void) { return unit_b(); }'
  unit util/b 'int unit_b(void) { return 1; }'
  : >"$T/scripts/circles.txt"
  circles
  [ "$status" -eq 0 ]
  unit util/b 'int unit_a(void); int unit_b(void) { return unit_a(); }'
  circles
  [ "$status" -eq 1 ]
  [ "$output" = "check-circles: a new circle: util/a util/b" ]
  circles --list
  [ "$output" = "util/a util/b" ]
  echo "util/a util/b" >"$T/scripts/circles.txt"
  circles
  [ "$status" -eq 0 ]
  # by an include one way, by a call the other
  echo 'int unit_a(void);' >"$T/util/a.h"
  unit util/b '#include "util/a.h"
int unit_b(void) { return 1; }'
  circles
  [ "$status" -eq 0 ]
  unit util/b 'int unit_b(void) { return 1; }'
  circles
  [ "$status" -eq 1 ]
  [[ $output == *"no circle any longer, or a smaller one; shorten the line: util/a util/b" ]]
  # two folders, no two files
  : >"$T/scripts/circles.txt"
  unit util/b 'int unit_c(void); int unit_b(void) { return unit_c(); }'
  unit bpf/c 'int unit_c(void) { return 1; }'
  unit bpf/d 'int unit_a(void); int unit_d(void) { return unit_a(); }'
  circles
  [ "$status" -eq 1 ]
  [ "$output" = "check-circles: a new circle: bpf util" ]
  # a wrapper of the client that has a library's name is no answer to the call
  unit util/b 'int unit_b(void) { return 1; }'
  unit runtime/client/e 'int unit_b(void); int fopen(void) { return unit_b(); }'
  unit util/b 'int fopen(void); int unit_b(void) { return fopen(); }'
  unit bpf/d 'int unit_d(void) { return 1; }'
  circles
  [ "$status" -eq 0 ]
}

@test "circles: no other in the tree than those that are known, and these are as long as the list says" {
  run "$S/check-circles" "$IOSCRIBE_BUILD"
  echo "$output"
  [ "$status" -eq 0 ]
}
