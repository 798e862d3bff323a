# SPDX-License-Identifier: BSD-3-Clause
"""What zoo.c does, in Python: prog.py ENDING."""
import ctypes
import os
import resource
import signal
import sys
import threading
import time

RANK = int(os.environ.get("PMI_RANK", "0"))
SIZE = int(os.environ.get("PMI_SIZE", "1"))


def put(folder, name, text):
    fd = os.open(os.path.join(os.environ[folder], name), os.O_WRONLY | os.O_CREAT, 0o600)
    os.write(fd, text.encode())
    os.close(fd)


def add(name, size):
    fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(fd, bytes(size))
    os.close(fd)


def detach():
    null = os.open("/dev/null", os.O_RDWR)
    for fd in range(3):
        os.dup2(null, fd)
    os.closerange(3, 256)


def meet(where):
    add(f"{where}.{RANK}", 1)
    while not all(os.path.exists(f"{where}.{r}") for r in range(SIZE)):
        time.sleep(0.01)


def begin():
    fd = os.open(f"half.{RANK}", os.O_RDWR | os.O_CREAT, 0o600)
    for _ in range(100):
        os.write(fd, bytes(1000))
    os.pread(fd, 500, 0)
    os.write(1, f"out of {RANK}\n".encode())
    os.write(2, f"err of {RANK}\n".encode())
    meet("come")
    time.sleep(0.1 if SIZE > 1 else 0)


def run_self(ending):
    os.execv(sys.executable, [sys.executable, "-S", __file__, ending])


def stopped():
    parent = os.getpid()
    if os.fork() == 0:
        detach()
        while ") T " not in open(f"/proc/{parent}/stat").read():
            time.sleep(0.01)
        os.kill(parent, signal.SIGKILL)
        os._exit(0)
    os.kill(parent, signal.SIGSTOP)
    while True:
        time.sleep(1)


def leave_child(forever=False, twice=False):
    pid = os.fork()
    if pid == 0:
        detach()
        if twice:
            os.setsid()
            if os.fork():
                os._exit(0)
        put("ZOO_PIDS", str(os.getpid()), str(os.getpid()))
        add(f"ready.{RANK}", 1)
        while forever:
            time.sleep(60)
        time.sleep(0.3)
        add("late", 1000)
        os._exit(0)
    if twice:
        os.waitpid(pid, 0)
    while not os.path.exists(f"ready.{RANK}"):
        time.sleep(0.01)


def frozen():
    pid = os.fork()
    if pid == 0:
        detach()
        put("ZOO_PIDS", str(os.getpid()), str(os.getpid()))
        while True:
            time.sleep(60)
    while not os.path.exists(f"{os.environ['ZOO_PIDS']}/{pid}"):
        time.sleep(0.01)
    put("ZOO_CGROUP", "cgroup.procs", str(pid))
    put("ZOO_CGROUP", "cgroup.freeze", "1")
    while "frozen 1" not in open(os.environ["ZOO_CGROUP"] + "/cgroup.events").read():
        time.sleep(0.01)


def deep(level):
    add("deep", 1000)
    if level == 0:
        return 13
    pid = os.fork()
    if pid == 0:
        os._exit(deep(level - 1))
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def no_memory():
    with open("/proc/self/statm") as f:
        most = int(f.read().split()[0]) * resource.getpagesize() + (64 << 20)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    try:
        return len(bytearray(1 << 30)) and 98
    except MemoryError:
        print("no memory", file=sys.stderr)
        return 9


def no_descriptors():
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
    try:
        for _ in range(100):
            os.open("/dev/null", os.O_RDONLY)
    except OSError as e:
        print(e, file=sys.stderr)
        return 10
    return 98


def too_big():
    fd = os.open("big", os.O_WRONLY | os.O_CREAT, 0o600)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200000, 200000))
    try:
        for _ in range(8):
            os.write(fd, bytes(65536))
    except OSError as e:
        print(e, file=sys.stderr)
        return 14
    return 98


def eat():
    put("ZOO_CGROUP", "cgroup.procs", str(os.getpid()))
    held = []
    while True:
        held.append(b"x" * (1 << 20))


def closed():
    os.close(1)
    os.close(2)
    try:
        os.write(1, b"x")
    except OSError:
        os._exit(3)
    os._exit(98)


def thread_exec():
    threading.Thread(target=run_self, args=("after",)).start()
    while True:
        time.sleep(1)


def one_killed():
    if SIZE > 1:
        if RANK == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(60)
    pid = os.fork()
    if pid == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return 12 if os.WIFSIGNALED(os.waitpid(pid, 0)[1]) else 98


ENDINGS = {
    "exit0": lambda: 0,
    "no_finalize": lambda: 0,
    "exit7": lambda: 7,
    "_exit": lambda: os._exit(5),
    "raw": lambda: ctypes.CDLL(None).syscall(231, 6),
    "abort": os.abort,
    "segv": lambda: ctypes.string_at(8),
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "term": lambda: os.kill(os.getpid(), signal.SIGTERM),
    "stopped": stopped,
    "timeout": lambda: os.execvp("timeout", ["timeout", "-s", "KILL", "0.3", "sleep", "60"]),
    "oom": eat,
    "as": no_memory,
    "nofile": no_descriptors,
    "fsize": too_big,
    "grandchild": leave_child,
    "daemon": lambda: leave_child(twice=True),
    "forever": lambda: leave_child(forever=True),
    "frozen": frozen,
    "closed": closed,
    "thread_exec": thread_exec,
    "deep": lambda: deep(12),
    "one_killed": one_killed,
}

if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.argv[1] == "after":
        add("after", 1000)
        meet("after_come")
        sys.exit(11)
    begin()
    sys.exit(ENDINGS[sys.argv[1]]())
