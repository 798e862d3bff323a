# SPDX-License-Identifier: BSD-3-Clause
"""Names, inodes, open file descriptions and descriptor tables of the traced run."""
import os
import stat


class Node:
    """A name (hard link) of an inode."""

    def __init__(self, path, inode):
        self.path = path
        self.inode = inode
        self.gone = False


class Inode:
    def __init__(self, kind, size=0, target=None):
        self.kind = kind      # "reg", "dir", "lnk", "other"
        self.size = size
        self.target = target  # of a symbolic link


class Names:
    """The files below one folder, kept up to date by the calls seen."""

    def __init__(self, root):
        self.root = root
        self.nodes = {}
        inodes = {}
        for folder, dirs, files in os.walk(root):
            for name in dirs + files:
                path = os.path.join(folder, name)
                st = os.lstat(path)
                inode = inodes.setdefault((st.st_dev, st.st_ino), None) or self._of(path, st)
                inodes[(st.st_dev, st.st_ino)] = inode
                self.nodes[path] = Node(path, inode)

    @staticmethod
    def _of(path, st):
        if stat.S_ISREG(st.st_mode):
            return Inode("reg", st.st_size)
        if stat.S_ISDIR(st.st_mode):
            return Inode("dir")
        if stat.S_ISLNK(st.st_mode):
            return Inode("lnk", target=os.readlink(path))
        return Inode("other")

    def inside(self, path):
        return path == self.root or path.startswith(self.root + "/")

    def resolve(self, base, text, follow=True, depth=0):
        """Absolute canonical path; symbolic links of the tree are followed."""
        if text is None or depth > 40:
            return None
        path = "/" if text.startswith("/") else base
        parts = [p for p in text.split("/") if p]
        for i, part in enumerate(parts):
            if part == ".":
                continue
            if part == "..":
                path = os.path.dirname(path)
                continue
            here = (path if path != "/" else "") + "/" + part
            node = self.nodes.get(here)
            if node and node.inode.kind == "lnk" and (follow or i + 1 < len(parts)):
                here = self.resolve(path, node.inode.target, True, depth + 1)
                if here is None:
                    return None
            path = here
        return path

    def add(self, path, inode):
        node = self.nodes[path] = Node(path, inode)
        return node

    def remove(self, path):
        node = self.nodes.pop(path, None)
        if node:
            node.gone = True
        return node

    def rename(self, old, new, exchange=False):
        moved = self._take(old)
        other = self._take(new)
        if exchange:
            self._put(other, new, old)
        else:
            for node in other:
                node.gone = True
        self._put(moved, old, new)

    def _take(self, path):
        below = [p for p in self.nodes if p == path or p.startswith(path + "/")]
        return [self.nodes.pop(p) for p in below]

    def _put(self, nodes, old, new):
        for node in nodes:
            node.path = new + node.path[len(old):]
            self.nodes[node.path] = node


class Description:
    """An open file description: what dup and fork share."""

    def __init__(self, node, append=False, path_only=False):
        self.node = node
        self.append = append
        self.path_only = path_only
        self.pos = 0
        self.bound = {}  # process: name under which it first met this one


class Table:
    """A descriptor table, shared by CLONE_FILES."""

    def __init__(self, fds=None, cloexec=None):
        self.fds = dict(fds or {})
        self.cloexec = set(cloexec or ())

    def copy(self):
        return Table(self.fds, self.cloexec)


class Process:
    def __init__(self, serial, table, cwd, maps=None):
        self.serial = serial
        self.table = table
        self.cwd = cwd
        self.maps = list(maps or [])  # (start, end, description)
        self.bound_links = {}
