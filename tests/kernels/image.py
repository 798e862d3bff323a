# SPDX-License-Identifier: BSD-3-Clause
"""The guest's root file system: our installed build, test programs, the libraries
that they need, busybox; as a cpio archive that the kernel unpacks at its start."""

import glob
import os
import re
import shutil
import stat
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
# Programs of this machine that go along.
MAY_LACK = ["bpftool"]  # in a sysroot
TOOLS = ["bash", "bpftool", "mpiexec.hydra", "hydra_pmi_proxy", "setpriv"]
# Folders of a build with test programs, and where they stand in the guest.
PROGRAMS = [
    ("tests/prog/*", "tests/prog"),
    ("tests/mpi/mpich/*", "tests/mpi"),
    ("tests/uprobes/*_fortified", "tests/uprobes"),
    ("tests/uprobes/mpich/*", "tests/uprobes"),
    ("tests/kernels/kernels_*", "tests/kernels"),
    ("tests/kernels/word32", "tests/kernels"),
    ("tests/oracle/random_ops", "tests/oracle"),
]
FOLDERS = "dev proc sys tmp run root data etc usr/bin usr/sbin usr/lib var/log var/spool var/tmp results"
USERS = [("root", 0), ("daemon", 1), ("user", 1000), ("nobody", 65534)]


class ImageError(Exception):
    """What is missing to make the image."""


def _is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def _needs(path):
    """(names of the shared libraries that an ELF file needs, where it looks first, its loader)."""
    # lines as in "(NEEDED) Shared library: [libc.so.6]", "(RUNPATH) Library runpath: [/usr/lib/x]"
    text = subprocess.run(["readelf", "-W", "-d", "-l", path], capture_output=True, text=True).stdout
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", text)
    paths = [entry for group in re.findall(r"\(R(?:UN)?PATH\).*\[(.*)\]", text) for entry in group.split(":")]
    loader = re.findall(r"program interpreter: (.*)\]", text)
    return needed, paths, loader


def _folders(sysroot):
    """Where the dynamic linker of a Debian looks, by its settings."""
    found = []
    for path in sorted(glob.glob(f"{sysroot}/etc/ld.so.conf.d/*.conf")):
        with open(path, encoding="utf-8") as file:
            found += [line.strip() for line in file if line.startswith("/")]
    found += [folder[len(sysroot):] for folder in glob.glob(f"{sysroot}/lib/*-linux-gnu")]
    found += [folder[len(sysroot):] for folder in glob.glob(f"{sysroot}/usr/lib/*-linux-gnu")]
    return [*found, "/lib", "/usr/lib", "/lib64"]


def _libraries(paths, sysroot, installed):
    """{path in the guest: file here} of the libraries that programs need, whatever processor they are for."""
    found, waiting, folders = {}, list(paths), _folders(sysroot)
    while waiting:
        path = waiting.pop()
        needed, own, loader = _needs(path)
        for name in [*needed, *loader]:
            places = [name] if name.startswith("/") else [f"{folder}/{name}" for folder in [*own, *folders]]
            place = next((place for place in places if os.path.exists(sysroot + place)), None)
            if place is None and name in installed:
                continue
            if place is None:
                raise ImageError(f"{path} needs {name}, which is not in {sysroot or '/'}")
            if place not in found:
                found[place] = sysroot + place
                waiting.append(found[place])
    return found


def _copy(source, root, target=None):
    path = os.path.join(root, (target or source).lstrip("/"))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    shutil.copy(source, path)
    return path


def _etc(root):
    with open(f"{root}/etc/passwd", "w", encoding="utf-8") as file:
        file.writelines(f"{name}:x:{number}:{number}::/:/bin/sh\n" for name, number in USERS)
    with open(f"{root}/etc/group", "w", encoding="utf-8") as file:
        file.writelines(f"{name}:x:{number}:\n" for name, number in USERS)
    with open(f"{root}/etc/hosts", "w", encoding="utf-8") as file:
        file.write("127.0.0.1 localhost guest\n")
    with open(f"{root}/etc/nsswitch.conf", "w", encoding="utf-8") as file:
        file.write("passwd: files\ngroup: files\nhosts: files\n")


def _tool(name, sysroot):
    if not sysroot:
        return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    places = [f"{sysroot}/{folder}/{name}" for folder in ("usr/bin", "bin", "usr/sbin", "sbin")]
    return next((place for place in places if os.path.exists(place)), None)


def make_root(build, root, sysroot=""):
    """Fill the folder ROOT from the build folder BUILD, whose targets are all made. Of another processor's
    build, SYSROOT is the folder with its Debian: libraries, busybox and tools are taken from there."""
    build = os.path.abspath(build)
    sysroot = os.path.abspath(sysroot) if sysroot else ""
    shutil.rmtree(root, ignore_errors=True)
    for folder in FOLDERS.split():
        os.makedirs(os.path.join(root, folder))
    for link in ("bin", "sbin", "lib", "lib64"):
        os.symlink("usr/lib" if link == "lib64" else f"usr/{link}", os.path.join(root, link))
    done = subprocess.run(["cmake", "--install", build, "--prefix", "/usr"], env={**os.environ, "DESTDIR": root},
                          capture_output=True, text=True)  # fmt: skip
    if done.returncode != 0:
        raise ImageError(f"{build} cannot be installed: {done.stderr.strip()}")
    for folder in ("usr/share", "usr/include", "usr/lib/cmake", "usr/lib/pkgconfig", "usr/lib/ioscribe"):
        shutil.rmtree(os.path.join(root, folder), ignore_errors=True)
    for archive in glob.glob(f"{root}/usr/lib/*.a"):
        os.remove(archive)
    for pattern, target in PROGRAMS:
        for source in glob.glob(os.path.join(build, pattern)):
            if os.path.isfile(source) and _is_elf(source):
                _copy(source, root, f"{target}/{os.path.basename(source)}")
    ours = [os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names]
    ours = [path for path in ours if not os.path.islink(path) and _is_elf(path)]
    prefix = "aarch64-linux-gnu-" if sysroot else ""
    for path in ours:  # debug information is of no use there; symbols are
        subprocess.run([f"{prefix}strip", "--strip-debug", path], check=True)
    for tool in TOOLS:
        source = _tool(tool, sysroot)
        if not source and sysroot and tool in MAY_LACK:
            continue
        if not source:
            raise ImageError(f"no {tool} on this machine: scripts/install-deps")
        ours.append(_copy(source, root, f"usr/bin/{tool}"))
    installed = {os.path.basename(path) for path in ours}
    for place, source in _libraries(ours, sysroot, installed).items():
        _copy(source, root, place)
    _busybox(root, sysroot)
    _etc(root)
    _copy(f"{HERE}/guest/init", root, "init")
    _copy(f"{HERE}/guest/suite", root, "tests/suite")
    _copy(f"{HERE}/guest/ways", root, "tests/ways")
    for path in ["/etc/ld.so.conf", *glob.glob("/etc/ld.so.conf.d/*.conf")]:
        _copy(path, root)
    subprocess.run(["/sbin/ldconfig", "-r", root], check=True)


def _busybox(root, sysroot):
    source, here = _tool("busybox", sysroot), _tool("busybox", "")
    if not source or not here:
        raise ImageError(f"no busybox in {sysroot or 'this machine'}: scripts/install-deps")
    _copy(source, root, "usr/bin/busybox")
    # What this machine's says is in it: another processor's of the same Debian has the same.
    for name in subprocess.run([here, "--list"], capture_output=True, text=True, check=True).stdout.split():
        path = os.path.join(root, "usr/bin", name)
        if not os.path.lexists(path):
            os.symlink("busybox", path)


def _entry(name, mode, size=0, links=1, device=(0, 0), mtime=0):
    """Head of one member of a cpio archive (newc), owned by root."""
    encoded = os.fsencode(name) + b"\0"
    fields = [0, mode, 0, 0, links, mtime, size, 0, 0, *device, len(encoded), 0]
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + encoded
    return head + b"\0" * (-len(head) % 4)


def _member(out, name, path):
    info = os.lstat(path)
    if stat.S_ISLNK(info.st_mode):
        data = os.fsencode(os.readlink(path))
    elif stat.S_ISREG(info.st_mode):
        with open(path, "rb") as file:
            data = file.read()
    elif stat.S_ISDIR(info.st_mode):
        data = b""
    else:
        return  # devices are the guest's own
    out.write(_entry(name, info.st_mode, len(data), mtime=int(info.st_mtime)))
    out.write(data + b"\0" * (-len(data) % 4))


def write_archive(root, path):
    """The files below ROOT as a cpio archive, with the console that the kernel opens for /init."""
    with open(path, "wb") as out:
        for folder, folders, names in os.walk(root):
            for name in sorted(folders + names):
                full = os.path.join(folder, name)
                _member(out, os.path.relpath(full, root), full)
        out.write(_entry("dev/console", stat.S_IFCHR | 0o600, device=(5, 1)))
        out.write(_entry("TRAILER!!!", 0))
        out.write(b"\0" * (-out.tell() % 512))


def add_files(archive, files, path):
    """ARCHIVE and behind it {name: (contents, mode)}, as a file at PATH."""
    shutil.copyfile(archive, path)
    with open(path, "ab") as out:
        made = set()
        for name, (data, mode) in files.items():
            parts = name.split("/")[:-1]
            for depth in range(len(parts)):
                folder = "/".join(parts[: depth + 1])
                if folder not in made:
                    out.write(_entry(folder, stat.S_IFDIR | 0o755, links=2))
                    made.add(folder)
            out.write(_entry(name, stat.S_IFREG | mode, len(data)))
            out.write(data + b"\0" * (-len(data) % 4))
        out.write(_entry("TRAILER!!!", 0))
        out.write(b"\0" * (-out.tell() % 512))
