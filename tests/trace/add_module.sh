#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Follows docs/adding-a-module.md: applies its blocks, in order, to a copy of the
# tree, builds, traces, and looks for the new module's record in the log.
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
cmake $generator -S "$work/tree" -B "$work/build" -DIOSCRIBE_TESTS=OFF -DCMAKE_BUILD_TYPE=Release >"$work/cmake.out"
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
