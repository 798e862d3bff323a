# SPDX-License-Identifier: BSD-3-Clause
"""The log library by cffi: its functions and structures as logfmt/ declares them. Must not know pandas."""
import os

import cffi

try:
    from ioscribe.installed import LIBRARY  # where it stands, seen from here
except ImportError:
    LIBRARY = ""

MAX_MODULES = 64
RECORD_LIMIT = 128 << 20  # the library reads no longer ones

ffi = cffi.FFI()
ffi.cdef("""
struct scribe_err { int code; char text[512]; };
struct scribe_counter { const char *name, *text; int rule; };
struct scribe_module {
    int id; const char *name, *prefix; unsigned version, accepts; size_t record_bytes;
    int ncounters, nfcounters; size_t counters_at, fcounters_at;
    const struct scribe_counter *counters, *fcounters; bool reduces;
};
struct scribe_log_map { uint64_t off, len; };
struct scribe_log_header {
    char version[8]; int64_t magic; uint8_t comp_type, pad[7]; uint64_t partial_flag;
    struct scribe_log_map name_map, mod_map[64]; uint32_t mod_ver[64];
};
struct scribe_log_job {
    int64_t uid, start_time_sec, start_time_nsec, end_time_sec, end_time_nsec, nprocs, jobid;
    char metadata[1024];
};
struct scribe_mount { const char *type, *path; };
struct scribe_name { uint64_t id; const char *bytes; size_t len; };
struct scribe_reader_info {
    unsigned version; bool swapped; int comp_type; uint64_t file_bytes, job_off, job_len, unknown;
};
struct scribe_reader; struct scribe_names;

int scribe_reader_open(const char *, struct scribe_reader **, struct scribe_err *);
struct scribe_reader *scribe_reader_free(struct scribe_reader *);
const struct scribe_reader_info *scribe_reader_info(const struct scribe_reader *);
const struct scribe_log_header *scribe_reader_header(const struct scribe_reader *);
const struct scribe_log_job *scribe_reader_job(const struct scribe_reader *);
const char *scribe_reader_exe(const struct scribe_reader *);
size_t scribe_reader_mounts(const struct scribe_reader *, const struct scribe_mount **);
const struct scribe_err *scribe_reader_error(const struct scribe_reader *);
bool scribe_reader_has(const struct scribe_reader *, int);
int scribe_reader_borrow_record(struct scribe_reader *, int, const void **, size_t *);
void scribe_reader_rewind(struct scribe_reader *, int);
double scribe_reader_runtime(const struct scribe_reader *);
struct scribe_names *scribe_names_new(void);
struct scribe_names *scribe_names_free(struct scribe_names *);
int scribe_names_load(struct scribe_names *, struct scribe_reader *, struct scribe_err *);
size_t scribe_names_count(const struct scribe_names *);
struct scribe_name scribe_names_at(const struct scribe_names *, size_t);
int scribe_name_printable(const char *, size_t);
size_t scribe_name_escape(const char *, size_t, char *, size_t);
const struct scribe_module *scribe_module_by_id(int);
""")


def load():
    """The library: IOSCRIBE_LOG_LIBRARY, the one that was installed with this package, the loader's."""
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), LIBRARY)
    path = os.environ.get("IOSCRIBE_LOG_LIBRARY")
    if not path:
        path = beside if LIBRARY and os.path.exists(beside) else "libioscribe-log.so.1"
    lib = ffi.dlopen(path)
    # a library of other layouts is none of ours
    null = lib.scribe_module_by_id(0)
    if ffi.string(null.name) != b"NULL" or null.record_bytes != 48:
        raise ImportError(f"{path}: not the log library that this package is for")
    return lib


def text(pointer):
    return ffi.string(pointer).decode("utf-8", "backslashreplace")


def name_text(lib, name):
    """A name as the tools print it: bytes that do not print are escaped."""
    if lib.scribe_name_printable(name.bytes, name.len):
        return bytes(ffi.buffer(name.bytes, name.len)).decode("utf-8")
    out = ffi.new("char[]", 4 * name.len + 1)
    lib.scribe_name_escape(name.bytes, name.len, out, len(out))
    return text(out)
