#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Sinks that are other systems: LDMS's libraries by stand-ins, Kafka by librdkafka's mock cluster.
load ../trace/helper
load ../harness/wait.bash

STREAMS=$IOSCRIBE_BUILD/tests/streams

# Messages of operations in a file, without the words in front of them, in order of job, rank and end.
plain() {
  sed 's/^[^{]*//; /"module":"STREAM"/d' "$1" | sort
}

# via VERSION SINK CMD...: traced with that version of LDMS, and to a file at the same time.
via() {
  trace_options=(--stream "$2" --stream "json:$T/events.json")
  LD_LIBRARY_PATH=$STREAMS/$1 trace "${@:3}"
}

@test "LDMS Streams: messages as the file has them, with an old library and a new one" {
  local version
  for version in old new; do
    rm -f "$T"/events.json "$T/412"
    via $version "ldms:sock:$T:412:none" dd if=/dev/zero of=f bs=100 count=50
    [ "$status" -eq 0 ]
    ! grep -qv '^stream darshanConnector {' "$T/412" || return 1
    diff <(plain "$T/412") <(plain "$T/events.json")
    [ "$(grep -c '"op":"write"' "$T/412")" -ge 50 ]
  done
}

@test "message channels: the same, also where quota is refused now and then; the stream's name is Darshan's variable" {
  export DARSHAN_LDMS_STREAM=mine
  via new "ldms-msg:sock:$T:412:none" dd if=/dev/zero of=f bs=100 count=50
  [ "$status" -eq 0 ]
  ! grep -qv '^msg mine {' "$T/412" || return 1
  diff <(plain "$T/412") <(plain "$T/events.json")
  via old "ldms-msg:sock:$T:412:none" true
  [[ $output == *"this LDMS has no message channels"* ]]
}

@test "the variables of Darshan's connector: where, and which modules" {
  export DARSHAN_LDMS_ENABLE= DARSHAN_LDMS_HOST=$T DARSHAN_LDMS_AUTH=none
  trace_options=()
  LD_LIBRARY_PATH=$STREAMS/old trace dd if=/dev/zero of=f bs=100 count=5
  [ ! -e "$T/412" ]
  export DARSHAN_LDMS_ENABLE_MPIIO=
  LD_LIBRARY_PATH=$STREAMS/old trace dd if=/dev/zero of=f bs=100 count=5
  [ "$status" -eq 0 ]
  [ ! -e "$T/412" ]
  export DARSHAN_LDMS_ENABLE_POSIX= DARSHAN_LDMS_PORT=77
  LD_LIBRARY_PATH=$STREAMS/old trace dd if=/dev/zero of=f bs=100 count=5
  [ "$(grep -c '"op":"write"' "$T/77")" -ge 5 ]
}

@test "LDMS goes away and comes back: opens again, nothing else is missing" {
  mkfifo go
  exec 7<>go # open all the time: a reader between two writers would see an end
  via new "ldms:sock:$T:412:none" bash -c 'exec 5>f 6<go; echo a >&5; read -r <&6; echo b >&5; read -r <&6; echo c >&5' 3>&- 7>&- &
  local run=$!
  until_true grep -q '"op":"write"' "$T/412"
  : >"$T/412.down"
  echo >&7
  sleep 0.5
  rm "$T/412.down"
  echo >&7
  wait $run
  exec 7>&-
  [ "$(grep -c '"op":"open".*' "$T/412")" -gt "$(sort -u "$T/412" | grep -c '"op":"open"')" ]
  diff <(plain "$T/412" | uniq) <(plain "$T/events.json")
}

@test "LDMS: no library, no daemon, another authentication, a transport that is none: a line each, and the program goes on" {
  via nowhere "ldms:sock:$T:412:none" sh -c 'exit 4'
  [ "$status" -eq 4 ]
  [[ $output == *"libldms cannot be loaded"* ]]
  via new "ldms:sock:$T:412:munge" true
  [[ $output == *"has rejected the connection"* ]]
  via new "ldms:rdma:$T:412:none" true
  [[ $output == *"LDMS has no transport rdma with authentication none"* ]]
  : >"$T/412.down"
  via new "ldms:sock:$T:412:none" dd if=/dev/zero of=f bs=1 count=10
  [ "$status" -eq 0 ]
  [[ $output == *"operations are missing in ldms:sock:$T:412:none: LDMS at $T:412 does not answer"* ]]
  via new "ldms:a:b:c:d:e" touch never
  [[ $output == *"XPRT:HOST:PORT:AUTH is expected"* ]]
  [ ! -e never ]
}

@test "a socket whose queue is full: its publisher ends by itself, with a line" {
  "$IOSCRIBE_SOURCE/tests/streams/full_socket.py" "$T/in.sock" 3>&- &
  local listener=$!
  until_true test -e "$T/in.sock.full"
  trace_options=(--stream "json:unix:$T/in.sock")
  trace dd if=/dev/zero of=f bs=1 count=10
  kill $listener
  [ "$status" -eq 0 ]
  [[ $output == *"operations are missing in json:unix:$T/in.sock: $T/in.sock: whoever listens takes no connection"* ]]
}

@test "Kafka: each message once, those of a rank in one partition and in order" {
  mkfifo in
  "$IOSCRIBE_BUILD/tests/kafka/kafka_broker" io "$T/brokers" "$T/got" <in 3>&- &
  local broker=$!
  exec 7>in
  until_true test -s "$T/brokers"
  trace_options=(--stream "kafka:$(cat "$T/brokers")/io" --stream "json:$T/events.json")
  trace mpiexec.mpich -n 4 "$IOSCRIBE_BUILD/tests/mpi/mpich/mpi_demo" 7>&-
  [ "$status" -eq 0 ]
  exec 7>&-
  wait $broker
  diff <(plain "$T/got") <(plain "$T/events.json")
  # a key has one partition, and the order of its rank in the file
  [ "$(awk '{ print $1, $2 }' "$T/got" | sort -u | wc -l)" -eq "$(awk '{ print $2 }' "$T/got" | sort -u | wc -l)" ]
  for rank in 0 1 2 3; do
    diff <(grep "\"rank\":$rank," "$T/got" | sed 's/^[^{]*//') <(grep "\"rank\":$rank," "$T/events.json")
  done
}

@test "Kafka: no broker, a name without a topic, settings that are none" {
  trace_options=(--stream kafka:127.0.0.1:1/io)
  trace dd if=/dev/zero of=f bs=1 count=10
  [ "$status" -eq 0 ]
  [[ $output == *"operations are missing in kafka:127.0.0.1:1/io: "*"127.0.0.1:1"* ]]
  trace_options=(--stream kafka:127.0.0.1:1)
  trace touch never
  [[ $output == *"--stream HOST:PORT[,HOST:PORT...]/TOPIC is expected"* ]]
  [ ! -e never ]
  echo 'sasl.password' >conf
  trace_options=(--stream kafka:127.0.0.1:1/io)
  IOSCRIBE_KAFKA_CONFIG=$PWD/conf trace true
  [[ $output == *"conf: 'sasl.password' is not KEY=VALUE"* ]]
}
