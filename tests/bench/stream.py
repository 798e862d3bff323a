#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Streaming a job's operations into a store: what it adds to a call, how long until a row is there, who works how much.

usage: stream.py BUILD [ROUNDS [RATE [SECONDS]]]     (root)

Call: a thread does preads of 8 bytes as fast as it can, a second a round (5), untraced, below `ioscribe run`, with --dxt,
and with --stream into a file; all files on a tmpfs. The time of a call, median of the rounds.
Load: two threads do RATE (20,000) preads a second for SECONDS (10) into `ioscribe store`: sent and lost, by the stream's own
totals, and the processor time of daemon, publisher and store for 100,000 of them.
Latency: a program that writes 40 times in 12 s, and `ioscribe query` asked again and again: from the end of the call to
the end of the first query that shows it.
"""
import os
import signal
import statistics
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import bench  # noqa: E402
import segments  # noqa: E402

WRITES = 40
WRITER = """
import os, sys, time
fd = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)
for i in range(int(sys.argv[2])):
    time.sleep(0.3)
    os.pwrite(fd, b"x", 1000000 + i)
    print(i, time.clock_gettime(time.CLOCK_MONOTONIC), flush=True)
time.sleep(3)
"""


def operations(build, folder, seconds, rate, threads, options):
    """Run segment_ops: its operations, their seconds, and processor seconds by name while it ran."""
    ready, go = os.path.join(folder, "ready"), os.path.join(folder, "go")
    for fifo in ready, go:
        if not os.path.exists(fifo):
            os.mkfifo(fifo)
    log = os.path.join(folder, "log.darshan")
    if os.path.exists(log):
        os.unlink(log)
    words = [os.path.join(build, "tests/bench/segment_ops"), folder, str(seconds), str(rate), str(threads)]
    if options is not None:
        words = [os.path.join(build, "util/ioscribe"), "run", "--quiet", "--include", folder + "/", "--log", log, *options,
                 "--", *words]
    run = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    watched = watched_of(run) if options is not None else {}
    with open(ready, encoding="ascii") as told:
        told.read()
    before = {name: segments.processor_seconds(pid) for name, pid in watched.items()}
    with open(go, "w", encoding="ascii") as say:
        say.write("go")
    done, took = int(run.stdout.readline()), float(run.stdout.readline())
    time.sleep(1 if rate else 0)  # what is on the way
    spent = {name: segments.processor_seconds(pid) - before[name] for name, pid in watched.items()}
    with open(ready, "w", encoding="ascii") as say:
        say.write("end")
    run.communicate()
    if run.returncode:
        sys.exit(f"stream.py: the run ended with {run.returncode}")
    return done, took, spent


def watched_of(run):
    """Process ids of the run's daemon and, if it streams, publisher."""
    found = {"daemon": segments.daemon_of(run)}
    streams = "--stream" in run.args
    while streams and "publisher" not in found and run.poll() is None:
        for pid in subprocess.run(["pgrep", "-P", str(run.pid)], capture_output=True, text=True).stdout.split():
            if bench.read(f"/proc/{pid}/comm").startswith("ioscribe-publis"):
                found["publisher"] = int(pid)
        time.sleep(0.02)
    return found


def store(ioscribe, folder, db):
    sock = os.path.join(folder, "in.sock")
    child = subprocess.Popen([ioscribe, "store", "--db", db, "unix:" + sock], stdout=subprocess.DEVNULL)
    while not os.path.exists(sock):
        time.sleep(0.02)
    return child, "json:unix:" + sock


def ask(ioscribe, db, *question):
    text = subprocess.run([ioscribe, "query", "--db", db, "--csv", *question], capture_output=True, text=True, check=True).stdout
    names, *rows = [line.split(",") for line in text.splitlines()]
    return [dict(zip(names, row)) for row in rows]


def calls(build, folder, rounds):
    events = os.path.join(folder, "events.json")
    modes = {"untraced": None, "run": [], "run --dxt": ["--dxt"], "run --stream": ["--stream", "json:" + events]}
    took = {name: [] for name in modes}
    for _ in range(rounds):
        for name, options in modes.items():
            if os.path.exists(events):
                os.unlink(events)
            done, seconds, _ = operations(build, folder, 1, 0, 1, options)
            took[name].append(1e9 * seconds / done)
    base = statistics.median(took["untraced"])
    for name, values in took.items():
        value = statistics.median(values)
        print(f"call, {name:13} {value:6.0f} ns, {value / base:.2f} times untraced")


def load(build, ioscribe, folder, rate, seconds):
    db = os.path.join(folder, "load.sqlite")
    child, sink = store(ioscribe, folder, db)
    before = segments.processor_seconds(child.pid)
    done, _, spent = operations(build, folder, seconds, rate, 2, ["--stream", sink])
    spent["store"] = segments.processor_seconds(child.pid) - before
    child.send_signal(signal.SIGTERM)
    child.wait()
    (row,) = ask(ioscribe, db, "streams", "job=" + ask(ioscribe, db, "jobs")[0]["job"])
    print(f"load              {done} operations, {row['sent']} sent, {row['lost']} lost, {row['stored']} stored")
    for name, used in spent.items():
        print(f"load, {name:11} {used * 1e5 / done:.3f} s of processor time for 100,000 operations")
    return done > int(row["sent"]) + int(row["lost"]) or row["sent"] != row["stored"]


def latency(ioscribe, folder):
    db = os.path.join(folder, "latency.sqlite")
    child, sink = store(ioscribe, folder, db)
    run = subprocess.Popen([ioscribe, "run", "--quiet", "--include", folder + "/", "--log", os.path.join(folder, "l.darshan"),
                            "--stream", sink, "--", sys.executable, "-c", WRITER, os.path.join(folder, "f"), str(WRITES)],
                           stdout=subprocess.PIPE, text=True)
    seen, job = {}, None
    while run.poll() is None:
        jobs = job or ask(ioscribe, db, "jobs")
        job = jobs[0]["job"] if jobs and not job else job
        rows = ask(ioscribe, db, "rank", "job=" + job, "rank=0", "limit=100000") if job else []
        now = time.monotonic()
        for row in rows:
            if row["op"] == "write" and row["off"].isdigit() and int(row["off"]) >= 1000000:
                seen.setdefault(int(row["off"]) - 1000000, now)
    child.send_signal(signal.SIGTERM)
    child.wait()
    ends = {int(i): float(at) for i, at in (line.split() for line in run.stdout.read().splitlines())}
    took = sorted(seen[i] - ends[i] for i in ends if i in seen)
    print(f"latency           {len(took)} of {WRITES} writes seen while the program ran: median {took[len(took) // 2] * 1e3:.0f} ms,"
          f" most {took[-1] * 1e3:.0f} ms")
    return len(took) != WRITES


def main():
    if not 2 <= len(sys.argv) <= 5:
        sys.exit(__doc__.strip())
    build = os.path.abspath(sys.argv[1])
    rounds, rate, seconds = (sys.argv[2:] + ["5", "20000", "10"][len(sys.argv) - 2:])[:3]
    ioscribe = os.path.join(build, "util/ioscribe")
    with bench.scratch() as folder:
        bench.head(f"streams: {rounds} rounds, {rate} operations a second")
        calls(build, folder, int(rounds))
        wrong = load(build, ioscribe, folder, int(rate), int(seconds))
        wrong |= latency(ioscribe, folder)
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
