# SPDX-License-Identifier: BSD-3-Clause
"""Spack recipe: put this folder's parent into a repository as packages/ioscribe/package.py."""
from spack.package import *


class Ioscribe(CMakePackage):
    """Records the file I/O of HPC jobs by eBPF, as logs that Darshan's tools read."""

    homepage = "https://github.com/ioscribe/ioscribe"
    git = "https://github.com/ioscribe/ioscribe.git"
    license("BSD-3-Clause")

    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")

    variant("daemon", default=True, description="Build what traces, not the log tools alone")
    variant("slurm", default=False, when="+daemon", description="Build Slurm's plugin")

    variant("postgresql", default=False, description="Stores of operations in PostgreSQL, too")

    depends_on("c", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("zlib-api")
    depends_on("bzip2")
    depends_on("libdeflate")
    depends_on("zstd")
    depends_on("sqlite")
    depends_on("yajl")
    depends_on("uthash", type="build")
    with when("+daemon"):
        depends_on("llvm@14: targets=bpf", type="build")
        depends_on("bpftool", type="build")
        depends_on("libbpf@1.1:")
        depends_on("elfutils")
        depends_on("libcap-ng")
        depends_on("libseccomp")
        depends_on("ncurses")
        depends_on("zydis@4:")
    depends_on("slurm", when="+slurm")
    depends_on("postgresql", when="+postgresql")

    def cmake_args(self):
        args = [
            self.define("IOSCRIBE_TESTS", False),
            self.define("IOSCRIBE_TOOLS_ONLY", not self.spec.satisfies("+daemon")),
            self.define("IOSCRIBE_SERVE", False),
            self.define_from_variant("IOSCRIBE_POSTGRESQL", "postgresql"),
        ]
        if self.spec.satisfies("+slurm"):
            args.append(self.define("SLURM_SPANK_DIR", self.spec["slurm"].prefix.include))
        return args
