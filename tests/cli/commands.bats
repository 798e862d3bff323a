# SPDX-License-Identifier: BSD-3-Clause
# What holds for every command: --help, --version, manual page, completion.

load helper

commands() {
	"$IOSCRIBE" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'
}

# Commands that read logs; the others (run, doctor) have tests of their own.
log_commands() {
	"$IOSCRIBE" generate completion | sed -n 's/^\t\([a-z]*\)\( | [a-z-]*\)\?) words=.*/\1/p'
}

@test "ioscribe without arguments: usage, exit 2; --help: exit 0" {
	run "$IOSCRIBE"
	[ "$status" -eq 2 ]
	[[ "$output" == *"usage: ioscribe COMMAND"* ]]
	run "$IOSCRIBE" --help
	[ "$status" -eq 0 ]
	[[ "$output" == *"parse"* && "$output" == *"dxt"* ]]
}

@test "--version" {
	run "$IOSCRIBE" --version
	[ "$status" -eq 0 ]
	[[ "$output" =~ ^ioscribe\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
}

@test "every log command has --help with its options and an exit code of 0" {
	local c n=0
	for c in $(log_commands); do
		n=$((n + 1))
		run "$IOSCRIBE" "$c" --help
		[ "$status" -eq 0 ]
		[[ "$output" == "usage: ioscribe $c"* ]]
		[[ "$output" == *"--help"* ]]
		run "$IOSCRIBE" help "$c"
		[ "$status" -eq 0 ]
	done
	[ "$n" -ge 2 ]
}

@test "an unknown option is refused by every log command" {
	local c
	for c in $(log_commands); do
		run_err 2 "unknown option '--no-such-option'" "$IOSCRIBE" "$c" --no-such-option x y
	done
}

# options PROGRAM...: its long options as --help tells them; with ' ARG' where one takes an argument
options() {
	"$@" --help | sed -nE 's/^  (-., )?(--[a-zA-Z0-9_-]+)(=| )?([A-Z][A-Z=]*)?.*/\2 \4/p'
}

@test "bad options of every command: unknown, ambiguous, without their argument: exit 2, and the option's name" {
	local c name arg short prefix n=0
	for c in $(commands) $("$IOSCRIBE" --help | grep -q '^  export ' && echo generate); do
		run_err 2 "unknown option '--no-such-option'" "$IOSCRIBE" "$c" --no-such-option x y
		run_err 2 "unknown option '-Z'" "$IOSCRIBE" "$c" -Z x y
		while read -r name arg; do
			if [ -n "$arg" ]; then
				run_err 2 "option '$name' needs an argument" "$IOSCRIBE" "$c" "$name"
				n=$((n + 1))
			else
				run_err 2 "'$name=3'" "$IOSCRIBE" "$c" "$name=3" x
			fi
		done < <(options "$IOSCRIBE" "$c")
		while read -r short; do
			run_err 2 "option '$short' needs an argument" "$IOSCRIBE" "$c" "$short"
		done < <("$IOSCRIBE" "$c" --help | sed -nE 's/^  (-.), --[a-z0-9_-]+[ =][A-Z].*/\1/p')
		# each beginning that two of them have, and that is none
		for prefix in $(options "$IOSCRIBE" "$c" | cut -d ' ' -f 1 | grep -oE '^--.' | sort | uniq -d); do
			options "$IOSCRIBE" "$c" | grep -q "^$prefix " && continue
			run_err 2 "option '$prefix' is ambiguous: --" "$IOSCRIBE" "$c" "$prefix" x y
		done
	done
	[ "$n" -ge 3 ]
}

@test "what a temporary file cannot do is said of the file that was named" {
	local log="$LOGS/mpi-io-test-x86_64-3.5.0.darshan" long
	cd "$BATS_TEST_TMPDIR"
	long=$(printf 'x%.0s' $(seq 250))
	cp "$log" "$long"
	run_err 1 "$long: cannot be replaced: no file can be made beside it: File name too long" "$IOSCRIBE" convert --force "$log" "$long"
	! grep -q partial err || return 1
	run_err 1 "$long: no file can be made beside it: File name too long" "$IOSCRIBE" export --json -o "$long" "$log"
	! grep -q partial err
}

# Pages and completion are made by the whole program; the tools alone have no run, nor serve.
whole() {
	sed '/^\.BR ioscribe..\(run\|doctor\|job\|logdir\|trace\|top\|serve\) (1)/d' "$@"
}

@test "the manual pages in docs/man are those of the option tables" {
	local c
	for c in $(log_commands); do
		diff <(whole "$BATS_TEST_DIRNAME/../../docs/man/ioscribe-$c.1") <("$IOSCRIBE" generate man "$c" | whole)
	done
}

@test "every manual page is valid" {
	local c
	for c in $(log_commands); do
		[ -z "$(LC_ALL=C.UTF-8 MANROFFSEQ= MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z \
			"$BATS_TEST_DIRNAME/../../docs/man/ioscribe-$c.1" 2>&1 >/dev/null)" ]
	done
}

@test "the completion in docs is that of the tables, and bash takes it" {
	if "$IOSCRIBE" --help | grep -q '^  run '; then
		diff "$BATS_TEST_DIRNAME/../../docs/completion/ioscribe.bash" <("$IOSCRIBE" generate completion)
	fi
	"$IOSCRIBE" generate completion >"$BATS_TEST_TMPDIR/completion"
	bash -n "$BATS_TEST_TMPDIR/completion"
	# complete an option of parse in a real shell
	run bash -c '
		source "$1"
		COMP_WORDS=(ioscribe parse --sh) COMP_CWORD=2
		_ioscribe
		echo "${COMPREPLY[@]}"' bash "$BATS_TEST_TMPDIR/completion"
	[ "$output" = "--show-incomplete" ]
}

@test "a wrong short option is named, in a group too" {
	run_err 2 "unknown option '-z'" "$IOSCRIBE" parse -az x
	run_err 2 "unknown option '-z'" "$IOSCRIBE" parse --all -zq x
	run_err 2 "unknown option '--all=3'" "$IOSCRIBE" parse --all=3 x
	run_err 2 "option '-o' needs an argument" "$IOSCRIBE" merge -o
	run_err 2 "option '--output' needs an argument" "$IOSCRIBE" merge --output
	run "$IOSCRIBE" parse -h
	[ "$status" -eq 0 ]
	[[ "$output" == "usage: ioscribe parse"* ]]
}

# What a shell offers at the last of these words.
offered() { # WORD...
	bash -c '
		source "$1"
		shift
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		compopt() { :; }
		_ioscribe
		printf "%s\n" "${COMPREPLY[@]}"' bash "$BATS_TEST_TMPDIR/completion" "$@" | sort | tr '\n' ' '
}

@test "completion offers commands, options under every name, commands after help, and files" {
	local c name
	"$IOSCRIBE" generate completion >"$BATS_TEST_TMPDIR/completion"
	[ "$(offered ioscribe conv)" = "convert " ]
	[ "$(offered /usr/bin/ioscribe an)" = "analyze " ]
	[ "$(offered ioscribe help expo)" = "export " ]
	[ "$(offered ioscribe convert a --obfuscate_)" = "--obfuscate_exe --obfuscate_jobid --obfuscate_names --obfuscate_uid " ]
	for c in $(log_commands); do
		# every long option of --help, and no other
		diff <("$IOSCRIBE" "$c" --help | sed -n 's/^  \(-., \)\?\(--[a-zA-Z0-9_-]*\).*/\2/p' | sort) \
			<(offered ioscribe "$c" -- | tr ' ' '\n' | grep .)
	done
	while read -r c name; do
		[ "$(offered "$name" --)" = "$(offered ioscribe "$c" --)" ]
		bash -c 'source "$1" && complete -p "$2"' bash "$BATS_TEST_TMPDIR/completion" "$name"
	done <<-END
		parse darshan-parser
		dxt darshan-dxt-parser
		convert darshan-convert
		diff darshan-diff
		merge darshan-merge
		analyze darshan-analyzer
	END
	cd "$BATS_TEST_TMPDIR"
	: >"a log.darshan"
	[ "$(offered ioscribe parse a)" = "a log.darshan " ]
}

@test "help and version on a full disk: said, exit 1" {
	[ -e /dev/full ]
	local words
	for words in --help --version "parse --help" "convert --version" "export --help"; do
		"$IOSCRIBE" $words >/dev/full 2>"$BATS_TEST_TMPDIR/err" && return 1
		grep -q 'cannot write the output: No space left on device' "$BATS_TEST_TMPDIR/err"
	done
}

# ended NUMBER WRITE COMMAND...: a signal at that write to a file; its number is the status.
ended() {
	local signal=$1 at=$2 status=0 lib
	lib=$(built cli/die_at.so)
	shift 2
	DIE_AT=$at DIE_SIGNAL=$signal LD_PRELOAD=$lib ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 \
		"$IOSCRIBE" "$@" 2>/dev/null || status=$?
	[ "$status" -eq $((128 + signal)) ]
}

@test "ended by a signal in the middle of writing: nothing is left, and what was there stays" {
	local log="$LOGS/mpi-io-test-x86_64-3.5.0.darshan" signal
	cd "$BATS_TEST_TMPDIR"
	mkdir c
	cp "$log" old
	for signal in 1 2 15; do
		ended $signal 2 convert "$log" new
		ended $signal 2 convert --force "$log" old
		ended $signal 2 merge --output new "$log"
		ended $signal 2 merge --force --output old "$log"
		ended $signal 1 export --json --output new "$log"
		ended $signal 1 export --json --output old "$log"
		ended $signal 3 export --csv --output c "$log"
		cmp old "$log"
		[ "$(ls . c)" = $'.:\nc\nold\n\nc:' ]
	done
}

# Files of 1 KiB at most.
limited() {
	(
		ulimit -f 1
		"$IOSCRIBE" "$@"
	)
}

@test "a limit of file sizes is an error like a full disk: one line, and nothing is left" {
	local log="$LOGS/runtime_and_dxt_heatmaps_diagonal_write_only.darshan"
	cd "$BATS_TEST_TMPDIR"
	run_err 1 "File too large" limited convert "$log" new
	run_err 1 "File too large" limited merge --output new "$log"
	run_err 1 "File too large" limited export --json --output new "$log"
	run_err 1 "File too large" limited export --csv --output new "$log"
	[ "$(ls)" = $'err\nout' ]
}
