#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# Metrics in a file, read by Debian's node exporter and checked by promtool; alert rules and the dashboard.
load helper

METRICS=$BATS_TEST_DIRNAME/metrics.py
MONITORING=$IOSCRIBE_SOURCE/packaging/monitoring

# A service that writes metrics each second.
serve_metrics() {
  mkdir -p "$T/prom"
  printf 'metrics_file = %s/prom/ioscribe.prom\nmetrics_interval_s = 1\n' "$T" >>"$IOSCRIBE_CONFIG"
  serve
}

# says VALUE NAME LABEL=VALUE...: the file does.
says() {
  [ "$(python3 "$METRICS" value "${@:2}" <"$T/prom/ioscribe.prom")" = "$1" ]
}

@test "totals of a job and of the daemon, by the node exporter; no names of files; right by promtool" {
  serve_metrics
  job begin --job-id 'a"b\c' --uid 65534 --match-env JOBX=81
  JOBX=81 IOSCRIBE_ENABLE=1 setpriv --reuid=65534 --regid=65534 --clear-groups \
    sh -c 'dd if=/dev/zero of=secret bs=1000 count=77; cat secret; exec sleep 600' >/dev/null 2>&1 3>&- &
  echo "$!" >>"$T/pids"
  # of a process that has ended, and one that goes on
  until_true says 77000 ioscribe_job_written_bytes_total 'jobid=a"b\c'
  until_true says 77000 ioscribe_job_read_bytes_total 'jobid=a"b\c' kind=job uid=65534 user=nobody
  until_true says 1 ioscribe_job_processes 'jobid=a"b\c'
  says 0 ioscribe_job_lost_operations_total 'jobid=a"b\c'
  says 1 ioscribe_daemon_jobs
  says 20000 ioscribe_records_limit
  promtool check metrics <"$T/prom/ioscribe.prom"
  ! grep -qE 'secret|/w/' "$T/prom/ioscribe.prom" || return 1
  [ "$(stat -c '%u %a' "$T/prom/ioscribe.prom")" = "0 644" ]
  local port
  port=$(python3 "$METRICS" port)
  prometheus-node-exporter --collector.disable-defaults --collector.textfile --collector.textfile.directory="$T/prom" \
    --web.listen-address="127.0.0.1:$port" >"$T/exporter" 2>&1 3>&- &
  echo "$!" >>"$T/pids"
  # it may answer before it has read the file
  served() {
    python3 "$METRICS" get "$port" >"$T/got" 2>/dev/null &&
      [ "$(python3 "$METRICS" value ioscribe_job_written_bytes_total 'jobid=a"b\c' <"$T/got")" = 77000 ]
  }
  until_true served
  [ "$(python3 "$METRICS" value node_textfile_scrape_error <"$T/got")" = 0 ]
  # with the next begin of a job of that name it counts anew, and none is left when it is over
  job end --job-id 'a"b\c' --deadline 0
  until_true says 0 ioscribe_daemon_jobs
  ! grep -q '^ioscribe_job_' "$T/prom/ioscribe.prom"
}

@test "each file is whole; a directory that others may change is refused in one line; the key is the site's" {
  serve_metrics
  until_true test -e "$T/prom/ioscribe.prom"
  [ "$(timeout 120 python3 "$METRICS" whole "$T/prom/ioscribe.prom" 3)" -eq 3 ]
  chmod 1777 "$T/prom"
  until_true grep -q 'no metrics can be written' "$IOSCRIBE_DIR/log"
  grep -qF "no metrics can be written to $T/prom/ioscribe.prom: its directory must be root's own" "$IOSCRIBE_DIR/log"
  [ "$(ls "$T/prom")" = ioscribe.prom ]
  chmod 755 "$T/prom"
  until_true sh -c 'test "$(python3 "$1" value ioscribe_metrics_failures_total <"$2")" -ge 1' sh "$METRICS" "$T/prom/ioscribe.prom"
  [ "$(grep -c 'no metrics' "$IOSCRIBE_DIR/log")" -eq 1 ]
  run_it user "$IOSCRIBE" run --set metrics_file="$T/w/x.prom" -- true
  [ "$status" -eq 1 ]
  [[ "$output" == *"metrics_file: only the site's configuration sets this" ]]
}

@test "alert rules are right and speak when they should; the dashboard's expressions are of these metrics" {
  serve_metrics
  job begin --job-id 82 --uid 65534 --match-env JOBX=82
  until_true says 0 ioscribe_job_processes jobid=82
  promtool check rules "$MONITORING/ioscribe-alerts.yml"
  cp "$MONITORING/ioscribe-alerts.yml" "$BATS_TEST_DIRNAME/alerts_test.yml" "$T/"
  promtool test rules "$T/alerts_test.yml"
  python3 "$METRICS" rules "$MONITORING/ioscribe-dashboard.json" "$T/prom/ioscribe.prom" >"$T/board.yml"
  promtool check rules "$T/board.yml"
}
