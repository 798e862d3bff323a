# SPDX-License-Identifier: BSD-3-Clause
"""The programs that run in a guest and what their logs must hold."""

import dataclasses
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# Counters that depend on the clock, or on which rank was the slower one.
CLOCK = re.compile(r"_F_|_RANK|_TIME_SIZE$")
# Ledger counters that say that something is missing.
LOST = re.compile(r"LEDGER_(DROP_.*|.*_LOST|LIB_DROPPED|LIB_UNKNOWN|.*_UNMATCHED|OVERFLOWED|(F_)?PROGRAM_MISSES)$")


@dataclasses.dataclass
class Case:
    """NAME: also of its files. MODULE: the table's column. COMMAND: shell words, or a function of the suite.
    EXPECT: [(pattern of file names, {counter: sum})], or a function of (rows, output, case's files)."""

    name: str
    module: str
    command: str
    expect: object
    options: str = ""
    function: bool = False
    same: bool = False  # the log is the same everywhere, but times
    may_lack: bool = False  # a kernel may refuse the program itself: it runs untraced before
    archs: tuple = ("amd64", "arm64")  # where what it does is recorded


class Log:
    """A log as `ioscribe parse` prints it."""

    def __init__(self, tool, path):
        done = subprocess.run([*tool, "parse", "--show-incomplete", path], capture_output=True, text=True)
        self.text = done.stdout
        self.error = done.stderr.strip() if done.returncode else ""
        self.rows = []
        for line in done.stdout.splitlines():
            words = line.split("\t")
            if not line.startswith("#") and len(words) >= 6:
                self.rows.append((words[0], words[1], words[2], words[3], words[4], words[5]))

    def total(self, counter, pattern):
        return sum(int(float(row[4])) for row in self.rows if row[3] == counter and re.search(pattern, row[5]))

    def records(self):
        """Everything of the program's own files but times: one text, the same for the same program."""
        kept = [row for row in self.rows if row[5].startswith("/data/") and row[0] != "CACHE" and not CLOCK.search(row[3])]
        return "\n".join("\t".join(row) for row in sorted(kept))

    def incomplete(self):
        found = [f"{row[3]} {row[4]}" for row in self.rows if LOST.search(row[3]) and int(float(row[4])) != 0]
        return found + [line for line in self.text.splitlines() if "incomplete" in line.lower()]


def totals(*expected):
    def check(log, output, folder):
        problems = []
        for pattern, counters in expected:
            for counter, value in counters.items():
                have = log.total(counter, pattern)
                if have != value:
                    problems.append(f"{counter} of {pattern}: {have}, expected {value}")
        return problems

    return check


def mpi_known(log, output, folder):
    """The program prints what each counter must be."""
    paths = [f"{folder}/mpi.parsed", f"{folder}/mpi.out"]
    with open(paths[0], "w", encoding="utf-8") as file:
        file.write(log.text)
    done = subprocess.run([f"{HERE}/../mpi/check_expected.py", paths[1], paths[0], "/data/w"],
                          capture_output=True, text=True)  # fmt: skip
    return [] if done.returncode == 0 else (done.stdout + done.stderr).splitlines()[:5]


def threads(number, rounds):
    each, writes = number * rounds, "POSIX_WRITES"
    return totals(
        (r"/shared$", {"POSIX_OPENS": 1, writes: each, "POSIX_READS": each, "POSIX_BYTES_WRITTEN": 16 * each,
                       "POSIX_BYTES_READ": 8 * each, "POSIX_MAX_BYTE_WRITTEN": 16 * each - 1}),
        (r"/own\.\d+$", {"POSIX_OPENS": number, writes: each, "POSIX_BYTES_WRITTEN": 32 * each, "POSIX_READS": 0}),
    )  # fmt: skip


def segments(log, output, folder):
    """Each read and write is a traced operation, too."""
    done = log.total("POSIX_READS", "") + log.total("POSIX_WRITES", "")
    have = log.total("LEDGER_SEGMENTS", "")
    return [] if done and have == done else [f"{have} traced operations of {done}"]


def files(count, opens=None):
    opens = opens or count
    return totals((r"/m\d+$", {"POSIX_OPENS": opens, "POSIX_WRITES": opens}))


def mpiio(forms):
    f = forms
    return totals(
        (r"/f$", {"MPIIO_COLL_OPENS": 2, "MPIIO_INDEP_WRITES": 6 * f + 8, "MPIIO_INDEP_READS": 6 * f + 8,
                  "MPIIO_COLL_WRITES": 6 * f, "MPIIO_COLL_READS": 6 * f, "MPIIO_SPLIT_WRITES": 6 * f,
                  "MPIIO_SPLIT_READS": 6 * f, "MPIIO_NB_WRITES": 10 * f, "MPIIO_NB_READS": 10 * f,
                  "MPIIO_BYTES_WRITTEN": 448 * f + 128, "MPIIO_BYTES_READ": 448 * f}),
    )  # fmt: skip


BASIC = totals(
    (r"/plain$", {"POSIX_WRITES": 16, "POSIX_BYTES_WRITTEN": 43478, "POSIX_READS": 5, "POSIX_BYTES_READ": 11192,
                  "POSIX_SEEKS": 2, "POSIX_FSYNCS": 1, "POSIX_FDSYNCS": 1, "POSIX_DUPS": 5,
                  "POSIX_MAX_BYTE_WRITTEN": 200999}),
    (r"/raw$", {"POSIX_OPENS": 2, "POSIX_WRITES": 1, "POSIX_BYTES_WRITTEN": 333, "POSIX_READS": 0}),
    (r"/created$", {"POSIX_OPENS": 1, "POSIX_WRITES": 0}),
)  # fmt: skip
URING = totals(
    (r"/plain$", {"POSIX_OPENS": 1, "POSIX_WRITES": 7, "POSIX_BYTES_WRITTEN": 22080, "POSIX_READS": 3,
                  "POSIX_BYTES_READ": 9742, "POSIX_MAX_BYTE_WRITTEN": 61499, "POSIX_CONSEC_WRITES": 4,
                  "POSIX_FSYNCS": 1, "POSIX_FDSYNCS": 1, "POSIX_EXT_URING_OPS": 10}),
)  # fmt: skip
APPENDS = totals((r"/plain$", {"POSIX_MAX_BYTE_WRITTEN": 1349, "POSIX_CONSEC_WRITES": 4}),
                 (r"/appends$", {"POSIX_MAX_BYTE_WRITTEN": 599, "POSIX_CONSEC_WRITES": 2}))  # fmt: skip
CHAIN = totals(*((rf"/{name}$", {"POSIX_OPENS": 1, "POSIX_EXT_CLOSES": 1, "POSIX_BYTES_WRITTEN": n})
                 for name, n in (("first", 1000), ("second", 2000), ("third", 300), ("fourth", 0))))  # fmt: skip
OPENED = totals((r"/chosen$", {"POSIX_OPENS": 1, "POSIX_EXT_CLOSES": 1, "POSIX_BYTES_WRITTEN": 500}),
                (r"/given$", {"POSIX_OPENS": 1, "POSIX_EXT_CLOSES": 1}))  # fmt: skip
PENDING = totals((r"/loop$", {"POSIX_BYTES_WRITTEN": 300, "POSIX_READS": 0}))
REACHED = totals((r"/stat.dat$", {"POSIX_STATS": 13, "POSIX_EXT_ACCESSES": 1}), (r"/cut.dat$", {"POSIX_EXT_TRUNCATES": 1}),
                 (r"/other.dat$", {"POSIX_RENAME_TARGETS": 1}))  # fmt: skip
OVER = totals((r"/over.link$", {"POSIX_EXT_READLINKS": 2}), (r"/over.dat$", {"POSIX_STATS": 4, "POSIX_EXT_STATFS": 1}))
SHARED = totals((r"/before.dat$", {"POSIX_BYTES_WRITTEN": 10}), (r"/after.dat$", {"POSIX_BYTES_WRITTEN": 19}))
LIST = totals((r"/one.dat$", {"POSIX_MAX_BYTE_WRITTEN": 151, "POSIX_EXT_AIO_OPS": 5}),
              (r"/two.dat$", {"POSIX_MAX_BYTE_WRITTEN": 55}))  # fmt: skip
DIRECT = totals((r"/direct$", {"POSIX_OPENS": 1, "POSIX_EXT_CLOSES": 1, "POSIX_WRITES": 8, "POSIX_BYTES_WRITTEN": 16384, "POSIX_READS": 1,
                               "POSIX_BYTES_READ": 8192, "POSIX_EXT_URING_OPS": 9}))  # fmt: skip
MANY = totals((r"/many$", {"POSIX_WRITES": 3200, "POSIX_BYTES_WRITTEN": 1638400, "POSIX_EXT_URING_OPS": 3200}))
AIO = totals((r"/aio$", {"POSIX_OPENS": 1, "POSIX_WRITES": 33, "POSIX_BYTES_WRITTEN": 135168, "POSIX_READS": 16,
                         "POSIX_BYTES_READ": 8192}))  # fmt: skip
STREAMS = totals(
    (r"/writes$", {"STDIO_OPENS": 2, "STDIO_WRITES": 17, "STDIO_READS": 9, "STDIO_BYTES_WRITTEN": 71355,
                   "STDIO_BYTES_READ": 611, "STDIO_SEEKS": 6}),
    (r"/threads$", {"STDIO_OPENS": 1, "STDIO_WRITES": 8000, "STDIO_BYTES_WRITTEN": 64000}),
    (r"/forked$", {"STDIO_OPENS": 1, "STDIO_WRITES": 5, "STDIO_BYTES_WRITTEN": 50}),
)  # fmt: skip
SHORT = totals((r"/short\.\d+$", {"POSIX_OPENS": 1000, "POSIX_WRITES": 1000, "POSIX_READS": 1000,
                                  "POSIX_BYTES_WRITTEN": 100500}))  # fmt: skip
PROCESSES = totals((r"/p\d+$", {"POSIX_OPENS": 200, "POSIX_WRITES": 200, "POSIX_BYTES_WRITTEN": 10100}))
PROBED = ("amd64",)  # where libraries have probes
RANKS = "mpiexec.hydra -n {} /tests/{}"

LINKS = totals(
    (r"/a/f$", {"POSIX_STATS": 300, "POSIX_EXT_TRUNCATES": 100, "POSIX_EXT_ACCESSES": 0}),
    (r"/b/f$", {"POSIX_STATS": 200, "POSIX_EXT_TRUNCATES": 200, "POSIX_EXT_ACCESSES": 100}),
    (r"/l/f$", {"POSIX_STATS": 100, "POSIX_EXT_UNLINKS": 100}),
)  # fmt: skip


def without_ours(log, output, folder):
    """The program of 32 bits has got an environment, without our libraries; its calls are counted as left out."""
    lines = output.splitlines()
    problems = [] if any(line.startswith("PATH=") for line in lines) else ["no environment is printed"]
    problems += [line for line in lines if line.startswith("LD_PRELOAD=")]
    left = log.total("LEDGER_COMPAT_SYSCALL", "")
    return problems + ([] if left > len(lines) else [f"{left} calls of 32 bits are left out, of {2 * len(lines)}"])


CACHE_PAGES = 512


def page_cache(log, output, folder):
    """Of each way, after a write: the program prints the pages that came into the cache, and its page faults."""
    size, problems, ways = CACHE_PAGES * 4096, [], {}
    for line in output.splitlines():
        words = line.split()
        if words[0] == "way":
            ways[words[1]] = printed = {}
        else:
            printed[words[0]] = int(words[1])
    for way, printed in ways.items():
        wanted = {"BYTES_DIRTIED": size, "BYTES_FETCHED": 0, "BYTES_FAULTED": 0, "DIRECT_BYTES_READ": 0}
        name = {"map_once": "BYTES_FAULTED", "direct": "DIRECT_BYTES_READ"}.get(way.split("/")[-1], "BYTES_FETCHED")
        wanted[name] = size if way.endswith("direct") else printed["resident"]
        for counter, value in wanted.items():
            have = log.total("CACHE_" + counter, f"{way}$")
            if abs(have - value) > 4096:
                problems.append(f"CACHE_{counter} of {way}: {have}, expected {value}")
        minor = log.total("CACHE_MINOR_FAULTS", f"{way}$")
        if "faults" in printed and minor >= 0:  # -1 before Linux 6.11
            have = minor + log.total("CACHE_MAJOR_FAULTS", f"{way}$")
            if abs(have - printed["faults"]) > 4:
                problems.append(f"page faults of {way}: {have}, {printed['faults']} by getrusage")
    if len(ways) != 8:
        return [*problems, f"{len(ways)} ways of 8 have run"]
    # What the NFS client keeps of its mount, where all of it is this job's.
    came = sum(size if way.endswith("direct") else printed["resident"] for way, printed in ways.items() if "/nfs/" in way)
    for counter, value in {"BYTES_READ": came, "BYTES_WRITTEN": 4 * size}.items():
        have = log.total("MOUNTS_CLIENT_" + counter, ":/nfs$")
        if have != value:
            problems.append(f"MOUNTS_CLIENT_{counter} of /nfs: {have}, expected {value}")
    if log.total("MOUNTS_CLIENT_REQUESTS", ":/nfs$") < 4 * 8 or log.total("MOUNTS_F_CLIENT_RTT_TIME", ":/nfs$") < 0:
        problems.append("requests of the mount /nfs are missing")
    return problems


def random(first):
    """Ten random programs (tests/oracle/random), each with its account."""

    def check(log, output, folder):
        sys.path.insert(0, f"{HERE}/../oracle/random")
        import compare

        found = compare.records_of(log.text, "/data/w", compare.counters())
        return compare.differences_of(found, compare.account_of(output), "/data/w")

    program = "mkdir $s && /tests/oracle/random_ops $s 300 /data/w/$s || exit"
    seeds = f"{first} $(({first} + 9))"
    return Case(f"random{first}", "random", f"sh -c 'for s in $(seq {seeds}); do {program}; done'", check)


THREADS_8 = Case("threads8", "threads", "/tests/kernels/kernels_threads 8 1500", threads(8, 1500))
THREADS_ONE_CPU = dataclasses.replace(THREADS_8, command="taskset 1 " + THREADS_8.command)
THREADS_64 = Case("threads64", "threads", "/tests/kernels/kernels_threads 64 200", threads(64, 200))
CASES = [
    Case("basic", "POSIX", "basic", BASIC, same=True),
    Case("segments", "threads", THREADS_8.command, segments, options="--dxt"),
    Case("files", "POSIX", "many_files 300", files(300), same=True),
    Case("processes", "POSIX", "many_procs 200", PROCESSES),
    THREADS_8,
    Case("short", "threads", "short_threads 1000", SHORT),
    Case("uring", "io_uring", "uring plain", URING, same=True),
    Case("direct", "io_uring", "uring direct", DIRECT, may_lack=True),
    Case("many", "io_uring", "uring many", MANY),
    Case("append", "io_uring", "uring_order append", APPENDS),
    Case("chain", "io_uring", "uring_order chain", CHAIN),
    Case("opened", "io_uring", "uring_order direct", OPENED, may_lack=True),
    Case("pending", "io_uring", "uring_order pending", PENDING),
    Case("reached", "names", "paths_reached links", REACHED),
    Case("over", "names", "paths_reached over", OVER, may_lack=True),
    Case("shared", "names", "paths_reached shared", SHARED),
    Case("list", "libaio", "paths_reached aio", LIST),
    Case("aio", "libaio", "/tests/kernels/kernels_aio", AIO, same=True),
    Case("streams", "STDIO", "stdio_calls", STREAMS, archs=PROBED),
    Case("mpi", "MPI", RANKS.format(4, "mpi/mpi_known /data/w"), mpi_known),
    Case("inside", "MPI-IO inside", RANKS.format(2, "uprobes/mpiio_all f"), mpiio(2), archs=PROBED),
    Case("probes", "MPI-IO probes", RANKS.format(2, "uprobes/mpiio_all f"), mpiio(2),
         "--set mpiio_wrap=no", archs=PROBED),
    Case("links", "names", "links_switched", LINKS, same=True),
    Case("word32", "32 bits", "preloads execv /tests/kernels/word32", without_ours, archs=("amd64",)),
    random(1),
    Case("cache", "page cache", f"sh /tests/ways {CACHE_PAGES}", page_cache),
    Case("job", "job", "job", files(500), function=True),
    Case("killed", "killed", "killed", files(900), function=True),
]
# By name alone (--cases): they take minutes.
MORE = [random(first) for first in range(11, 101, 10)]


def script(cases, levels):
    """The guest's script: every case at every level."""
    lines = [". /tests/suite", "preempt >/results/preempt"]
    if any(case.name == "cache" for case in cases):
        lines.append("file_systems")
    lines += [f'for level in {levels or "$(all_levels)"}; do', "  begin $level || continue"]
    for case in cases:
        if case.may_lack:
            lines.append(f"  untraced {case.name} {case.command}")
        if case.function:
            lines.append(f"  {case.command}")
        else:
            lines.append(f"  options='{case.options}' trace {case.name} {case.command}")
    return "\n".join([*lines, "  end", "done", "exit 0", ""])


def check(case, tool, folder):
    """Problems of one case, whose files stand in a level's folder; where its log says that something is
    missing; and the log's records."""
    path = f"{folder}/{case.name}.darshan"
    if case.may_lack and _read(f"{folder}/{case.name}.untraced").strip() != "0":
        return [], [], ""
    code, error = _read(f"{folder}/{case.name}.code").strip(), _read(f"{folder}/{case.name}.err").strip()
    if not os.path.exists(path):
        return [f"no log ({error.splitlines()[-1] if error else 'code ' + (code or 'none')})"], [], ""
    log = Log(tool, path)
    problems = [log.error] if log.error else []
    if "a daemon of its own is started" in error:
        problems.append(f"not by the service: {error[-200:]}")
    if code != "0":
        problems.append(f"ended with {code or 'no code'}: {error[-200:]}")
    problems += case.expect(log, _read(f"{folder}/{case.name}.out"), folder)
    return problems[:5], log.incomplete(), log.records()


def _read(path):
    if not os.path.exists(path):
        return ""
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()
