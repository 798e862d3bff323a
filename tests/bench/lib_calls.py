#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What tracing adds to one call of a library: 10th percentiles and medians of one interleaved run.

usage: lib_calls.py BUILD [ROUNDS]     (root; 5 rounds)

fwrite of 8 bytes, fgetc, MPI_File_write_at of 8 bytes (MPICH; always processor time):
  untraced   nothing of ours attached, which is checked before and after
  preloaded  traced with preload
and of MPI_File_write_at, whose calls probes can count
  begun      a job of a service that wants the library's probes has begun, no process has joined
  plain      traced without preload, by probes
  other      by an untraced process while a traced one has probes in the same library
  darshan    below Darshan, when IOSCRIBE_BENCH_DARSHAN names a libdarshan.so for programs without
             MPI (streams), IOSCRIBE_BENCH_DARSHAN_MPI one for MPICH (MPI_File_write_at)
The number of our programs that the kernel says are attached stands in the last column, of the library's
probes after the slash. IOSCRIBE_BENCH_CLOCK=cpu takes processor time; IOSCRIBE_BENCH_CALLS names some of the calls;
IOSCRIBE_BENCH_LOCK a file to lock in each round. Exit 1 if a run failed or recorded nothing.
"""
import contextlib
import os
import sys

sys.dont_write_bytecode = True
import bench  # noqa: E402

PROBES = "scribe_lib"
CALLS = {
    # name: (program below BUILD, arguments, calls a round, by probes (0: not counted so), library, module, counter)
    "fwrite": ("tests/prog/stdio_speed", ["fwrite"], 300000, 0, "libc.so", "stdio", "STDIO_WRITES"),
    "fgetc": ("tests/prog/stdio_speed", ["fgetc"], 300000, 0, "libc.so", "stdio", "STDIO_READS"),
    "MPI_File_write_at": ("tests/uprobes/mpich/mpiio_speed", [], 10000, 5000, "libmpich", "mpiio",
                          "MPIIO_INDEP_WRITES"),
}
ROUNDS = "10"


class Call:
    """One call's ways."""

    def __init__(self, build, folder, figures, name):
        self.build, self.folder, self.figures, self.name = build, folder, figures, name
        program, self.words, self.most, self.few, library, self.module, self.counter = CALLS[name]
        self.program = os.path.join(build, program)
        self.library = bench.library_of(self.program, library)
        self.darshan = os.environ.get("IOSCRIBE_BENCH_DARSHAN" + ("_MPI" if self.module == "mpiio" else ""))
        self.log = os.path.join(folder, "log.darshan")

    def command(self, calls):
        return [self.program, *self.words, str(calls), os.path.join(self.folder, "file"), ROUNDS]

    def run(self, *options):
        return [os.path.join(self.build, "util/ioscribe"), "run", "--quiet", "--force", "--log", self.log, "--include", bench.SCRATCH,
                "--set", f"trace_libraries={self.module}", *options, "--"]

    def measure(self, way, calls, prefix=(), env=None, links=None):
        self.figures.add(self.name, way, bench.measured([*prefix, *self.command(calls)], env=env), links)

    def recorded(self):
        bench.must_have(self.build, self.log, self.counter)
        os.unlink(self.log)

    def untraced(self):
        self.measure("untraced", self.most, links=bench.nothing_attached())
        if bench.attached():
            sys.exit(f"lib_calls: attached during the base run: {' '.join(bench.attached())}")

    def begun(self):
        # a service of its own, which keeps its library probes until it ends
        with bench.Service(self.build, self.folder) as service, service.begin(f"trace_libraries={self.module}"):
            self.measure("begun", self.few, links=bench.attached())

    def plain(self):
        self.measure("plain", self.few, self.run("--no-runtime"))
        self.recorded()

    def preloaded(self):
        self.measure("preloaded", self.most, self.run())
        self.recorded()

    def other(self):
        """The other process has the library in its memory, as the probes are for those that have."""
        with bench.sleeper(os.environ, [*self.run("--no-runtime"), "env", f"LD_PRELOAD={self.library}"]):
            links = bench.wait_until(lambda names: any(n.startswith(PROBES) for n in names),
                                     f"no probe stands in {self.library}")
            self.measure("other", self.few, links=links)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.log)

    def below_darshan(self):
        env = bench.darshan_env(self.darshan, self.log, self.folder, self.module == "mpiio")
        self.measure("darshan", self.most, env=env)
        self.recorded()

    def round(self, number):
        ways = [self.untraced, self.preloaded] + ([self.begun, self.plain, self.other] if self.few else [])
        ways += [self.below_darshan] if self.darshan else []
        first = number % len(ways)
        for way in ways[first:] + ways[:first]:
            with bench.machine_lock():
                bench.nothing_attached()
                way()
                bench.nothing_attached()


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    build, rounds = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) == 3 else 5
    names = os.environ.get("IOSCRIBE_BENCH_CALLS", " ".join(CALLS)).split()
    figures = bench.Figures(probes=PROBES)
    with bench.scratch() as folder:
        bench.head("ns a library's call; MPI_File_write_at in processor time")
        for number in range(rounds):
            for name in names:
                Call(build, folder, figures, name).round(number)
        figures.table(compare=[("preloaded", "darshan"), ("plain", "darshan")])


if __name__ == "__main__":
    main()
