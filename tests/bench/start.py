#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What `ioscribe run` costs before and behind the command: time, kernel memory, the answer to Ctrl-C.

usage: start.py BUILD [OTHER_BUILD...]     (root; IOSCRIBE_BENCH_ROUNDS, 20)

The builds in turn. Milliseconds of `ioscribe run true` until it returns, 10th percentile and median; until
nothing of it is left in the kernel (ditto); what it takes longer than `true` in a service that traces already (ditto);
MiB of all BPF maps while the command sleeps; milliseconds from SIGINT (to the process group, as a terminal
sends it) to the return, median and the longest, while it starts and while the command runs.
"""
import os
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import bench  # noqa: E402

MAP_GET_NEXT_ID, MAP_GET_FD_BY_ID = 12, 14
STARTING = (0.02, 0.05, 0.1, 0.15)  # seconds behind the start
RUNNING = 1.0


def command(build, folder, *words):
    return [f"{build}/util/ioscribe", "run", "--private", "--quiet", "--log-dir", folder, "--", *words]


def one_start(build):
    """Milliseconds until it returns, and until nothing is attached."""
    with bench.scratch() as folder:
        bench.nothing_attached()
        begun = time.monotonic()
        subprocess.run(command(build, folder, "true"), check=True)
        returned = time.monotonic()
        bench.nothing_attached()
        return (returned - begun) * 1e3, (time.monotonic() - begun) * 1e3


def elapsed_ms(words, env=None):
    begun = time.monotonic()
    subprocess.run(words, check=True, env=env)
    return (time.monotonic() - begun) * 1e3


def joins(build, rounds):
    """Milliseconds that a command in a service takes longer than `true`, each beside one of that."""
    with bench.scratch() as folder, bench.Service(build, folder) as service, service.begin() as job:
        with bench.sleeper(job.joins):
            run = [f"{build}/util/ioscribe", "run", "--quiet", "--force", "--log", f"{folder}/log.darshan", "--", "true"]
            return [elapsed_ms(run, service.env) - elapsed_ms(["true"]) for _ in range(3 * rounds)]


def maps_bytes():
    """Of all maps on this machine, as the kernel accounts them."""
    total, words = 0, bench.Words(0, 0, 0)
    while bench.bpf(MAP_GET_NEXT_ID, words) == 0:
        number = words.b
        fd = bench.bpf(MAP_GET_FD_BY_ID, bench.Words(number, 0, 0))
        if fd >= 0:
            text = bench.read(f"/proc/self/fdinfo/{fd}")
            os.close(fd)
            total += sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("memlock"))
        words = bench.Words(number, 0, 0)
    return total


def one_memory(build):
    with bench.scratch() as folder:
        bench.nothing_attached()
        before = maps_bytes()
        process = subprocess.Popen(command(build, folder, "sleep", "1.5"))
        time.sleep(1)
        used = maps_bytes() - before
        process.wait()
        return used / 2**20


def one_interrupt(build, after):
    with bench.scratch() as folder:
        bench.nothing_attached()
        process = subprocess.Popen(command(build, folder, "sleep", "60"), start_new_session=True)
        time.sleep(after)
        told = time.monotonic()
        os.killpg(process.pid, signal.SIGINT)
        process.wait()
        return (time.monotonic() - told) * 1e3


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    builds = [os.path.abspath(path) for path in sys.argv[1:]]
    rounds = int(os.environ.get("IOSCRIBE_BENCH_ROUNDS", "20"))
    bench.head("start-up and end of `ioscribe run`")
    starts = {build: [] for build in builds}
    for _ in range(rounds):
        for build in builds:
            starts[build].append(one_start(build))
    print(f"{'returns':>16}{'nothing left':>16}{'in a service':>16}{'maps':>8}{'SIGINT: starting':>18}{'running':>14}")
    print(f"{'ms: p10, median':>16}{'p10, median':>16}{'p10, median':>16}{'MiB':>8}{'median, longest':>18}{'':>14}")
    for build in builds:
        cells = []
        for digits, column in zip((0, 0, 1), (*zip(*starts[build]), joins(build, rounds))):
            values = sorted(column)
            cells.append(f"{values[len(values) // 10]:.{digits}f}, {values[len(values) // 2]:.{digits}f}")
        early = sorted(one_interrupt(build, after) for after in STARTING for _ in range(3))
        late = sorted(one_interrupt(build, RUNNING) for _ in range(5))
        print(f"{cells[0]:>16}{cells[1]:>16}{cells[2]:>16}{one_memory(build):8.1f}"
              f"{f'{early[len(early) // 2]:.0f}, {early[-1]:.0f}':>18}{f'{late[2]:.0f}, {late[-1]:.0f}':>14}  {build}")


if __name__ == "__main__":
    main()
