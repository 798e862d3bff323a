# SPDX-License-Identifier: BSD-3-Clause
"""One log: what it says of the job, and its records. Must not know how frames are made of them."""
from ioscribe import library
from ioscribe.library import ffi


class LogError(Exception):
    """A log cannot be read: `code` is the library's (negative), the text says what and where."""

    def __init__(self, err):
        super().__init__(library.text(err.text))
        self.code = err.code


class Log:
    """An open log. Closed by close(), at the end of a `with` block, or with the object."""

    def __init__(self, path):
        self._reader = ffi.NULL
        self._lib = library.load()
        reader, err = ffi.new("struct scribe_reader **"), ffi.new("struct scribe_err *")
        if self._lib.scribe_reader_open(str(path).encode("utf-8", "surrogateescape"), reader, err) < 0:
            raise LogError(err)
        self._reader = reader[0]
        self._names = None

    def close(self):
        if self._reader:
            self._lib.scribe_reader_free(self._reader)
        self._reader = ffi.NULL

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        self.close()

    def _open(self):
        if not self._reader:
            raise ValueError("the log is closed")
        return self._reader

    def _modules(self):
        for i in range(library.MAX_MODULES):
            module = self._lib.scribe_module_by_id(i)
            if module and self._lib.scribe_reader_has(self._open(), i):
                yield module

    @property
    def version(self):
        """Of the log's format: 3.41 is "3.41"."""
        return "{}.{:02d}".format(*divmod(self._lib.scribe_reader_info(self._open()).version, 100))

    @property
    def job(self):
        """uid, jobid, nprocs, start and end (seconds since 1970), run_time, exe, metadata {key: value}."""
        job = self._lib.scribe_reader_job(self._open())
        lines = library.text(job.metadata).splitlines()
        return {"uid": job.uid, "jobid": job.jobid, "nprocs": job.nprocs,
                "start": job.start_time_sec + job.start_time_nsec / 1e9,
                "end": job.end_time_sec + job.end_time_nsec / 1e9,
                "run_time": self._lib.scribe_reader_runtime(self._reader),
                "exe": library.text(self._lib.scribe_reader_exe(self._reader)),
                "metadata": dict(line.split("=", 1) for line in lines if "=" in line)}

    @property
    def mounts(self):
        """[(path, type)], in the log's order."""
        mounts = ffi.new("const struct scribe_mount **")
        n = self._lib.scribe_reader_mounts(self._open(), mounts)
        return [(library.text(mounts[0][i].path), library.text(mounts[0][i].type)) for i in range(n)]

    @property
    def modules(self):
        """Names of the modules that have records, in the log's order."""
        return [library.text(m.name) for m in self._modules()]

    @property
    def incomplete(self):
        """Those of them whose records are not all there."""
        flags = self._lib.scribe_reader_header(self._open()).partial_flag
        return [library.text(m.name) for m in self._modules() if flags >> m.id & 1]

    @property
    def names(self):
        """{record id: name}. Bytes that do not print are escaped, as the tools do."""
        if self._names is None:
            names, err = self._lib.scribe_names_new(), ffi.new("struct scribe_err *")
            try:
                if self._lib.scribe_names_load(names, self._open(), err) < 0:
                    raise LogError(err)
                found = (self._lib.scribe_names_at(names, i) for i in range(self._lib.scribe_names_count(names)))
                self._names = {n.id: library.name_text(self._lib, n) for n in found}
            finally:
                self._lib.scribe_names_free(names)
        return self._names

    def _module(self, name):
        for module in self._modules():
            if library.text(module.name) == name:
                return module
        raise KeyError(f"no records of {name} in the log")

    def records(self, name):
        """Each record of a module as bytes: logfmt/counters/records.h says what they are."""
        module, record, size = self._module(name), ffi.new("const void **"), ffi.new("size_t *")
        self._lib.scribe_reader_rewind(self._open(), module.id)
        while True:
            got = self._lib.scribe_reader_borrow_record(self._open(), module.id, record, size)
            if got < 0:
                raise LogError(self._lib.scribe_reader_error(self._reader))
            if got == 0:
                return
            yield bytes(ffi.buffer(record[0], size[0]))

    def counters(self, name):
        """{counter: what it counts} of a module, integers first."""
        module = self._module(name)
        both = [(module.counters, module.ncounters), (module.fcounters, module.nfcounters)]
        return {library.text(c[i].name): library.text(c[i].text) for c, n in both for i in range(n)}

    def frame(self, name):
        """The records of a module as a pandas.DataFrame: see docs/log-library.md."""
        from ioscribe import frames  # pandas is not needed before

        return frames.frame(self, self._module(name))

    def frames(self):
        """{module: frame} of all modules."""
        return {name: self.frame(name) for name in self.modules}
