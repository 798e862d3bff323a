# SPDX-License-Identifier: BSD-3-Clause
# ioscribe store: a topic of Kafka as input. The brokers are librdkafka's mock cluster, in a program of the test's own.

load ../cli/helper
load ../harness/wait

# A broker each test, with the topic io of four partitions. Sets: TOPIC. Lines written to descriptor 7 go to it.
setup() {
	bats_require_minimum_version 1.5.0
	cd "$BATS_TEST_TMPDIR" || return 1
	mkfifo in
	"$IOSCRIBE_BUILD/tests/kafka/kafka_broker" io brokers arrived feed <in 3>&- 4>&- &
	BROKER=$!
	exec 7>in
	until_true test -s brokers
	TOPIC=kafka:$(cat brokers)/io
	PIDS=()
}

teardown() {
	exec 7>&-
	kill -KILL "$BROKER" "${PIDS[@]}" 2>/dev/null || true
	wait 2>/dev/null || true
}

have_arrived() {
	[ "$(cat arrived)" = "$1" ]
}

# As many in all as said.
send() { # FILE TOTAL
	cat "$1" >&7
	until_true have_arrived "$2"
}

store() {
	"$IOSCRIBE" store --db io.sqlite "$@" 7>&-
}

follow() {
	"$IOSCRIBE" store --db io.sqlite --follow "$@" >out 2>err 3>&- 4>&- 7>&- &
	STORE=$!
	PIDS+=("$STORE")
}

count_rows() {
	sqlite3 -cmd '.timeout 10000' io.sqlite 'SELECT count(*) FROM event' 2>/dev/null || echo 0
}

has_rows() {
	[ "$(count_rows)" = "$1" ]
}

has_more_rows() {
	[ "$(count_rows)" -gt "$1" ]
}

have_read() { # up to that offset in each partition
	[ "$(sqlite3 -cmd '.timeout 10000' io.sqlite 'SELECT count(*), min(bytes) FROM input')" = "4|$1" ]
}

# Everything that was stored, in one order; a file's name is known only when its open came first.
rows() { # DB
	sqlite3 "$1" "SELECT * FROM io ORDER BY 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20"
}

make_events() {
	"$(built cli/make_events)" "$@"
}

# The store has the rows that the same messages make as a file.
same_as_file() { # FILE
	"$IOSCRIBE" store --db file.sqlite "$1"
	rows io.sqlite >have
	rows file.sqlite | cmp - have
}

@test "a topic: the rows of its messages as a file, then only what is new; no place is kept at Kafka" {
	make_events 6000 3 8 >e.json
	head -n 5000 e.json >first
	tail -n 1000 e.json >later
	send first 5000
	run -0 --separate-stderr store "$TOPIC"
	[ -z "$stderr" ]
	[[ "$output" == "io.sqlite: 5000 operations added, 0 already there" ]]
	run -0 store "$TOPIC"
	[[ "$output" == "io.sqlite: 0 operations added, 0 already there" ]]
	send later 6000
	run -0 store "$TOPIC"
	[[ "$output" == "io.sqlite: 1000 operations added, 0 already there" ]]
	same_as_file e.json
	[ "$(sqlite3 io.sqlite "SELECT name, bytes, lines FROM input ORDER BY name" | tr '\n' ' ')" = \
		"$TOPIC/0|1500|1500 $TOPIC/1|1500|1500 $TOPIC/2|1500|1500 $TOPIC/3|1500|1500 " ]
	# another store reads all
	run -0 "$IOSCRIBE" store --db other.sqlite "$TOPIC"
	[[ "$output" == "other.sqlite: 6000 operations added, 0 already there" ]]
}

@test "a topic, killed as soon as some of what is written is stored, and started again: nothing lost, nothing twice" {
	local part rows=0
	make_events 36000 4 16 >e.json
	split -l 6000 e.json part.
	for part in part.*; do
		follow "$TOPIC"
		cat "$part" >&7
		until_true has_more_rows "$rows"
		kill -KILL "$STORE"
		wait "$STORE" || true
		rows=$(count_rows)
	done
	until_true have_arrived 36000
	run -0 --separate-stderr store "$TOPIC"
	[ -z "$stderr" ]
	[ "$output" = "io.sqlite: $((36000 - rows)) operations added, 0 already there" ]
	same_as_file e.json
}

@test "--follow: what comes later, beside a file, until a signal" {
	make_events 4000 3 8 >e.json
	head -n 1000 e.json >1
	sed -n 1001,3000p e.json >2
	tail -n 1000 e.json >3
	send 1 1000
	follow "$TOPIC" 2
	until_true has_rows 3000
	send 3 2000
	until_true has_rows 4000
	kill "$STORE"
	wait "$STORE"
	[ "$(cat out)" = "io.sqlite: 4000 operations added, 0 already there" ]
	[ ! -s err ]
	same_as_file e.json
}

@test "a bad message is named by partition and offset, counted and left out; a newline is a space" {
	make_events 8 1 1 >e.json
	{
		sed -n 1,4p e.json
		echo no JSON
		sed -n 5p e.json | sed 's/,/,\x1e/g'
		echo
		head -c 300000 /dev/zero | tr '\0' x
		echo
		sed -n 6,8p e.json
	} >mixed
	send mixed 11
	run -1 --separate-stderr store "$TOPIC"
	[ "$output" = "io.sqlite: 8 operations added, 0 already there, 2 bad lines" ]
	[ "$(wc -l <<<"$stderr")" -eq 2 ]
	[[ "$stderr" == *"$TOPIC/0:1: no message: "* ]]
	[[ "$stderr" == *"$TOPIC/3:1: no message: longer than 256 KiB"* ]]
	run -0 --separate-stderr store "$TOPIC"
	[ -z "$stderr" ]
	same_as_file e.json
}

@test "no broker: one line and exit 1 after ten seconds; --follow waits with one line, and goes on" {
	local began=$SECONDS
	run -1 --separate-stderr store kafka:127.0.0.1:1/io
	[ $((SECONDS - began)) -ge 9 ]
	[[ "$stderr" == *"kafka:127.0.0.1:1/io: "*"127.0.0.1:1"*"refused"* ]]
	[ "$(wc -l <<<"$stderr")" -eq 1 ]
	# an input beside it is read all the same
	make_events 1000 3 8 >e.json
	follow kafka:127.0.0.1:1/io e.json
	until_true grep -q "refused.*: waiting$" err
	until_true has_rows 1000
	kill "$STORE"
	wait "$STORE"
	[ "$(wc -l <err)" -eq 1 ]
}

@test "a broker that stops answering: waiting, then going on" {
	make_events 4000 3 8 >e.json
	head -n 2000 e.json >1
	tail -n 2000 e.json >2
	send 1 2000
	echo socket.timeout.ms=1500 >conf
	export IOSCRIBE_KAFKA_CONFIG=$PWD/conf
	follow "$TOPIC"
	until_true has_rows 2000
	kill -STOP "$BROKER"
	until_true grep -q ": waiting$" err
	kill -CONT "$BROKER"
	until_true grep -q "answers: going on$" err
	send 2 4000
	until_true has_rows 4000
	kill "$STORE"
	wait "$STORE"
	[ "$(wc -l <err)" -eq 2 ]
	same_as_file e.json
}

# The mock cluster keeps 5 MiB of a partition.
@test "offsets that the brokers keep no more, or that lie behind the end: one line a partition" {
	make_events 60000 3 8 >e.json
	head -n 4000 e.json >1
	send 1 4000
	store "$TOPIC"
	tail -n 56000 e.json >2
	send 2 60000
	run -0 --separate-stderr store "$TOPIC"
	[ "$(grep -c "offsets 1000 to [0-9]* are not there any more: going on at [0-9]*$" <<<"$stderr")" -eq 4 ]
	[ "$(wc -l <<<"$stderr")" -eq 4 ]
	[ "$(sqlite3 io.sqlite "SELECT DISTINCT bytes FROM input")" = 15000 ]
	sqlite3 io.sqlite "UPDATE input SET bytes = 99999"
	run -0 --separate-stderr store "$TOPIC"
	[[ "$output" == "io.sqlite: 0 operations added, "*" already there" ]]
	[ "$(grep -c "ends at offset 15000, before 99999, to which it was read: read again$" <<<"$stderr")" -eq 4 ]
	[ "$(sqlite3 io.sqlite "SELECT DISTINCT bytes FROM input")" = 15000 ]
}

@test "--follow, and brokers that drop messages faster than it reads: one line a partition, then it goes on" {
	make_events 60000 3 8 >e.json
	head -n 4000 e.json >1
	send 1 4000
	follow "$TOPIC"
	until_true has_rows 4000
	kill -STOP "$STORE"
	tail -n 56000 e.json >2
	send 2 60000
	kill -CONT "$STORE"
	until_true have_read 15000
	kill "$STORE"
	wait "$STORE"
	[ "$(grep -c "offsets [0-9]* to [0-9]* are not there any more: going on at [0-9]*$" err)" -eq 4 ]
	[ "$(wc -l <err)" -eq 4 ]
}

@test "names and settings that are none, a topic that is not there" {
	run_err 1 "kafka:here: HOST:PORT[,HOST:PORT...]/TOPIC is expected" store kafka:here
	run_err 1 "kafka:/io: HOST:PORT" store kafka:/io
	run_err 1 "${TOPIC%/io}/none: Broker: Unknown topic or partition" store "${TOPIC%/io}/none"
	echo 'sasl.password' >conf
	IOSCRIBE_KAFKA_CONFIG=$PWD/conf run_err 1 "conf: 'sasl.password' is not KEY=VALUE" store "$TOPIC"
	echo 'no.such=1' >conf
	IOSCRIBE_KAFKA_CONFIG=$PWD/conf run_err 1 "librdkafka: No such configuration property" store "$TOPIC"
}
