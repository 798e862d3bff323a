#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the runtime adds to MPI_Init and MPI_Finalize, in milliseconds.

usage: mpi_cost.py BUILD [RANKS [FILES [RUNS]]]     (root; 4 ranks, 0 files, 9 runs)

Untraced (nothing of ours attached, which is checked), traced without and with the runtime, with
MPICH also below Darshan when IOSCRIBE_BENCH_DARSHAN_MPI names its libdarshan.so, in turn, so that all
meet the same machine; 10th percentiles and medians. IOSCRIBE_BENCH_LOCK names a file to lock in each run.
Exit 1 only if a run failed.
"""
import os
import re
import sys

sys.dont_write_bytecode = True
import bench  # noqa: E402

LAUNCH = {
    "mpich": ["mpiexec.mpich", "-n"],
    "openmpi": ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "-n"],
}


def one(build, mpi, ranks, files, way):
    """Milliseconds in MPI_Init and in MPI_Finalize."""
    with bench.scratch() as folder, bench.machine_lock():
        bench.nothing_attached()
        log = os.path.join(folder, "log.darshan")
        program, env = [f"{build}/tests/mpi/{mpi}/mpi_cost", folder, str(files)], None
        command = LAUNCH[mpi] + [str(ranks)]
        if way == "darshan":
            env = bench.darshan_env(os.environ["IOSCRIBE_BENCH_DARSHAN_MPI"], log, folder, mpi=True)
            names = ("LD_PRELOAD", "DARSHAN_LOGFILE", "DARSHAN_CONFIG_PATH")
            words = [word for name in names for word in ("-env", name, env[name])]
            command, env = LAUNCH[mpi] + [str(ranks)] + words, None
        elif way != "untraced":
            run = [f"{build}/util/ioscribe", "run", "--quiet", "--force", "--log", log, "--include", "/dev/shm/"]
            command = run + (["--no-runtime"] if way == "daemon alone" else []) + ["--"] + command
        out = bench.output(command + program, env=env, timeout=120)
        if way != "untraced" and files:
            bench.must_have(build, log, "POSIX_OPENS")
        return [float(x) for x in re.findall(r"[\d.]+", out)]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    build = os.path.abspath(sys.argv[1])
    ranks, files, runs = (int(a) if a else d for a, d in zip((sys.argv[2:] + [""] * 3)[:3], (4, 0, 9)))
    darshan = os.environ.get("IOSCRIBE_BENCH_DARSHAN_MPI")
    ways = ["untraced", "daemon alone", "with runtime"]
    bench.head(f"ms in MPI_Init and MPI_Finalize, {ranks} ranks, {files} files a rank")
    figures = bench.Figures(unit="ms")
    for _ in range(runs):
        for mpi in LAUNCH:
            for way in ways + (["darshan"] if darshan and mpi == "mpich" else []):
                init, end = one(build, mpi, ranks, files, way)
                for case, value in (("Init", init), ("Finalize", end), ("both", init + end)):
                    figures.add(f"{mpi} {case}", way, [value])
    figures.table(compare=[("with runtime", "darshan")])


if __name__ == "__main__":
    main()
