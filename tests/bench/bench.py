# SPDX-License-Identifier: BSD-3-Clause
"""What the benchmarks share: what machine this is, whether programs of ours are attached
(asked of the kernel, never waited for by the clock), figures, a service with jobs.
"""
import contextlib
import ctypes
import fcntl
import glob
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time

SYS_BPF = {"x86_64": 321, "aarch64": 280}.get(platform.machine())
PROG_GET_FD_BY_ID, GET_INFO, LINK_GET_FD_BY_ID, LINK_GET_NEXT_ID = 13, 15, 30, 31
PROG_NAME_AT, PROG_INFO_BYTES = 64, 80  # struct bpf_prog_info up to the name
OURS = "scribe_"
SCRATCH = "/dev/shm/ioscribe-bench/"  # is recorded: an MPI library's own files beside it in /dev/shm are left out
WAIT_SECONDS = int(os.environ.get("IOSCRIBE_BENCH_WAIT", "60"))
MITIGATIONS = ("spec_rstack_overflow", "retbleed", "spectre_v2", "mds", "meltdown")

libc = ctypes.CDLL(None, use_errno=True)
# Told to end, a benchmark stops what it has started.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


def read(path, otherwise=""):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return otherwise


def preemption():
    """The mode in brackets of sched/preempt, where it can be read; else what the kernel was built for."""
    text = read("/sys/kernel/debug/sched/preempt")
    if "(" in text:
        return text[text.index("(") + 1:text.index(")")]
    version = platform.version()
    for word in ("PREEMPT_DYNAMIC", "PREEMPT_RT", "PREEMPT_LAZY", "PREEMPT"):
        if word in version:
            given = [w for w in read("/proc/cmdline").split() if w.startswith("preempt=")]
            return f"{word}, {given[0] if given else 'mode not to be read: no debugfs'}"
    return "none"


def head(what):
    """What the figures below were measured on."""
    cpuinfo = read("/proc/cpuinfo")
    fields = dict(line.split(":", 1) for line in cpuinfo.split("\n\n")[0].splitlines() if ":" in line)
    fields = {key.strip(): value.strip() for key, value in fields.items()}
    model = fields.get("model name") or f"implementer {fields.get('CPU implementer')}, part {fields.get('CPU part')}"
    if "cpu family" in fields:
        model += f" (family {fields['cpu family']}, model {fields.get('model')})"
    print(f"# {what}")
    guest = ", in a virtual machine" if "hypervisor" in fields.get("flags", "").split() else ""
    print(f"# processor   {os.cpu_count()} x {model}{guest}")
    for name in MITIGATIONS:
        print(f"# {name:21} {read('/sys/devices/system/cpu/vulnerabilities/' + name, 'not told by this kernel')}")
    print(f"# kernel      {platform.release()}, preemption: {preemption()}")
    clock = "processor time" if cpu_time() else "elapsed time"
    print(f"# time        {time.strftime('%Y-%m-%d %H:%M', time.gmtime())} UTC, load {os.getloadavg()[0]:.1f}; {clock}")


def cpu_time():
    return os.environ.get("IOSCRIBE_BENCH_CLOCK") == "cpu"


class Words(ctypes.Structure):
    _fields_ = [("a", ctypes.c_uint32), ("b", ctypes.c_uint32), ("c", ctypes.c_uint64)]


def bpf(command, words):
    return libc.syscall(SYS_BPF, command, ctypes.byref(words), ctypes.sizeof(words))


def info_of(fd, size):
    info = (ctypes.c_uint8 * size)()
    failed = bpf(GET_INFO, Words(a=fd, b=size, c=ctypes.addressof(info)))
    os.close(fd)
    return None if failed else bytes(info)


def attached():
    """Names of our programs that are attached, one for each link; [] where none is."""
    names, link = [], Words()
    while bpf(LINK_GET_NEXT_ID, link) == 0:
        link.a = link.b
        fd = bpf(LINK_GET_FD_BY_ID, Words(a=link.b))
        info = info_of(fd, 16) if fd >= 0 else None
        program = bpf(PROG_GET_FD_BY_ID, Words(a=int.from_bytes(info[8:12], "little"))) if info else -1
        info = info_of(program, PROG_INFO_BYTES) if program >= 0 else None
        if info:
            name = info[PROG_NAME_AT:].split(b"\0")[0].decode()
            names += [name] if name.startswith(OURS) else []
    if ctypes.get_errno() not in (0, 2):
        sys.exit(f"bench: bpf links cannot be listed: {os.strerror(ctypes.get_errno())}: run as root")
    return sorted(names)


def at_calls(names):
    """Of these, those that system calls run: others see processes come and go, and libraries."""
    return [name for name in names if not name.startswith(("scribe_sched", "scribe_ev_fork", "scribe_ev_exec",
                                                           "scribe_ev_own", "scribe_ev_end", "scribe_lib"))]


def without_libraries(names):
    """Of these, those that programs without a probed library can run: a service keeps its library probes after a job."""
    return [name for name in names if not name.startswith("scribe_lib")]


def wait_until(wanted, what):
    """Waits until wanted(attached()) holds and what is attached has not changed for a while."""
    end, last, since = time.monotonic() + WAIT_SECONDS, None, 0
    while time.monotonic() < end:
        now = attached()
        if now != last:
            last, since = now, time.monotonic()
        if wanted(now) and time.monotonic() - since > 0.2:
            return now
        time.sleep(0.02)
    sys.exit(f"bench: after {WAIT_SECONDS} s {what}; attached: {' '.join(last) if last else 'nothing'}")


def nothing_attached(of=list):
    """For a base run: what was attached is gone. What somebody else's daemon attaches ends the benchmark here."""
    return of(wait_until(lambda names: not of(names), "programs of ours are still attached (another daemon?)"))


def quantile(values, part):
    values = sorted(values)
    at = (len(values) - 1) * part
    low = int(at)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (at - low)


class Figures:
    """Values by case and way, and the table of them."""

    def __init__(self, unit="ns", digits=1, probes=None):
        self.values, self.links, self.unit, self.digits, self.probes = {}, {}, unit, digits, probes

    def add(self, case, way, values, links=None):
        self.values.setdefault(case, {}).setdefault(way, []).extend(values)
        if links is not None:
            probes = sum(name.startswith(self.probes) for name in links) if self.probes else 0
            told = f"{len(links)}/{probes}" if self.probes else str(len(links))
            self.links.setdefault((case, way), set()).add(told)

    def at(self, case, way, part):
        return quantile(self.values[case][way], part)

    def added(self, case, way, part, base="untraced"):
        return self.at(case, way, part) - self.at(case, base, part)

    def table(self, base="untraced", compare=None):
        """p10 and median, what each way adds to the base, and its ratio; compare names (way, other way)."""
        width = max(len(case) for case in self.values) + 1
        ways = max(len(way) for by_way in self.values.values() for way in by_way) + 1
        d = self.digits
        print(f"{'':{width}} {'':{ways}} {'p10':>9} {'added':>8} {'ratio':>6} {'median':>9} {'added':>8} {'ratio':>6} "
              f"{'n':>5} links  ({self.unit})")
        for case, by_way in self.values.items():
            for way, values in by_way.items():
                out = f"{case:{width}} {way:{ways}}"
                for part in (0.1, 0.5):
                    value, zero = self.at(case, way, part), self.at(case, base, part) if base in by_way else 0
                    ratio = f"{value / zero:6.2f}" if zero else "     -"
                    out += f" {value:9.{d}f} {value - zero:+8.{d}f} {ratio}"
                told = " ".join(sorted(self.links.get((case, way), "-")))
                print(f"{out} {len(values):5} {told:>5}")
            for way, other in compare or ():
                if way in by_way and other in by_way:
                    print(f"{case:{width}} {way} adds / {other} adds: " + ", ".join(
                        f"{name} {share(self.added(case, way, part, base), self.added(case, other, part, base))}"
                        for name, part in (("p10", 0.1), ("median", 0.5))))


def share(ours, theirs):
    """A ratio of what is added; it says nothing where the other adds nothing."""
    return f"{ours / theirs:.2f}" if theirs > 0.5 else f"- ({ours:+.1f} against {theirs:+.1f})"


@contextlib.contextmanager
def machine_lock():
    """IOSCRIBE_BENCH_LOCK names a file that is locked for each round, where others test on this machine too."""
    path = os.environ.get("IOSCRIBE_BENCH_LOCK")
    if not path:
        yield
        return
    with open(path, "a", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def output(command, **more):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **more).stdout


def measured(command, **more):
    """The numbers that a program printed."""
    return [float(word) for word in output(command, **more).split()]


def darshan_env(darshan, log, folder, mpi=False):
    """Darshan records every file below /dev/shm, which it would leave out by itself."""
    conf = os.path.join(folder, "darshan.conf")
    with open(conf, "w", encoding="utf-8") as file:
        file.write("MAX_RECORDS 110000 POSIX\nNAME_INCLUDE ^/dev/shm/ POSIX,STDIO,MPI-IO\n")
    env = dict(os.environ, LD_PRELOAD=darshan, DARSHAN_MODMEM="128", DARSHAN_NAMEMEM="16", DARSHAN_LOGFILE=log,
               DARSHAN_CONFIG_PATH=conf)
    return env if mpi else dict(env, DARSHAN_ENABLE_NONMPI="1")


def must_have(build, log, counter):
    """Nothing is compared with a tool that has recorded nothing."""
    command = [os.path.join(build, "util/ioscribe"), "parse", "--base", "--show-incomplete", log]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace") as parse:
        there = any(f"\t{counter}\t" in line and line.split("\t")[4] not in ("0", "-1") for line in parse.stdout)
        parse.kill()
    if not there:
        sys.exit(f"bench: {log}: no {counter}: nothing was recorded")


class Service:
    """A daemon in a folder of its own that stays when no job is there, for a with statement."""

    def __init__(self, build, folder, pin=False, config=()):
        self.ioscribe = os.path.join(build, "util/ioscribe")
        self.daemon = os.path.join(build, "runtime/daemon/ioscribed")
        self.folder = tempfile.mkdtemp(dir=folder)
        self.words = ["--pin"] if pin else []
        if config:
            self.words += ["--config", os.path.join(self.folder, "conf")]
            with open(self.words[-1], "w", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for line in config)
        self.env = dict(os.environ, IOSCRIBE_DIR=os.path.join(self.folder, "run"))
        self.socket = os.path.join(self.folder, "run/socket")
        self.jobs = 0

    def __enter__(self):
        subprocess.run([self.daemon, "--service", "--stay"] + self.words, env=self.env, check=True)
        self.pid = int(read(os.path.join(self.folder, "run/pid")))
        return self

    def __exit__(self, *_):
        os.kill(self.pid, signal.SIGINT)
        while os.path.exists(f"/proc/{self.pid}"):
            time.sleep(0.02)
        shutil.rmtree(self.folder)

    def job(self, *words):
        return output([self.ioscribe, "job", *words, "--timeout", "120"], env=self.env).strip()

    def begin(self, *keys, uid=None, variable=None):
        """Begins a job; what a program needs in its environment to join it stands in .joins."""
        self.jobs += 1
        number, variable = str(self.jobs), variable or f"BENCH_JOB={self.jobs}"
        self.job("begin", "--job-id", number, "--uid", str(os.getuid() if uid is None else uid), "--match-env", variable,
                 "log_dir=" + os.path.join(self.folder, "logs"), "include=" + SCRATCH, *keys)
        return Job(self, number, variable)

    def living(self):
        """Processes that live in the only job."""
        time.sleep(0.02)
        return int(self.job("list").split("\n")[-1].split()[4])

    def memory(self):
        """The largest memory of the daemon so far, in MiB."""
        lines = read(f"/proc/{self.pid}/status").splitlines()
        return int([line for line in lines if line.startswith("VmHWM")][0].split()[1]) // 1024

    def seconds(self):
        """Processor time of the daemon so far."""
        fields = read(f"/proc/{self.pid}/stat").rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Job:
    """A job of a service, from its begin to its end; logs has the paths of its logs then."""

    def __init__(self, service, number, variable):
        self.service, self.number, self.logs = service, number, []
        name, value = variable.split("=", 1)
        self.joins = dict(os.environ, IOSCRIBE_ENABLE="1", **{name: value})

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.logs = self.service.job("end", self.number).split() if kind is None else []


@contextlib.contextmanager
def sleeper(env, command=(), preload=None):
    """A process that does nothing until the with statement ends."""
    env = dict(env, LD_PRELOAD=preload) if preload else env
    held = subprocess.Popen([*command, "sh", "-c", "echo up; read end"], env=env, stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE)
    try:
        if held.stdout.readline() != b"up\n":
            sys.exit("bench: the other job did not start")
        yield held
    finally:
        held.communicate(b"end\n", timeout=WAIT_SECONDS)


@contextlib.contextmanager
def scratch():
    """A folder on a tmpfs."""
    os.makedirs(SCRATCH, exist_ok=True)
    folder = tempfile.mkdtemp(dir=SCRATCH)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)
        with contextlib.suppress(OSError):  # another benchmark's is in it
            os.rmdir(SCRATCH)


def library_of(program, part):
    """The shared library of a program whose name holds part."""
    for line in output(["ldd", program]).splitlines():
        if part in line and "=>" in line:
            return line.split("=>")[1].split()[0]
    sys.exit(f"bench: {program}: linked with no {part}; {' '.join(glob.glob(program))}")
