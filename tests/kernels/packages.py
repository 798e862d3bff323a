# SPDX-License-Identifier: BSD-3-Clause
"""Kernel packages of Debian's suites: the newest of each line, fetched by apt.

apt gets a state directory and sources of its own below the cache folder; the
sources are the machine's, with other suites. Nothing is installed.
"""

import contextlib
import fcntl
import functools
import glob
import json
import os
import re
import subprocess
import time

# Suites that offer kernels, the oldest first; sid has what no other suite has yet.
SUITES = ["bullseye", "bookworm", "bookworm-backports", "trixie", "trixie-backports", "sid"]
SECURITY = ["bullseye-security", "bookworm-security", "trixie-security"]
LISTS_AGE_S = 12 * 3600
# Of a package: the image, and where modules of file systems and what they need are.
FOLDERS = "fs lib crypto drivers/block net/sunrpc net/dns_resolver"
KEPT = ["*/vmlinu[xz]*", *(f"*/kernel/{folder}/*" for folder in FOLDERS.split())]


class NoKernel(Exception):
    """A line that no suite offers, or a package that cannot be had."""


def default_cache(build):
    return os.environ.get("IOSCRIBE_KERNELS") or os.path.join(build, "kernels-cache")


def _codename():
    with open("/etc/os-release", encoding="utf-8") as file:
        for line in file:
            if line.startswith("VERSION_CODENAME="):
                return line.split("=", 1)[1].strip().strip('"')
    raise NoKernel("this machine is no Debian: /etc/os-release names no VERSION_CODENAME")


def _stanzas(path):
    """The stanzas of a deb822 file."""
    stanza, last = {}, None
    with open(path, encoding="utf-8") as file:
        for line in [*file, "\n"]:
            if line.startswith("#"):
                continue
            if not line.strip():
                if stanza:
                    yield stanza
                stanza, last = {}, None
            elif line[0].isspace() and last:
                stanza[last] += " " + line.strip()
            else:
                last, value = line.split(":", 1)
                last = last.strip().lower()
                stanza[last] = value.strip()


def _own_sources():
    """(URI, suite, signed-by) of the machine's own binary sources."""
    for path in sorted(glob.glob("/etc/apt/sources.list.d/*.sources")):
        for stanza in _stanzas(path):
            if "deb" in stanza.get("types", "").split() and stanza.get("enabled", "yes") != "no":
                for uri in stanza.get("uris", "").split():
                    for suite in stanza.get("suites", "").split():
                        yield uri, suite, stanza.get("signed-by", "")
    for path in ["/etc/apt/sources.list", *sorted(glob.glob("/etc/apt/sources.list.d/*.list"))]:
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as file:
            for line in file:
                match = re.match(r"deb\s+(?:\[([^]]*)\]\s+)?(\S+)\s+(\S+)\s", line)
                if match:
                    key = re.search(r"signed-by=(\S+)", match.group(1) or "")
                    yield match.group(2), match.group(3), key.group(1) if key else ""


def _sources():
    """Lines of a sources.list: the machine's archives with every suite of ours."""
    codename = _codename()
    lines = []
    for uri, suite, key in _own_sources():
        option = f"[signed-by={key}] " if key.startswith("/") else ""
        if suite == codename:
            lines += [f"deb {option}{uri} {other} main" for other in SUITES]
        elif suite == codename + "-security":
            lines += [f"deb {option}{uri} {other} main" for other in SECURITY]
    if not lines:
        raise NoKernel(f"no source of this machine's apt has the suite {codename}")
    return "\n".join(dict.fromkeys(lines)) + "\n"


def mirror():
    """The archive that this machine takes its own release from."""
    return next(uri for uri, suite, _ in _own_sources() if suite == _codename())


def line_key(line):
    return tuple(int(part) for part in line.split("."))


class Packages:
    """Kernel packages of one architecture (amd64, arm64)."""

    def __init__(self, cache, arch="amd64", offline=False):
        self.cache = os.path.abspath(cache)
        self.arch = arch
        self.offline = offline
        self.state = os.path.join(self.cache, f"apt-{arch}")
        self.options = [
            "-o", f"Dir::State={self.state}/state", "-o", f"Dir::Cache={self.state}/cache",
            "-o", f"Dir::Etc::sourcelist={self.state}/sources.list", "-o", "Dir::Etc::sourceparts=/dev/null",
            "-o", "Dir::State::status=/dev/null", "-o", f"APT::Architecture={arch}",
            "-o", f"APT::Architectures={arch}", "-o", "Acquire::Languages=none",
            "-o", "APT::Sandbox::User=root", "-o", "Acquire::Retries=3"]  # fmt: skip

    def _apt(self, tool, *arguments, cwd=None):
        done = subprocess.run([tool, "-q", *self.options, *arguments], cwd=cwd, capture_output=True, text=True)
        if done.returncode != 0:
            raise NoKernel(f"{tool} {' '.join(arguments)}: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout

    def update(self):
        """Fetch the lists of packages, unless those that are here are fresh; whether that was done."""
        for folder in ("state/lists/partial", "cache/archives/partial"):
            os.makedirs(os.path.join(self.state, folder), exist_ok=True)
        sources, path, stamp = _sources(), f"{self.state}/sources.list", f"{self.state}/updated"
        known = ""
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                known = file.read()
        fresh = os.path.exists(stamp) and time.time() - os.path.getmtime(stamp) < LISTS_AGE_S
        if known == sources and (fresh or self.offline):
            return False
        with open(path, "w", encoding="utf-8") as file:
            file.write(sources)
        self._apt("apt-get", "update")
        with open(stamp, "w", encoding="utf-8"):
            pass
        return True

    @contextlib.contextmanager
    def _alone(self):
        """One process at a time changes the cache."""
        os.makedirs(self.cache, exist_ok=True)
        with open(os.path.join(self.cache, "lock"), "w", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    @functools.cached_property
    def lines(self):
        """{line: (package, version)}: of each line ("6.12") the package with the highest version."""
        known = f"{self.state}/lines.json"
        with self._alone():
            if not self.update() and os.path.exists(known):
                with open(known, encoding="utf-8") as file:
                    return json.load(file)
            lines = self._find_lines()
            with open(known, "w", encoding="utf-8") as file:
                json.dump(lines, file, indent=1)
        return lines

    def _find_lines(self):
        names = self._apt("apt-cache", "pkgnames", "linux-").split()
        pattern = re.compile(rf"linux-(image|binary)-(\d+\.\d+)\.\d.*-cloud-{self.arch}$")
        names = [name for name in names if pattern.match(name)]
        # Where there is a linux-binary package it holds the kernel, and linux-image only depends on it.
        names = [name for name in names if name.replace("-image-", "-binary-", 1) == name or
                 name.replace("-image-", "-binary-", 1) not in names]  # fmt: skip
        best = {}
        # One call for all of them: apt builds its index anew with each.
        shown = self._apt("apt-cache", "show", "--no-all-versions", *names)
        for name, version in re.findall(r"^Package: (\S+)$(?:\n.+)*?\nVersion: (\S+)$", shown, re.M):
            line = pattern.match(name).group(2)
            if line not in best or _newer(version, best[line][1]):
                best[line] = (name, version)
        return {line: best[line] for line in sorted(best, key=line_key)}

    def newest(self, line):
        """(line, package, version): the newest of a line, or of all lines where line is "newest"."""
        if line == "newest":
            line = list(self.lines)[-1]
        if line not in self.lines:
            raise NoKernel(f"no suite offers a kernel {line} for {self.arch}")
        return line, *self.lines[line]

    def fetch(self, name, version):
        """The folder of a package, downloaded and taken apart where that has not been done: its kernel image, and
        modules of file systems."""
        folder = os.path.join(self.cache, "kernels", f"{name}_{version}_{self.arch}")
        with self._alone():
            if not glob.glob(f"{folder}/lib/modules/*"):
                self._download(name, folder)
        return folder

    def _download(self, name, folder):
        debs = os.path.join(self.cache, "debs")
        os.makedirs(debs, exist_ok=True)
        subprocess.run(["rm", "-rf", folder, folder + ".new"], check=True)
        os.makedirs(folder + ".new")
        # linux-binary has no modules
        for part in {name, name.replace("-binary-", "-modules-", 1)}:
            self._apt("apt-get", "download", part, cwd=debs)
            deb = max(glob.glob(f"{debs}/{part}_*.deb"), key=os.path.getmtime)
            with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", deb], stdout=subprocess.PIPE) as tar:
                subprocess.run(["tar", "-x", "-C", folder + ".new", "--wildcards", "--transform", "s,^./usr/lib/,./lib/,",
                                *KEPT], stdin=tar.stdout, stderr=subprocess.DEVNULL)  # fmt: skip; one package lacks some
            os.remove(deb)
        os.rename(folder + ".new", folder)


def image_of(folder):
    images = glob.glob(f"{folder}/**/vmlinu[xz]*", recursive=True)
    if len(images) != 1:
        raise NoKernel(f"{os.path.basename(folder)}: holds {len(images)} kernel images")
    return images[0]


def modules_of(folder, wanted):
    """Contents of kernel modules and of those that they need, in the order in which they are to be loaded. A module
    that the package has not is part of the kernel."""
    version = os.path.basename(glob.glob(f"{folder}/lib/modules/*")[0])
    subprocess.run(["/sbin/depmod", "-b", folder, version], stderr=subprocess.DEVNULL, check=True)
    wanted = [name for name in wanted if glob.glob(f"{folder}/lib/modules/*/kernel/**/{name}.ko*", recursive=True)]
    shown = subprocess.run(["/sbin/modprobe", "-d", folder, "-S", version, "--all", "--show-depends", *wanted],
                           capture_output=True, text=True, check=True).stdout  # fmt: skip
    contents = []
    for path in dict.fromkeys(re.findall(r"^insmod (\S+)", shown, re.M)):
        unpack = ["xz", "-dc"] if path.endswith(".xz") else ["cat"]
        contents.append(subprocess.run([*unpack, path], stdout=subprocess.PIPE, check=True).stdout)
    return contents


def _newer(one, other):
    return subprocess.run(["dpkg", "--compare-versions", one, "gt", other]).returncode == 0
