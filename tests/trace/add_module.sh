#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Follows docs/adding-a-module.md: applies its blocks, in order, to a copy of the
# tree, builds without the modules that can be left out, traces, and looks for the
# new module's record in the log, and for nothing of the others.
#   usage: add_module.sh SOURCE WORKDIR      (root)
set -eu
[ $# -eq 2 ] || { echo "usage: add_module.sh SOURCE WORKDIR" >&2; exit 2; }
source=$(cd "$1" && pwd)
mkdir -p "$2/tree"
work=$(cd "$2" && pwd)

(cd "$source" && tar cf - --exclude=.git --exclude='./build*' .) | (cd "$work/tree" && tar xf -)

python3 - "$work/tree" <<'PY'
import re, sys
tree = sys.argv[1]
page = open(tree + '/docs/adding-a-module.md').read()
blocks = re.findall(r'^```(?:c|cmake) (\S+?)=(\S+)(?: (after|before)="((?:[^"\\]|\\.)*)")?\n(.*?)^```$', page, re.S | re.M)
if len(blocks) < 10:
    sys.exit('add_module: only %d blocks found in the page' % len(blocks))
for what, path, where, mark, text in blocks:
    full = tree + '/' + path
    if what == 'new':
        open(full, 'x').write(text)
        continue
    mark = mark.replace('\\"', '"')
    old = open(full).read()
    if old.count(mark) != 1:
        sys.exit('add_module: %s: the place "%s" is there %d times' % (path, mark, old.count(mark)))
    at = old.index(mark)
    if where == 'after':
        at = old.index('\n', at) + 1
    open(full, 'w').write(old[:at] + text + old[at:])
    print('step: %s %s' % (what, path))
PY

generator=
command -v ninja >/dev/null 2>&1 && generator='-G Ninja'
# a build that leaves out every module that can be left out: the new one stands alone
without=
for module in $(sed -n 's/^set(ioscribe_modules \(.*\))$/\1/p' "$work/tree/CMakeLists.txt"); do
	without="$without -DIOSCRIBE_MODULE_$module=OFF"
done
[ -n "$without" ] || { echo "add_module: no modules to leave out" >&2; exit 1; }
# shellcheck disable=SC2086 # lists of words
cmake $generator -S "$work/tree" -B "$work/build" -DIOSCRIBE_TESTS=OFF -DCMAKE_BUILD_TYPE=Release $without >"$work/cmake.out"
cmake --build "$work/build" -j2 --target ioscribe --target ioscribed >"$work/build.out" 2>&1 || {
	tail -20 "$work/build.out" >&2
	exit 1
}

# three processes: the shell, one that fails, one that is killed
code=0
"$work/build/util/ioscribe" run --quiet --log "$work/x.darshan" -- \
	sh -c 'sh -c "exit 5"; sh -c "kill -9 \$\$"; exit 3' || code=$?
[ "$code" -eq 3 ] || { echo "add_module: exit code $code instead of 3" >&2; exit 1; }
"$work/build/util/ioscribe" parse --all "$work/x.darshan" >"$work/x.txt"
for want in ENDED:3 FAILED:2 SIGNALLED:1; do
	awk -F '\t' -v name="EXITS_${want%:*}" -v value="${want#*:}" \
		'$1 == "EXITS" && $4 == name && $5 == value && $6 == "<exits>" { found = 1 } END { exit !found }' \
		"$work/x.txt" || {
		echo "add_module: EXITS_${want%:*} is not ${want#*:} in the log" >&2
		grep EXITS_ "$work/x.txt" >&2 || true
		exit 1
	}
done
echo "add_module: the record of the new module is in the log"

# asked for in vain: streams, files with a layout, calls that only POSIX_EXT counts
echo x >"$work/file"
"$work/build/util/ioscribe" run --quiet --log "$work/y.darshan" --set libraries=all --set "layout_source=$(
	findmnt -no FSTYPE -T "$work"),user.lov" -- python3 -c "
import os
open('$work/file').read()
os.setxattr('$work/file', 'user.lov', open('$source/tests/data/lov/plain.lov', 'rb').read())
os.truncate('$work/file', 0)"
"$work/build/util/ioscribe" parse --base "$work/y.darshan" | grep -v '^#' | cut -f1 | sort -u >"$work/modules"
printf '%s\n' '' EXITS LEDGER POSIX PROCESS | diff "$work/modules" - || {
	echo "add_module: other modules than those" >&2
	exit 1
}
for word in MPI_File_open H5Dopen1 ncmpi_enddef fopen64 lustre.lov; do
	if grep -q -a -F "$word" "$work/build/runtime/daemon/ioscribed"; then
		echo "add_module: $word is built though its module is left out" >&2
		exit 1
	fi
done
if [ -e "$work/build/runtime/client/libioscribe-inside.so" ]; then
	echo "add_module: the library that counts inside programs is built" >&2
	exit 1
fi
echo "add_module: what is left out is not there"
