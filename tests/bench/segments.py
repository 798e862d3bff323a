#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Many single operations (DXT) in one job: what is kept and lost, what the daemon takes for it, bytes in the log.

usage: segments.py BUILD SECONDS [RATE [THREADS]]     (root)

THREADS (2) threads do preads of 8 bytes, one behind another, each in a file of its own on a tmpfs, RATE a second
together (0: as fast as they can) for SECONDS, below `ioscribe run --dxt` with the default bounds. Printed: operations
of the program, by its own count; kept and lost, by the ledger; processor time of the daemon until the program has
ended, and its largest memory (VmHWM), both of /proc; bytes a segment of the region in the log. With
IOSCRIBE_BENCH_DARSHAN_UTIL, a prefix of Darshan's tools, its darshan-dxt-parser reads the log, too.
Exit 1: operations of the program are neither kept nor counted as lost, or a reader has another number.
"""
import glob
import os
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import bench  # noqa: E402


def daemon_of(run):
    """The process id of the run's own daemon."""
    while run.poll() is None:
        for path in glob.glob("/proc/[0-9]*/stat"):
            fields = bench.read(path).rsplit(")", 1)
            if len(fields) == 2 and fields[0].endswith("(ioscribed") and int(fields[1].split()[1]) == run.pid:
                return int(path.split("/")[2])
        time.sleep(0.02)
    sys.exit("segments.py: the run has no daemon")


def processor_seconds(pid):
    fields = bench.read(f"/proc/{pid}/stat").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_mib(pid):
    for line in bench.read(f"/proc/{pid}/status").splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return 0


def lines_of(words):
    """Segments that the command prints."""
    count = "awk '/^ X_POSIX/ { n++ } END { print n + 0 }'"
    since = time.monotonic()
    done = subprocess.run(["/bin/sh", "-c", f'"$@" | {count}', "sh", *words], capture_output=True, text=True, check=True)
    return int(done.stdout), time.monotonic() - since


def counters(ioscribe, log):
    text = subprocess.run([ioscribe, "parse", "--show-incomplete", log], capture_output=True, text=True, check=True).stdout
    found, region = {}, 0
    for line in text.splitlines():
        words = line.split()
        if line.startswith("# DXT_POSIX module:"):
            region = int(words[3])
        elif line.startswith("LEDGER\t"):
            found[words[3]] = int(float(words[4]))
    return found, region


def main():
    if not 3 <= len(sys.argv) <= 5:
        sys.exit(__doc__.strip())
    build, seconds = os.path.abspath(sys.argv[1]), sys.argv[2]
    rate, threads = (sys.argv[3:] + ["0", "2"][len(sys.argv) - 3:])[:2]
    ioscribe = os.path.join(build, "util/ioscribe")
    with bench.scratch() as folder:
        log, ready, go = (os.path.join(folder, name) for name in ("log.darshan", "ready", "go"))
        os.mkfifo(ready)
        os.mkfifo(go)
        bench.head(f"single operations: {threads} threads, {rate} a second (0: all they can), {seconds} s")
        run = subprocess.Popen([ioscribe, "run", "--quiet", "--dxt", "--include", folder + "/", "--log", log, "--",
                                os.path.join(build, "tests/bench/segment_ops"), folder, seconds, rate, threads],
                               stdout=subprocess.PIPE, text=True)
        daemon = daemon_of(run)
        with open(ready, encoding="ascii") as told:
            told.read()
        before = processor_seconds(daemon)
        with open(go, "w", encoding="ascii") as say:
            say.write("go")
        done = int(run.stdout.readline())
        took = float(run.stdout.readline())
        spent, most = processor_seconds(daemon) - before, memory_mib(daemon)
        with open(ready, "w", encoding="ascii") as say:  # it may end
            say.write("end")
        while run.poll() is None:
            most = max(most, memory_mib(daemon))
            time.sleep(0.02)
        if run.returncode:
            sys.exit(f"segments.py: the run ended with {run.returncode}")
        ledger, region = counters(ioscribe, log)
        kept, lost = ledger["LEDGER_SEGMENTS"], sum(ledger["LEDGER_SEGMENTS_" + why] for why in ("NO_LEAF", "NO_ROOM"))
        print(f"operations        {done} in {took:.1f} s: {done / took:.0f} a second")
        print(f"kept, lost        {kept}, {lost}")
        print(f"daemon            {spent:.2f} s, {100 * spent / took:.1f} % of a core, {1e9 * spent / done:.0f} ns an operation")
        print(f"daemon's memory   {most:.0f} MiB at most (VmHWM)")
        print(f"log               {region / max(kept, 1):.2f} bytes a segment")
        readers = {"ioscribe dxt": [ioscribe, "dxt", "--show-incomplete", log]}
        if os.environ.get("IOSCRIBE_BENCH_DARSHAN_UTIL"):
            readers["darshan-dxt-parser"] = [os.environ["IOSCRIBE_BENCH_DARSHAN_UTIL"] + "/bin/darshan-dxt-parser",
                                             "--show-incomplete", log]
        wrong = kept + lost != done
        for name, words in readers.items():
            n, read = lines_of(words)
            wrong |= n != kept
            print(f"{name:17} {n} segments in {read:.1f} s")
        return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
