# SPDX-License-Identifier: BSD-3-Clause
# Shared by the tests of the command line. Sets: IOSCRIBE, LOGS, EXPECTED.

LOGS="$BATS_TEST_DIRNAME/../data/logs"
EXPECTED="$LOGS/expected"
IOSCRIBE="${IOSCRIBE:-ioscribe}"
export TZ=UTC LC_ALL=C

# What the build made for tests: PATH below the build folder's tests/.
built() {
	local file="${IOSCRIBE_BUILD:-$(dirname "$(dirname "$(command -v "$IOSCRIBE")")")}/tests/$1"
	[ -f "$file" ] || {
		echo "no $file: build it first" >&2
		return 1
	}
	echo "$file"
}

# Dates are local time in the text; the expected text was made in UTC.
setup() {
	command -v "$IOSCRIBE" >/dev/null || {
		echo "no ioscribe to test: set IOSCRIBE or PATH"
		return 1
	}
	[ "$(ls "$LOGS"/*.darshan | wc -l)" -ge 22 ] || {
		echo "sample logs are missing from $LOGS"
		return 1
	}
}

# Compare a command's output with expected text: same COMMAND... -- FILE.gz
same() {
	local cmd=()
	while [ "$1" != -- ]; do
		cmd+=("$1")
		shift
	done
	"${cmd[@]}" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" || {
		echo "exit $? of: ${cmd[*]}"
		cat "$BATS_TEST_TMPDIR/err"
		return 1
	}
	zcat "$2" >"$BATS_TEST_TMPDIR/want"
	[ -s "$BATS_TEST_TMPDIR/want" ] || {
		echo "no expected text in $2"
		return 1
	}
	cmp -s "$BATS_TEST_TMPDIR/out" "$BATS_TEST_TMPDIR/want" || {
		echo "text differs: ${cmd[*]}"
		diff "$BATS_TEST_TMPDIR/want" "$BATS_TEST_TMPDIR/out" | head -10
		return 1
	}
}

# run_err STATUS TEXT COMMAND...: exit status, one line on stderr that holds TEXT.
run_err() {
	local status=$1 text=$2 got=0
	shift 2
	"$@" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" || got=$?
	[ "$got" -eq "$status" ] || {
		echo "exit $got, not $status: $*"
		cat "$BATS_TEST_TMPDIR/err"
		return 1
	}
	[ "$(wc -l <"$BATS_TEST_TMPDIR/err")" -eq 1 ] || {
		echo "not one line on standard error: $*"
		cat "$BATS_TEST_TMPDIR/err"
		return 1
	}
	grep -qF -- "$text" "$BATS_TEST_TMPDIR/err" || {
		echo "message without '$text': $(cat "$BATS_TEST_TMPDIR/err")"
		return 1
	}
}

# none GREP-ARGUMENTS...: grep finds nothing ("! grep" in the middle of a test would not fail it).
none() {
	if grep "$@"; then
		echo "found, but should not be there: grep $*"
		return 1
	fi
}

# Messages of a stream: tests/cli/make_events.c.
make_events() {
	"$(built cli/make_events)" "$@"
}

# until_prints TEXT COMMAND...: the command prints TEXT, within a minute.
until_prints() {
	local want=$1 turn
	shift
	for turn in $(seq 600); do
		[ "$("$@" 2>/dev/null)" != "$want" ] || return 0
		sleep 0.1
	done
	echo "not '$want' but '$("$@" 2>&1)': $*"
	return 1
}

# Messages with totals of a stream: stream_totals JOB UID SECOND NODE SINCE_US NAME=NUMBER...
stream_totals() {
	local total
	for total in "${@:6}"; do
		printf '{"schema":"N/A","uid":%d,"exe":"N/A","job_id":%d,"rank":-1,"ProducerName":"%s","file":"N/A","record_id":%d,"module":"STREAM","type":"MOD","max_byte":-1,"switches":-1,"flushes":-1,"cnt":%d,"op":"%s","seg":[{"pt_sel":-1,"irreg_hslab":-1,"reg_hslab":-1,"ndims":-1,"npoints":-1,"off":-1,"len":-1,"start":0.000000,"dur":0.000000,"total":0.000000,"timestamp":%d.000000}]}\n' \
			"$2" "$1" "$4" "$5" "${total#*=}" "${total%=*}" "$3"
	done
}

# What a log says of the page cache and of NFS, stored by COMMAND and asked in DB; again, it changes nothing.
counters_of_log() { # DB COMMAND
	local log=$BATS_TEST_DIRNAME/../data/own/cache.darshan
	"$2" "$log" >/dev/null
	"$2" "$log" >/dev/null
	"$IOSCRIBE" query --db "$1" --csv cache job=190 limit=3 | diff - <(
		echo path,fetched,fetch_us,faulted,faults,direct_read,direct_written,dirtied,throttled_us
		"$IOSCRIBE" parse "$log" | python3 -c '
import collections, sys
of = collections.defaultdict(lambda: collections.defaultdict(float))
for row in (line.rstrip("\n").split("\t") for line in sys.stdin if line.startswith("CACHE\t")):
    of[row[5]][row[3][6:]] += max(float(row[4]), 0)
rows = [[path, *[int(c[n] * (1e6 if n[:2] == "F_" else 1) + 0.5) for n in
                 ("BYTES_FETCHED", "F_FETCH_TIME", "BYTES_FAULTED")],
         int(c["MINOR_FAULTS"] + c["MAJOR_FAULTS"]),
         *[int(c[n]) for n in ("DIRECT_BYTES_READ", "DIRECT_BYTES_WRITTEN", "BYTES_DIRTIED")],
         int(c["F_THROTTLED_TIME"] * 1e6)] for path, c in of.items()]
for row in sorted(rows, key=lambda r: (-r[1], -r[3], r[0]))[:3]:
    print(*row, sep=",")')
	[ "$("$IOSCRIBE" query --db "$1" --csv mounts job=190)" = $'mount,with_other_jobs,bytes_read,bytes_written,requests,errors,rtt_us,queue_us\nmount:guest:/nfs,0,6537216,8388608,166,0,897000,710000' ]
}

# Three jobs of id 7 to `COMMAND -`: the latest (41 operations of ranks 0 and 1) first, then 3 of rank 5, 12 and 6 days before,
# of which the later ones are of another user's.
used_twice() { # COMMAND
	local all
	all=$(sed 's/"job_id":[0-9]*/"job_id":7/' "$STREAM")
	"$1" - <<<"$all" >/dev/null
	head -n 3 <<<"$all" | sed -E 's/"rank":[0-9]+/"rank":5/' >"$BATS_TEST_TMPDIR/3.json"
	sed -E 's/("timestamp":)[0-9]+/\11794183275/' "$BATS_TEST_TMPDIR/3.json" | "$1" - >/dev/null 2>&1
	sed -E 's/("timestamp":)[0-9]+/\11794701675/; s/"uid":0/"uid":5/' "$BATS_TEST_TMPDIR/3.json" | "$1" - >/dev/null 2>&1
}

# A hundred times as long, by the times of their ends.
spread_out() {
	python3 -c '
import re, sys
for line in sys.stdin:
    sys.stdout.write(re.sub(r"\"timestamp\":(\d+)\.(\d+)", lambda m: "\"timestamp\":%d.%06d" % divmod(
        1700000000000000 + 97 * (int(m[1] + m[2]) - 1700000000000000), 1000000), line))'
}

# The question `durations`, which takes sums, against each operation.
durations_of_events() { # DB
	mkdir -p "$BATS_TEST_TMPDIR/by_events"
	cat >"$BATS_TEST_TMPDIR/by_events/by_events.sql" <<-'X'
		-- durations by operations
		-- parameter job integer: the job's id
		SELECT e.rank, o.module, o.op, count(e.dur_us) AS operations,
		       whole(sum(COALESCE(e.dur_ns, CAST(e.dur_us AS NUMERIC) * 1000)) / count(e.dur_us) / 1000) AS mean_us,
		       spread(e.dur_us) AS spread_us, min(e.dur_us) AS least_us, max(e.dur_us) AS most_us
		FROM event e JOIN operation o ON o.id = e.operation
		WHERE e.job = (SELECT id FROM job WHERE job_id = :job) AND e.dur_us IS NOT NULL
		GROUP BY e.rank, o.module, o.op
		ORDER BY e.rank, o.module, o.op
	X
	"$IOSCRIBE" query --db "$1" --questions "$BATS_TEST_TMPDIR/by_events" --csv by_events job=5001 >"$BATS_TEST_TMPDIR/by_events.csv"
	[ "$(wc -l <"$BATS_TEST_TMPDIR/by_events.csv")" -gt 10 ]
	"$IOSCRIBE" query --db "$1" --csv durations job=5001 | diff "$BATS_TEST_TMPDIR/by_events.csv" -
	awk -F , 'NR > 1 && $8 > 134217728 { n++ } END { exit !n }' "$BATS_TEST_TMPDIR/by_events.csv"
}

# What a store has summed up is what its operations sum up to.
sums_are_right() { # COMMAND-FOR-SQL...
	local have="SELECT job, second, rank, operation, node, n, bytes, dur_ns, timed, dur_us, long_long, long_short, short_short, least_us, most_us FROM total"
	local want="SELECT job, time_us / 1000000, rank, operation, COALESCE(node, 0), count(*), COALESCE(sum(len), 0),
		COALESCE(sum(COALESCE(dur_ns, dur_us * 1000)), 0), count(dur_us), COALESCE(sum(dur_us), 0),
		COALESCE(sum((dur_us / 134217728) * (dur_us / 134217728)), 0), COALESCE(sum((dur_us / 134217728) * (dur_us % 134217728)), 0),
		COALESCE(sum((dur_us % 134217728) * (dur_us % 134217728)), 0), min(dur_us), max(dur_us) FROM event GROUP BY 1, 2, 3, 4, 5"
	[ "$("$@" "SELECT count(*) FROM (SELECT * FROM ($have) AS a EXCEPT SELECT * FROM ($want) AS b) AS c")" = 0 ]
	[ "$("$@" "SELECT count(*) FROM (SELECT * FROM ($want) AS a EXCEPT SELECT * FROM ($have) AS b) AS c")" = 0 ]
}

# Operations of job 5000 get sizes and times near 2^63: what is asked of it is answered, and of others as before.
huge_sums() { # DB COMMAND-FOR-SQL...
	local q db=$1 most=9223372036854775807
	shift
	ask_both() {
		for q in operations "nodes job=5001" "runs exe=/apps/solver1" "load from_us=0 to_us=$most"; do
			# shellcheck disable=SC2086 # a question and its parameters
			"$IOSCRIBE" query --db "$db" --csv $q
		done
	}
	ask_both | grep -v 5000, >"$BATS_TEST_TMPDIR/before"
	"$@" "UPDATE event SET len = $most, dur_us = $most, dur_ns = NULL WHERE job = (SELECT id FROM job WHERE job_id = 5000)"
	"$@" "UPDATE total SET bytes = $most, dur_ns = $most * 1000.0 WHERE job = (SELECT id FROM job WHERE job_id = 5000)"
	ask_both | grep -v 5000, | diff "$BATS_TEST_TMPDIR/before" -
	"$IOSCRIBE" query --db "$db" --csv operations job=5000 | grep -q "^5000,1,POSIX,write,[0-9]*,$most,$most$"
	for q in "over_time job=5000" "heat job=5000" "nodes job=5000" "load from_us=0 to_us=$most" "runs exe=/apps/solver0"; do
		# shellcheck disable=SC2086
		"$IOSCRIBE" query --db "$db" --csv $q | grep -q ",$most"
	done
	"$IOSCRIBE" query --db "$db" --csv phases job=5000 | grep -Eq ',[0-9]{22,},[0-9]{22,}'
}

# Messages with numbers of an error, beside good ones of their job and of others, to `COMMAND FILE`.
absurd_messages() { # COMMAND [DB]
	local f=$BATS_TEST_TMPDIR/absurd.json q db=${2:-$BATS_TEST_TMPDIR/io.sqlite} good
	good=$(grep '"op":"write"' "$STREAM" | grep '"POSIX"' | head -n 1)
	answers() {
		for q in "operations job=19332" "operations job=7" "over_time job=19332" "rank job=19332 rank=0" "nodes job=7" "heat job=7" "ranks job=19332"; do
			# shellcheck disable=SC2086 # a question and its parameters
			"$IOSCRIBE" query --db "$db" --csv $q
		done
		"$IOSCRIBE" query --db "$db" --csv jobs | sed -n 2,3p
	}
	"$1" - <<<"$(cat "$STREAM"; sed 's/"job_id":19332/"job_id":7/' "$STREAM")" >/dev/null
	answers >"$BATS_TEST_TMPDIR/before"
	{
		for q in len:9223372036854775807 len:1125899906842625 len:-2 off:9223372036854775807 start:8999999999.5 dur:9000000000 \
			dur:-9000000000 start:-8000000000.0 dur:1795220074.4 timestamp:9000000001.5 timestamp:99999999999999 timestamp:9e9 timestamp:0.0; do
			sed -E "s/(\"${q%%:*}\":)[-0-9.]+/\\1${q#*:}/" <<<"$good"
		done
	} >"$f"
	run "$1" "$f"
	[ "$status" -eq 1 ]
	[ "$(grep -c ": no message: seg.len or seg.off: no operation moves such bytes$" <<<"$output")" -eq 4 ]
	[ "$(grep -c ": no message: seg.start or seg.dur: it would have begun before 1970$" <<<"$output")" -eq 5 ]
	[ "$(grep -c ": no message: timestamp: no time in seconds$" <<<"$output")" -eq 3 ]
	[[ "$output" == *" 0 operations added, 0 already there, 13 bad lines" ]]
	# accepted, of the year 2255 and of 1970: other uses of the id, which no question takes for the job
	sed -E 's/("timestamp":)[-0-9.]+/\18999999999.1/' <<<"$good" | "$1" - >/dev/null 2>&1
	sed -E 's/("timestamp":)[-0-9.]+/\17.5/' <<<"$good" | "$1" - >/dev/null 2>&1
	answers | grep -v '^19332,[23],POSIX' | diff "$BATS_TEST_TMPDIR/before" -
}

# numbered N [SED-SCRIPT]: N writes of one rank, a second apart; a script may be for some lines.
numbered() {
	local good
	good=$(grep '"op":"write"' "$STREAM" | grep '"POSIX"' | head -n 1)
	seq "$1" | awk -v good="$good" '{ line = good; sub(/"timestamp":[0-9]+/, "\"timestamp\":" 1795220074 + $1, line); print line }' |
		sed -E "${2:-}"
}

# Lines that the database refuses, where it refuses lengths of 13 and the operation "never".
refused_lines() { # STORE ASK
	local f=$BATS_TEST_TMPDIR/refused.json
	numbered 3000 '1s/"len":[0-9]+/"len":13/; 1500,1501s/"len":[0-9]+/"len":13/; 1700s/"op":"write"/"op":"never"/; 3000s/"len":[0-9]+/"len":13/' >"$f"
	run -1 --separate-stderr "$1" "$f"
	[[ "$output" == *": 2995 operations added, 0 already there, 5 bad lines" ]]
	[ "$(grep -oE 'refused.json:[0-9]+: not stored: ' <<<"$stderr" | tr -dc '0-9\n' | tr '\n' ' ')" = "1 1500 1501 1700 3000 " ]
	[ "$(grep -c 'no thirteen' <<<"$stderr")" -eq 4 ]
	[ "$(wc -l <<<"$stderr")" -eq 5 ]
	[ "$("$2" 'SELECT count(*) FROM event')" -eq 2995 ]
	# the file has been read to its end; a pipe, which has no place
	numbered 10 's/1795220/1795230/; 4s/"len":[0-9]+/"len":13/' >>"$f"
	run -1 --separate-stderr "$1" "$f"
	[[ "$output" == *": 9 operations added, 0 already there, 1 bad line" ]]
	run -1 --separate-stderr "$1" - <"$f"
	[[ "$output" == *": 0 operations added, 3004 already there, 6 bad lines" ]]
	# nothing but such lines
	run -1 --separate-stderr "$1" - < <(numbered 100 's/1795220/1795240/; s/"len":[0-9]+/"len":13/')
	[[ "$output" == *": 0 operations added, 0 already there, 100 bad lines" ]]
	[ "$(wc -l <<<"$stderr")" -eq 21 ]
}

# Texts that no index takes, that are cut there, and that are no UTF-8.
hostile_texts() { # STORE ASK
	local f=$BATS_TEST_TMPDIR/texts.json long bytes
	long=$(python3 -c 'import random; r = random.Random(1); print("/" + "".join(r.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=6000)))')
	{
		numbered 2 "s,\"exe\":\"[^\"]*\",\"exe\":\"$long\","
		numbered 1 "s,\"exe\":\"[^\"]*\",\"exe\":\"${long}x\","
		numbered 1 "s,\"exe\":\"[^\"]*\",\"exe\":\"$(printf 'ä%.0s' $(seq 2000))\","
		numbered 1 "s,\"file\":\"[^\"]*\",\"file\":\"$long\","
	} >"$f"
	[[ "$("$1" "$f")" == *": 2 operations added, 3 already there" ]]
	[ "$("$2" "SELECT count(*) FROM job_exe WHERE exe LIKE '/%' AND length(exe) = 2048")" -eq 2 ]
	[ "$("$2" "SELECT count(*) FROM job_exe WHERE exe LIKE 'ää%ä#________________' AND length(exe) = 1032")" -eq 1 ]
	{
		for bytes in '\xc0\xaf' '\xe0\x80\xaf' '\xed\xa0\x80' '\xf4\x90\x80\x80' '\xff' '\xc3'; do
			numbered 1 | LC_ALL=C sed "s,\"exe\":\"[^\"]*\",\"exe\":\"/a$(printf "$bytes")b\","
			numbered 1 | LC_ALL=C sed "s,\"ProducerName\":\"[^\"]*\",\"ProducerName\":\"a$(printf "$bytes")b\","
		done
		stream_totals 19332 0 1795220080 node1 7 "$long=1"
		stream_totals 19332 0 1795220080 node1 7 odd=1
		stream_totals 19332 0 1795220080 node1 9223372036854775807 sent=1 | sed 's/"record_id":[0-9]*/"record_id":9223372036854775808/'
		numbered 1 's/1795220/1795250/'
	} >"$f"
	run -1 --separate-stderr "$1" "$f"
	[[ "$output" == *": 1 operation added, 0 already there, 15 bad lines" ]]
	[ "$(grep -c 'no total of a stream: op or record_id$' <<<"$stderr")" -eq 3 ]
	[ "$(grep -Ec 'a text that is not UTF-8$|no JSON from byte' <<<"$stderr")" -eq 12 ]
}

# User 5 has a job of my job's id, later, and says other names of its records.
same_id() { # STORE DB
	local mine
	numbered 3 's,"file":"[^"]*","file":"/mine",; s/"uid":0/"uid":4/' | "$1" - >/dev/null 2>&1
	numbered 3 's,"file":"[^"]*","file":"/forged",; s/"uid":0/"uid":5/; s/1795220/1795221/' | "$1" - >/dev/null 2>&1
	mine=$("$IOSCRIBE" query --db "$2" --csv rank job=19332 rank=1 uid=4 | cut -d , -f 9 | sort -u | tr '\n' ' ')
	[ "$mine" = "/mine path " ]
	[ "$("$IOSCRIBE" query --db "$2" --csv rank job=19332 rank=1 | cut -d , -f 9 | sort -u | tr '\n' ' ')" = "/forged path " ]
	[ "$("$IOSCRIBE" query --db "$2" --csv operations job=19332 uid=4 | wc -l)" -eq 2 ]
	[ "$("$IOSCRIBE" query --db "$2" --csv operations job=19332 | wc -l)" -eq 3 ]
	[ "$("$IOSCRIBE" query --db "$2" --csv phases job=19332 uid=4 | wc -l)" -eq 2 ]
}

# 100,000 hostile messages of user 5 among an honest job's of user 4: every question about that job is answered as without them.
hostile_flood() { # STORE DB
	local q n=0 honest=$BATS_TEST_TMPDIR/honest.json
	{
		sed 's/"uid":0/"uid":4/' "$STREAM"
		stream_totals 19332 4 1795220080 node1 7 sent=41 lost=0 end=41
	} >"$honest"
	answers() { # DB
		for q in durations heat nodes operations over_time percentiles phases "rank rank=0" "rank rank=1" ranks samples slowest streams; do
			n=$((n + 1))
			# shellcheck disable=SC2086 # a question and its parameters
			"$IOSCRIBE" query --db "$1" --csv $q job=19332 uid=4 | sed -E 's/^19332,[0-9]+,(POSIX|MPIIO),/19332,\1,/' # which use of the id
		done
		"$IOSCRIBE" query --db "$1" --csv runs exe=io/mpi-io-test | cut -d , -f 1,3- | grep '^19332,4,'
	}
	"$IOSCRIBE" store --db "$BATS_TEST_TMPDIR/honest.sqlite" "$honest" >/dev/null
	answers "$BATS_TEST_TMPDIR/honest.sqlite" >"$BATS_TEST_TMPDIR/before"
	"$BATS_TEST_DIRNAME/../cli/hostile_messages.py" 100000 1 <"$honest" >"$BATS_TEST_TMPDIR/mixed.json"
	run -1 --separate-stderr "$1" "$BATS_TEST_TMPDIR/mixed.json"
	echo "$output"
	answers "$2" | diff "$BATS_TEST_TMPDIR/before" -
	[ "$n" -eq 13 ]
	# and those of all jobs still have an answer
	for q in jobs modules operations "load from_us=0 to_us=9000000000000000000"; do
		# shellcheck disable=SC2086
		"$IOSCRIBE" query --db "$2" --csv $q >"$BATS_TEST_TMPDIR/all"
		[ "$(wc -l <"$BATS_TEST_TMPDIR/all")" -gt 1 ]
	done
}
