#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The installed libraries as an outside project meets them: headers alone, in C
# and C++, pkg-config, CMake config, symbols and their versions.

load helper

LOG="$LOGS/mpi-io-test-x86_64-3.5.0.darshan"

cache() {
	sed -n "s/^$1:[A-Z]*=//p" "$BUILD/CMakeCache.txt"
}

setup_file() {
	export BUILD="${IOSCRIBE_BUILD:-$(dirname "$(dirname "$(command -v "$IOSCRIBE")")")}"
	export ROOT="$BATS_FILE_TMPDIR/root"
	DESTDIR="$ROOT" cmake --install "$BUILD" >"$BATS_FILE_TMPDIR/install.log" 2>&1 || {
		tail -5 "$BATS_FILE_TMPDIR/install.log"
		return 1
	}
	export PREFIX="$ROOT$(cache CMAKE_INSTALL_PREFIX)"
	export LIBDIR="$(dirname "$(find "$PREFIX" -name libioscribe-log.so)")"
	export INCLUDE="$PREFIX/include/ioscribe"
	export SANITIZE="$(cache IOSCRIBE_SANITIZE)"
	export CFLAGS="${SANITIZE:+-fsanitize=$SANITIZE}" CXXFLAGS="${SANITIZE:+-fsanitize=$SANITIZE}"
	export CC="$(cache CMAKE_C_COMPILER)" CXX=c++
	case $CC in *clang*) CXX="${CC/clang/clang++}" ;; esac
	export PKG_CONFIG_PATH="$LIBDIR/pkgconfig:$LIBDIR/ioscribe/darshan/pkgconfig"
}

want() {
	"$IOSCRIBE" parse --base "$LOG" | awk -F'\t' '$4 == "POSIX_OPENS" { n += $5 } END { print n }'
}

# says FILE...: each program sums up the log as the parser does.
says() {
	local program out
	[ "$(want)" -gt 0 ]
	for program in "$@"; do
		out=$(LD_LIBRARY_PATH="$LIBDIR:$LIBDIR/ioscribe/darshan" "$program" "$LOG")
		[[ "$out" == "$(want) opens, "[1-9]*" names" ]] || {
			echo "$program: $out, not $(want) opens"
			return 1
		}
	done
}

@test "each header compiles alone, in C11 and C++11" {
	cd "$INCLUDE"
	find logfmt -name '*.h' >"$BATS_TEST_TMPDIR/headers"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/headers")" -ge 15 ]
	printf '%s\n' darshan/darshan-logutils.h darshan/darshan-log-format.h >>"$BATS_TEST_TMPDIR/headers"
	xargs -P 2 -I H sh -ec 'echo "#include \"H\"" | $0 -xc -std=c11 -Wall -Wextra -Werror -fsyntax-only -I. -Idarshan -
		echo "#include \"H\"" | $1 -xc++ -std=c++11 -Wall -Wextra -Werror -fsyntax-only -I. -Idarshan -' \
		"$CC" "$CXX" <"$BATS_TEST_TMPDIR/headers"
}

@test "a CMake project in C and C++, shared and static" {
	cmake -G Ninja -S "$BATS_TEST_DIRNAME/outside" -B "$BATS_TEST_TMPDIR/b" -DCMAKE_PREFIX_PATH="$PREFIX" \
		-DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX"
	cmake --build "$BATS_TEST_TMPDIR/b"
	cd "$BATS_TEST_TMPDIR/b"
	says ./opens_ioscribe-log ./opens_cxx_ioscribe-log ./opens_ioscribe-log-static ./opens_cxx_ioscribe-log-static
	readelf -d opens_ioscribe-log | grep -q 'NEEDED.*libioscribe-log\.so\.1\]'
	none -q libioscribe-log <(readelf -d opens_ioscribe-log-static)
}

@test "a newer major version is not taken for this one" {
	sed 's/find_package(ioscribe-log 1 /find_package(ioscribe-log 2 /' "$BATS_TEST_DIRNAME/outside/CMakeLists.txt" \
		>"$BATS_TEST_TMPDIR/CMakeLists.txt"
	run cmake -G Ninja -S "$BATS_TEST_TMPDIR" -B "$BATS_TEST_TMPDIR/b" -DCMAKE_PREFIX_PATH="$PREFIX" \
		-DCMAKE_C_COMPILER="$CC" -DCMAKE_CXX_COMPILER="$CXX"
	[ "$status" -ne 0 ]
	[[ "$output" == *'requested'*'version "2"'* ]]
}

@test "pkg-config, shared and static" {
	cd "$BATS_TEST_DIRNAME/outside"
	local flags
	flags="$(pkg-config --define-variable=prefix="$PREFIX" --cflags --libs ioscribe-log)"
	$CC $CFLAGS opens.c -o "$BATS_TEST_TMPDIR/shared" $flags
	flags="$(pkg-config --define-variable=prefix="$PREFIX" --static --cflags --libs ioscribe-log)"
	$CC $CFLAGS opens.c -o "$BATS_TEST_TMPDIR/static" ${flags/-lioscribe-log/-l:libioscribe-log.a}
	says "$BATS_TEST_TMPDIR/shared" "$BATS_TEST_TMPDIR/static"
	[ "$(pkg-config --modversion ioscribe-log)" = "$(readlink "$LIBDIR/libioscribe-log.so.1" | sed 's/.*\.so\.//')" ]
}

@test "the examples build as a project of their own, and say what the tools say" {
	local log
	cmake -G Ninja -S "$BATS_TEST_DIRNAME/../../examples" -B "$BATS_TEST_TMPDIR/b" -DCMAKE_PREFIX_PATH="$PREFIX" \
		-DCMAKE_C_COMPILER="$CC" -DCMAKE_C_FLAGS="$CFLAGS -Wall -Wextra -Werror"
	cmake --build "$BATS_TEST_TMPDIR/b"
	cd "$BATS_TEST_TMPDIR"
	export LD_LIBRARY_PATH="$LIBDIR"
	for log in "$LOG" "$LOGS"/../own/shell.darshan "$LOGS"/*hdf5*.darshan; do
		b/list_counters "$log" >listed
		"$IOSCRIBE" parse --all "$log" >parsed
		# traces, layouts, texts and files of datasets have lines of their own in the parser's text
		grep -v '^#' listed | sort >got
		[ "$(wc -l <got)" -gt 50 ]
		grep -P '^[^#\t]+\t-?\d+\t\d+\t' parsed | cut -f1-6 | grep -v -P '^(DXT|LUSTRE|HEATMAP)|\t(PROCESS_EXE|PROCESS_HOST|[A-Z0-9_]*_FILE_REC_ID)\t' | sort >want
		diff got want | head -5
		cmp got want
		b/filter_log 0 "$log" new.darshan
		"$IOSCRIBE" parse --base new.darshan | grep -P '^[^#\t]+\t-?\d+\t' >got
		"$IOSCRIBE" parse --base "$log" | grep -P '^[^#\t]+\t(0|-1)\t' >want
		diff got want | head -5
		cmp got want
		rm -f new.darshan
	done
	# refused in one line, and nothing is left
	head -c 2000 "$LOG" >cut
	run_err 1 "list_counters: cut: " b/list_counters cut
	run_err 1 "filter_log: cut: " b/filter_log 0 cut never
	[ ! -e never ]
}

@test "manual pages of the library: those of its headers, one under the name of every function" {
	local page function
	mkdir "$BATS_TEST_TMPDIR/man"
	"$BATS_TEST_DIRNAME/../../scripts/man3" "$BATS_TEST_TMPDIR/man"
	[ "$(ls "$BATS_TEST_TMPDIR/man" | wc -l)" -ge 9 ]
	for page in "$BATS_TEST_TMPDIR"/man/*.3; do
		diff "$BATS_TEST_DIRNAME/../../docs/man/$(basename "$page")" "$page"
	done
	nm -D --defined-only "$LIBDIR/libioscribe-log.so" | sed -n 's/^[0-9a-f]* T \(.*\)@@.*/\1/p' >"$BATS_TEST_TMPDIR/functions"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/functions")" -ge 40 ]
	while read -r function; do
		page="$PREFIX/share/man/man3/$function.3"
		[ -f "$page" ] || { echo "no manual page: $function"; return 1; }
		if grep -q '^\.so man3/' "$page"; then
			page="$PREFIX/share/man/$(sed 's/^\.so //' "$page")"
		fi
		grep -qE "^[^.].*\b$function\(" "$page" || { echo "$page: no prototype of $function"; return 1; }
	done <"$BATS_TEST_TMPDIR/functions"
	for page in "$BATS_TEST_DIRNAME"/../../docs/man/*.3; do
		[ -z "$(LC_ALL=C.UTF-8 MANROFFSEQ= MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null)" ]
	done
}

@test "the installed Python package finds its library" {
	local python=/usr/bin/python3
	# one with sanitizers does not load into an interpreter without
	[ -z "$SANITIZE" ] || return 0
	cd "$BATS_TEST_TMPDIR"
	PYTHONPATH="$PREFIX/lib/python3/dist-packages" LD_LIBRARY_PATH= $python -B - "$LOG" >opens <<-'END'
		import sys, ioscribe
		assert "/root/" in ioscribe.__file__, ioscribe.__file__
		print(ioscribe.Log(sys.argv[1]).frame("POSIX")["POSIX_OPENS"].sum())
	END
	[ "$(cat opens)" = "$(want)" ]
}

@test "Darshan's C interface from C and C++" {
	cd "$BATS_TEST_DIRNAME/outside"
	local flags
	flags="$(pkg-config --define-variable=prefix="$PREFIX" --cflags --libs darshan-util)"
	$CXX $CFLAGS darshan_opens.cpp -o "$BATS_TEST_TMPDIR/cxx" $flags
	$CC $CFLAGS -xc darshan_opens.cpp -xnone -o "$BATS_TEST_TMPDIR/c" $flags
	says "$BATS_TEST_TMPDIR/cxx" "$BATS_TEST_TMPDIR/c"
	# the layout of the line after it, from its own folder
	flags="$(PKG_CONFIG_PATH="$LIBDIR/ioscribe/darshan-next/pkgconfig" \
		pkg-config --define-variable=prefix="$PREFIX" --cflags --libs darshan-util)"
	[[ "$flags" == *-DDARSHAN_DXT_THREADS=1*darshan-next* ]]
	$CXX $CFLAGS darshan_opens.cpp -o "$BATS_TEST_TMPDIR/next" $flags -Wl,-rpath,"$LIBDIR/ioscribe/darshan-next"
	LD_LIBRARY_PATH= "$BATS_TEST_TMPDIR/next" "$LOG" | grep -q "^$(want) opens"
	readelf -d "$LIBDIR/ioscribe/darshan/libdarshan-util.so" | grep -q 'SONAME.*\[libdarshan-util\.so\.0\]'
}

@test "exported is what the headers declare, under a version, and no more" {
	grep -hoE '\bscribe_[a-z0-9_]+\(' $(find "$INCLUDE/logfmt" -name '*.h' ! -path '*/rules/*') | tr -d '(' | sort -u \
		>"$BATS_TEST_TMPDIR/declared"
	nm -D --defined-only "$LIBDIR/libioscribe-log.so" | sed -n 's/^[0-9a-f]* T //p' | sort >"$BATS_TEST_TMPDIR/versioned"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/versioned")" -ge 40 ]
	none -v '@@IOSCRIBE_LOG_1$' "$BATS_TEST_TMPDIR/versioned"
	sed 's/@@.*//' "$BATS_TEST_TMPDIR/versioned" >"$BATS_TEST_TMPDIR/exported"
	diff <(comm -13 "$BATS_TEST_TMPDIR/declared" "$BATS_TEST_TMPDIR/exported") /dev/null
	# declared, but not there: only what is inline
	for name in $(comm -23 "$BATS_TEST_TMPDIR/declared" "$BATS_TEST_TMPDIR/exported"); do
		grep -qE "^static inline .*\b$name\(" -r "$INCLUDE/logfmt" || { echo "declared, not exported: $name"; return 1; }
	done
	none -q ' [TDB] scribe_' <(nm -D --defined-only "$LIBDIR/ioscribe/darshan/libdarshan-util.so")
}

@test "the names of Darshan's tools are installed with manual pages and completion" {
	local name
	for name in parser dxt-parser convert diff merge analyzer; do
		[ -x "$PREFIX/bin/darshan-$name" ]
		grep -q "^\.B darshan-$name" "$PREFIX/share/man/man1/darshan-$name.1"
		grep -q "complete -F .* darshan-$name" "$PREFIX/share/bash-completion/completions/darshan-$name"
	done
}

@test "the installed command finds the program that writes exports" {
	"$PREFIX/bin/ioscribe" export --csv --table job "$LOG" | grep -q '^log,'
	rm "$PREFIX/libexec/ioscribe/ioscribe-export"
	run_err 1 "ioscribe export: cannot start ioscribe-export, which writes exports: No such file or directory" \
		"$PREFIX/bin/ioscribe" export --csv --table job "$LOG"
}
