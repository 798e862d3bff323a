#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Follows docs/adding-a-module.md: applies its blocks, in order, to a copy of the
# tree, builds without the modules that can be left out, traces, and looks for the
# new modules' records in the logs, and for nothing of the others.
#   usage: add_module.sh SOURCE WORKDIR      (root)
set -eu
[ $# -eq 2 ] || { echo "usage: add_module.sh SOURCE WORKDIR" >&2; exit 2; }
source=$(cd "$1" && pwd)
mkdir -p "$2/tree"
work=$(cd "$2" && pwd)

(cd "$source" && tar cf - --exclude=.git --exclude='./build*' .) | (cd "$work/tree" && tar xf -)

"$source/tests/trace/module_blocks.py" "$work/tree"

generator=
command -v ninja >/dev/null 2>&1 && generator='-G Ninja'
# a build that leaves out every module that can be left out: the new one stands alone
without=
for module in $(sed -n 's/^set(ioscribe_modules \(.*\))$/\1/p' "$work/tree/CMakeLists.txt"); do
	without="$without -DIOSCRIBE_MODULE_$module=OFF"
done
[ -n "$without" ] || { echo "add_module: no modules to leave out" >&2; exit 1; }
# shellcheck disable=SC2086 # lists of words
cmake $generator -S "$work/tree" -B "$work/build" -DIOSCRIBE_TESTS=OFF -DCMAKE_BUILD_TYPE=Debug $without >"$work/cmake.out"
cmake --build "$work/build" -j2 --target ioscribe --target ioscribed --target ioscribe-runtime >"$work/build.out" 2>&1 || {
	tail -20 "$work/build.out" >&2
	exit 1
}

# has MODULE TEXT RANK FILE COUNTER:VALUE...: is there such a record, with these counters?
has() {
	module=$1 text=$2 rank=$3 file=$4
	shift 4
	for want; do
		awk -F '\t' -v module="$module" -v rank="$rank" -v name="${module}_${want%:*}" -v value="${want#*:}" \
			-v file="$file" '$1 == module && $2 == rank && $4 == name && $5 == value && $6 == file { found = 1 }
			END { exit !found }' "$text" || {
			echo "add_module: rank $rank: ${module}_${want%:*} of $file is not ${want#*:}" >&2
			grep "${module}_" "$text" >&2 || true
			exit 1
		}
	done
}

# records MODULE TEXT N: are there so many, no more?
records() {
	n=$(awk -F '\t' -v module="$1" '$1 == module { print $2, $3 }' "$2" | sort -u | wc -l)
	[ "$n" -eq "$3" ] || { echo "add_module: $n records of $1 instead of $3" >&2; exit 1; }
}

# three processes: the shell, one that fails, one that is killed
code=0
"$work/build/util/ioscribe" run --quiet --force --log "$work/x.darshan" -- \
	sh -c 'sh -c "exit 5"; sh -c "kill -9 \$\$"; exit 3' || code=$?
[ "$code" -eq 3 ] || { echo "add_module: exit code $code instead of 3" >&2; exit 1; }
"$work/build/util/ioscribe" parse --all "$work/x.darshan" >"$work/x.txt"
has EXITS "$work/x.txt" 0 "<exits>" ENDED:3 FAILED:2 SIGNALLED:1
echo "add_module: the record of the new module is in the log"

# the library module: a process and its child, then two ranks
prog=$source/tests/trace/shelf
cc -O2 -fPIC -shared "$prog/library.c" -o "$work/libshelf.so"
cc -O2 "$prog/shelf.c" -o "$work/shelf" -L"$work" -lshelf -Wl,-rpath,"$work"
mpicc.mpich -DSHELF_MPI -O2 "$prog/shelf.c" -o "$work/shelf_ranks" -L"$work" -lshelf -Wl,-rpath,"$work"
mkdir "$work/one" "$work/two"
(cd "$work/one" && "$work/build/util/ioscribe" run --quiet --force --log "$work/shelf.darshan" -- "$work/shelf" fork)
"$work/build/util/ioscribe" parse --all "$work/shelf.darshan" >"$work/shelf.txt"
has SHELF "$work/shelf.txt" 0 "$work/one/both" PUTS:4 GETS:2 BYTES_PUT:16384 BYTES_GOT:2000
has SHELF "$work/shelf.txt" 0 "$work/one/own" PUTS:1 GETS:0 BYTES_PUT:10 BYTES_GOT:0
has POSIX "$work/shelf.txt" 0 "$work/one/both" WRITES:4 READS:2 BYTES_WRITTEN:16384 BYTES_READ:2000
records SHELF "$work/shelf.txt" 2
# what takes time has some, in its order
awk -F '\t' '$1 == "SHELF" && $6 ~ /both$/ { v[$4] = $5 }
	END { exit !(v["SHELF_F_FIRST_PUT"] > 0 && v["SHELF_F_LAST_PUT"] > v["SHELF_F_FIRST_PUT"] &&
		     v["SHELF_F_PUT_TIME"] > 0 && v["SHELF_F_GET_TIME"] > 0) }' "$work/shelf.txt" || {
	echo "add_module: times of SHELF" >&2
	exit 1
}
(cd "$work/two" && "$work/build/util/ioscribe" run --quiet --force --log "$work/ranks.darshan" -- \
	mpiexec.mpich -n 2 "$work/shelf_ranks")
"$work/build/util/ioscribe" parse --all "$work/ranks.darshan" >"$work/ranks.txt"
has SHELF "$work/ranks.txt" -1 "$work/two/both" PUTS:6 GETS:4 BYTES_PUT:24576 BYTES_GOT:4000
has SHELF "$work/ranks.txt" 0 "$work/two/own0" PUTS:1 BYTES_PUT:10
has SHELF "$work/ranks.txt" 1 "$work/two/own1" PUTS:1 BYTES_PUT:10
records SHELF "$work/ranks.txt" 3
echo "add_module: the library's calls are in the logs"

# asked for in vain: streams, files with a layout, calls that only POSIX_EXT counts
echo x >"$work/file"
"$work/build/util/ioscribe" run --quiet --force --log "$work/y.darshan" --set trace_libraries=all --set "layout_source=$(
	findmnt -no FSTYPE -T "$work"),user.lov" -- python3 -c "
import os
open('$work/file').read()
os.setxattr('$work/file', 'user.lov', open('$source/tests/data/lov/plain.lov', 'rb').read())
os.truncate('$work/file', 0)"
"$work/build/util/ioscribe" parse --base "$work/y.darshan" | grep -v '^#' | cut -f1 | sort -u >"$work/modules"
printf '%s\n' '' EXITS HEATMAP LEDGER POSIX PROCESS | diff "$work/modules" - || {
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
