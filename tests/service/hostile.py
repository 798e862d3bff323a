#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""hostile.py KIND FOLDER SECONDS: what a hostile user does to the service, in a job of the service's.

Runs as that user, with JOBX in its environment; FOLDER is the user's own. Ends by itself.
"""
import fcntl
import os
import random
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time

KIND, FOLDER, SECONDS = sys.argv[1], sys.argv[2], float(sys.argv[3])
END = time.monotonic() + SECONDS


def until_end():
    n = 0
    while time.monotonic() < END:
        yield n
        n += 1


def run(command="echo x >$$.out", **env):
    """A fresh program, which does something small in the job."""
    subprocess.run(["/bin/sh", "-c", command], cwd=FOLDER, env={**os.environ, "IOSCRIBE_ENABLE": "1", **env},
                   stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def elf(symbols, name_bytes):
    """A library whose tables are as large as that."""
    name = b"\0" + b"a" * name_bytes + b"\0"
    table = b"\0" * 24 + struct.pack("<IBBHQQ", 1, 0x12, 0, 1, 0x1000, 16) * symbols
    at = 64 + 56 + 64 * 3
    sections = b"\0" * 64
    sections += struct.pack("<IIQQQQIIQQ", 0, 11, 2, 0, at, len(table), 2, 1, 8, 24)
    sections += struct.pack("<IIQQQQIIQQ", 0, 3, 2, 0, at + len(table), len(name), 0, 0, 1, 0)
    head = b"\x7fELF\2\1\1" + b"\0" * 9
    head += struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 120, 0, 64, 56, 1, 64, 3, 0)
    return head + struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, 0x2000, 0x2000, 4096) + sections + table + name


def write(name, data):
    with open(os.path.join(FOLDER, name), "wb") as f:
        f.write(data)


def program():
    """One that nobody has executed before."""
    for n in until_end():
        path = os.path.join(FOLDER, f"true.{n % 50}")
        subprocess.run(["cp", "/bin/true", path], check=False)
        yield path


def patterns():
    each = ["(.*)(.*)(.*)(.*)\\1\\2\\3\\4[%&][%&]", "((((a{255}){255}){255}){255})", "(" * 16000]
    for n in until_end():
        run(f"for i in 1 2 3; do echo x >{'a' * 240}.$i; done", DARSHAN_NAME_EXCLUDE=each[n % len(each)],
            IOSCRIBE_NAME_EXCLUDE=each[(n + 1) % len(each)])


def cut_short():
    whole = elf(30000, 20000)
    for n, path in enumerate(program()):
        write(f"libmpi.so.{n % 4}", whole)
        if os.fork() == 0:
            for _ in range(50):
                os.truncate(os.path.join(FOLDER, f"libmpi.so.{n % 4}"), 100)
                write(f"libmpi.so.{n % 4}", whole)
            os._exit(0)
        run(path, LD_LIBRARY_PATH=f"{FOLDER}:{FOLDER}/./.")
        os.wait()


def huge():
    write("libmpi.so.12", elf(300000, 200000))
    for n, path in enumerate(program()):
        os.utime(os.path.join(FOLDER, "libmpi.so.12"))
        run(path, LD_LIBRARY_PATH=f"{FOLDER}:" + "./" * (n % 100))


def directories():
    for i in range(500):
        write(f"libmpi.so.{i}", b"")
    for path in program():
        run(path, LD_LIBRARY_PATH=":".join([FOLDER] * 1000))


def pipes():
    for name in ("libmpi.so.12", "libhdf5.so.103"):
        os.mkfifo(os.path.join(FOLDER, name))
    for path in program():
        run(path, LD_LIBRARY_PATH=f"{FOLDER}:{FOLDER}/libmpi.so.12:/proc/self/fd:/dev")


def environment():
    for _ in until_end():
        run(**{f"V{i}": chr(65 + i % 26) * 120000 for i in range(12)})
        run(**{f"IOSCRIBE_{i}": "=" for i in range(20000)})


def hung():
    """Its server is stopped: whoever looks there waits."""
    for _ in until_end():
        child = subprocess.Popen(["/bin/sh", "-c", "echo x >out"], cwd=FOLDER, stdin=subprocess.DEVNULL,
                                 env={**os.environ, "IOSCRIBE_ENABLE": "1", "LD_LIBRARY_PATH": os.environ["HUNG"],
                                      "IOSCRIBE_LOG_DIR": os.environ["HUNG"], "PATH": os.environ["HUNG"]})
        time.sleep(1)
        child.kill()


def looks():
    """Files of a file system that answers programs, but not who asks after their names: never, or late."""
    for _ in until_end():
        run(f"for i in 1 2 3 4 5; do stat -L {os.environ['MINE']}/mine/a {os.environ['MINE']}/slow/a >out; done")


def flood():
    kept = []
    for n in until_end():
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        s.setblocking(False)
        try:
            s.connect(os.environ["SOCKET"])
            s.send(os.urandom(1 + n % 4000) if n % 2 else struct.pack("<III", n % 64, 1, 12))
        except OSError:
            time.sleep(0.001)
        kept.append(s)
        if len(kept) > 400:
            kept.pop(n % 400).close()


def names():
    for n in until_end():
        for i in range(40):
            write(f"\x1b]0;owned\x07\x1b[2J\n%s%n{n}.{i}", b"x")
        run("exec -a \"$(printf '\\033[31mred\\n')\" sleep 0")


def forks():
    for _ in until_end():
        run("for i in 1 2 3 4 5 6 7 8 9 10; do (/bin/true); done; cat /proc/self/maps >maps")


def runs():
    """`ioscribe run` of its own, many at once: settings that are refused, then patterns that take for ever."""
    for n in until_end():
        refused = ["--set", "no_such_key=" + "x" * (1 + n % 300)] if n % 2 else []
        each = [subprocess.Popen([os.environ["IOSCRIBE"], "run", "--quiet", "--log", f"{FOLDER}/{i}.darshan",
                                  "--force", *refused, "--", "/bin/true"],
                                 env={**os.environ, "DARSHAN_NAME_EXCLUDE": "(a|aa)+[%&]" * (1 + n % 3)},
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                for i in range(4)]
        for one in each:
            one.wait()


def late_publishers():
    """Operations of its own job asked for, and never read, or said to be read before they were written."""
    kept = []
    for n in until_end():
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        s.settimeout(1)
        text = f"job_id={os.environ['JOBX']}\n".encode()
        try:
            s.connect(os.environ["SOCKET"])
            s.send(struct.pack("=IHHII", 0x62637369, 1, 80, 0, len(text)) + text)
            for _ in range(20):
                s.send(struct.pack("=IHHII", 0x62637369, 1, 83, 0, 8) + os.urandom(8))
                run()
        except OSError:
            time.sleep(0.1)
        kept.append(s)
        if len(kept) > 8:
            kept.pop(n % 8).close()


def held():
    """Locks and leases on whatever opens, of the service's too, and a folder that is read for ever."""
    folder = os.path.dirname(os.environ["SOCKET"])
    kept = []
    for n in until_end():
        write(f"libmpi.so.{n % 4}", b"x")
        mine = os.open(os.path.join(FOLDER, f"libmpi.so.{n % 4}"), os.O_RDONLY)
        for path in [folder, *(f"{folder}/{name}" for name in ("pid", "log", "state", "attached", "selftest"))]:
            try:
                kept.append(os.open(path, os.O_RDONLY))
                fcntl.flock(kept[-1], fcntl.LOCK_EX)
            except OSError:
                pass
        signal.signal(signal.SIGIO, signal.SIG_IGN)
        fcntl.fcntl(mine, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        run("cat libmpi.so.* >out", LD_LIBRARY_PATH=FOLDER)
        os.close(mine)


def no_place():
    """Logs whose folder goes while the command runs: they are left to the spool."""
    for n in until_end():
        place = os.path.join(FOLDER, f"gone{n}")
        os.mkdir(place)
        subprocess.run([os.environ["IOSCRIBE"], "run", "--quiet", "--log", f"{place}/x.darshan", "--", "rmdir", place],
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def stopped():
    """Each helper of its own user is stopped as it begins."""
    for _ in until_end():
        subprocess.run(["pkill", "-STOP", "-u", str(os.getuid()), "-x", "ioscribe-helper"], check=False)
        run()


FORGES = """
import os, sys
for line in open("/proc/self/maps"):
    if "memfd:ioscribe" in line and " rw" in line:
        at, end = (int(x, 16) for x in line.split()[0].split("-"))
        with open("/proc/self/mem", "r+b", buffering=0) as memory:
            for _ in range(200):
                memory.seek(at + int.from_bytes(os.urandom(4), "little") % (end - at - 8))
                memory.write(b"\\xff" * 7 + b"\\x7f" if os.urandom(1) < b"\\x80" else os.urandom(8))
open("out", "w").write("x")
"""


def forged():
    """The memory in which its programs count their streams, written by them."""
    write("forges.py", FORGES.encode())
    for _ in until_end():
        run("exec python3 forges.py", LD_PRELOAD=os.environ["LIBRARY"], IOSCRIBE_SOCKET=os.environ["SOCKET"])


def long_names():
    """Names of 3.9 KB, of files and of programs, in no encoding."""
    os.chdir(FOLDER)
    for _ in range(14):
        name = bytes(random.choice([*range(1, 47), *range(48, 256)]) for _ in range(250))
        os.mkdir(name)
        os.chdir(name)
    for n in until_end():
        for i in range(200):
            os.close(os.open(f"{n}.{i}", os.O_CREAT | os.O_WRONLY, 0o600))
            os.unlink(f"{n}.{i}")
        shutil.copy("/bin/true", f"true{n % 9}")
        subprocess.run([f"./true{n % 9}"], check=False)


os.environ["IOSCRIBE_ENABLE"] = "1"
{f.__name__: f for f in (patterns, cut_short, huge, directories, pipes, environment, hung, looks, flood, names,
                         forks, runs, late_publishers, held, no_place, stopped, forged, long_names)}[KIND]()
