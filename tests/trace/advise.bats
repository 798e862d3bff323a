#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Programs with one known fault each: `ioscribe advise` names it first; nothing on clean ones.
load helper

# first: the rule of the first finding of the program's log, "" for none.
first() {
  "$IOSCRIBE" run --quiet --force --log "$T/x.darshan" -- "$@" >/dev/null || true
  "$IOSCRIBE" advise "$T/x.darshan" >"$T/advice"
  awk 'NR == 1 && $1 != "no" { print $2 }' "$T/advice"
}

py() { first python3 -c "import os; w = '$T/w/'; $1"; }

@test "twelve programs with one fault each: the fault is the first finding" {
  local name code bad=0
  truncate -s 1200M "$T/w/sparse"
  head -c 20M /dev/zero >"$T/w/data"
  yes 0123456789abcdef | head -c 20M >"$T/w/lines"
  while IFS='|' read -r name code; do
    got=$(py "$code")
    [ "$got" = "$name" ] || { echo "$name: first is '$got'"; cat "$T/advice"; bad=1; }
  done <<'PROGRAMS'
small-writes|f = os.open(w + "a", os.O_CREAT | os.O_WRONLY); [os.write(f, b"x" * 4096) for i in range(2000)]
small-reads|f = os.open(w + "data", os.O_RDONLY); [os.read(f, 4096) for i in range(2000)]
random-reads|f = os.open(w + "sparse", os.O_RDONLY); [os.pread(f, 1100000, (1100 - i) << 20) for i in range(1050)]
unaligned|f = os.open(w + "sparse", os.O_RDONLY); [os.pread(f, 1048577, i * 1048577 + 1) for i in range(1100)]
reread|f = os.open(w + "data", os.O_RDONLY); [os.pread(f, 4 << 20, i % 5 << 22) for i in range(50)]
unused-opens|[os.close(os.open(w + "e%d" % i, os.O_CREAT | os.O_WRONLY)) for i in range(1500)]
failed-paths|[os.path.exists(w + "none/%d" % i) for i in range(2000)]
small-files|[open(w + "s%d" % i, "wb").write(b"x" * 100) for i in range(1500)]
discarded|f = os.open(w + "t", os.O_CREAT | os.O_WRONLY); [os.write(f, b"x" * (2 << 20)) for i in range(10)]; os.unlink(w + "t")
syncs|f = os.open(w + "y", os.O_CREAT | os.O_WRONLY); os.write(f, b"x" * (2 << 20)); [os.fsync(f) for i in range(1500)]
seeks|f = os.open(w + "data", os.O_RDONLY); [os.lseek(f, i, 0) for i in range(20000)]; os.read(f, 4 << 20)
failed-processes|os.system("kill -9 $$")
PROGRAMS
  [ "$(first cut -c1-8 "$T/w/lines")" = streams ] || { cat "$T/advice"; bad=1; }
  [ "$bad" = 0 ]
}

@test "nothing on programs that do their I/O well" {
  head -c 64M /dev/zero >"$T/w/data"
  for command in "true" "dd if=$T/w/data of=$T/w/copy bs=4M" "cp $T/w/data $T/w/copy2" \
    "python3 -c \"f = open('$T/w/big', 'wb', 0); [f.write(b'x' * (4 << 20)) for i in range(16)]\""; do
    [ -z "$(first sh -c "$command")" ] || { echo "$command"; cat "$T/advice"; return 1; }
    [ "$(cat "$T/advice")" = "no findings" ]
  done
}
