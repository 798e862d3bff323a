# SPDX-License-Identifier: BSD-3-Clause
"""One guest: boots a kernel under emulation, runs a script, brings its results back."""

import os
import re
import signal
import subprocess
import tarfile
import threading
import time

import image

MACHINES = {
    "amd64": (["qemu-system-x86_64", "-M", "q35", "-cpu", "max", "-device", "isa-debug-exit,iobase=0xf4,iosize=4"],
              "ttyS0", ["-serial", "file:{}"]),
    # its board has one serial line
    "arm64": (["qemu-system-aarch64", "-M", "virt", "-cpu", "max"], "ttyAMA0",
              ["-chardev", "file,id=results,path={}", "-device", "pci-serial,chardev=results"]),
}  # fmt: skip
ATTEMPTS = 3
ESCAPES = re.compile(r"\x1b(?:\[[0-9;?=]*[A-Za-z]|c)|\r")
PANIC = re.compile(r"Kernel panic - not syncing.*|Unable to handle kernel.*|Oops: .*")


class GuestError(Exception):
    """The guest gave no result."""


class Result:
    """What a guest left: exit code of the script, its files, what it printed."""

    def __init__(self, folder, console, attempts):
        self.folder = folder
        self.console = console
        self.attempts = attempts
        self.seconds = 0.0
        self.notes = []
        self.code = int(self.read("code"))
        self.kernel = self.read("kernel").strip()
        # "6.1.0-56-cloud-amd64 #1 SMP … Debian 6.1.192-2 (2026-11-16)"
        exact = re.search(r"Debian (\S+)", self.kernel)
        self.version = exact.group(1) if exact else self.kernel.split()[0]

    def read(self, name):
        with open(os.path.join(self.folder, name), encoding="utf-8", errors="replace") as file:
            return file.read()

    def complaints(self):
        """Lines of the kernel's log that no test may cause."""
        pattern = re.compile(r"WARNING:|BUG:|Oops|general protection|use-after-free|refcount_t:|lockdep")
        return [line for line in self.read("dmesg").splitlines() if pattern.search(line)]


class Guest:
    """How guests are started; run() starts one."""

    def __init__(self, base, kernel, work, arch="amd64", smp=1, memory="2G", append="", icount=False, timeout_s=600):
        self.base, self.kernel, self.work = base, kernel, work
        self.arch, self.smp, self.memory = arch, smp, memory
        self.append, self.icount, self.timeout_s = append, icount, timeout_s

    def _command(self, initrd, results):
        machine, console, second = MACHINES[self.arch]
        # One guest processor a thread where there are several; instructions are counted on one.
        accel = "tcg" if self.icount or self.smp == 1 else "tcg,thread=multi"
        command = [*machine, "-accel", accel, "-smp", str(self.smp), "-m", self.memory,
                   "-nographic", "-no-reboot", "-nodefaults", "-serial", "stdio",
                   *(part.format(results) for part in second),
                   "-kernel", self.kernel, "-initrd", initrd,
                   "-append", f"console={console} quiet panic=-1 {self.append}".strip()]  # fmt: skip
        if self.icount:
            command += ["-icount", "shift=0,sleep=off"]
        return command

    def _once(self, script, files, echo):
        """Boot once; (console text, qemu's exit code, whether the time ran out)."""
        os.makedirs(self.work, exist_ok=True)
        initrd, results = f"{self.work}/initrd", f"{self.work}/results.tar.gz"
        contents = {"run.sh": (script.encode(), 0o755), **(files or {})}
        image.add_files(self.base, contents, initrd)
        if os.path.exists(results):
            os.remove(results)
        lines = []
        late = False
        with subprocess.Popen(self._command(initrd, results), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, start_new_session=True) as qemu:  # fmt: skip

            def read():
                for raw in qemu.stdout:
                    line = ESCAPES.sub("", raw.decode(errors="replace")).rstrip()
                    lines.append(line)
                    if echo:
                        print(line, flush=True)

            reader = threading.Thread(target=read)
            reader.start()
            try:
                qemu.wait(self.timeout_s)
            except subprocess.TimeoutExpired:
                late = True
            finally:
                if qemu.poll() is None:
                    os.kill(qemu.pid, signal.SIGKILL)
            reader.join()
        os.remove(initrd)
        return "\n".join(lines), qemu.returncode, late

    def run(self, script, files=None, echo=False):
        """Run a shell script in the guest. A crash of the emulator, and a panic of the emulated kernel that has
        nothing of ours in its trace, are tried again, at most ATTEMPTS times in all."""
        notes = []
        for attempt in range(1, ATTEMPTS + 1):
            begin = time.monotonic()
            console, code, late = self._once(script, files, echo)
            folder = f"{self.work}/results"
            if self._unpack(folder):
                result = Result(folder, console, attempt)
                result.seconds = time.monotonic() - begin
                result.notes = notes
                return result
            with open(f"{self.work}/console", "w", encoding="utf-8") as file:
                file.write(console)
            if late:
                raise GuestError(f"no end after {self.timeout_s} s; the last line: {console.splitlines()[-1:]}")
            if code < 0:
                notes.append(f"attempt {attempt}: qemu ended by signal {-code}")
                continue
            panic = PANIC.search(console)
            if not panic:
                raise GuestError(f"qemu ended with {code} and no results; see {self.work}/console")
            if re.search(r"\bbpf_|bpf_prog_", console[panic.start():]):
                raise GuestError(f"panic below kernel programs: {panic.group(0)}; see {self.work}/console")
            notes.append(f"attempt {attempt}: {panic.group(0)}")
        raise GuestError("; ".join(notes))

    def _unpack(self, folder):
        archive = f"{self.work}/results.tar.gz"
        subprocess.run(["rm", "-rf", folder], check=True)
        if not os.path.exists(archive):
            return False
        try:
            with tarfile.open(archive) as tar:
                tar.extractall(folder, filter="data") if hasattr(tarfile, "data_filter") else tar.extractall(folder)
        except (tarfile.TarError, EOFError, OSError):
            return False
        return os.path.exists(f"{folder}/code")
