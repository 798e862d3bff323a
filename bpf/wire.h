/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Layouts that the BPF programs share with the daemon: structures, enumerations and constants only. Any change
 * needs a new SCRIBE_WIRE_VERSION.
 */
#ifndef BPF_WIRE_H
#define BPF_WIRE_H

#include "logfmt/counters/ledger_list.h"
#include "logfmt/rules/cache_counts.h"
#include "logfmt/rules/heat_rules.h"
#include "logfmt/rules/posix_shard.h"

#ifndef SCRIBE_WIRE_VERSION /* a test defines another */
#define SCRIBE_WIRE_VERSION 12
#endif
#define SCRIBE_JOBS_MAX         256u
#define SCRIBE_JOB_ORPHANED     (SCRIBE_JOBS_MAX - 1) /* of processes that outlive their job */
#define SCRIBE_SLOTS_CHUNK      4096u                 /* slots added at a time */
#define SCRIBE_TABLES_CHUNK     2048u
#define SCRIBE_TABLE_CHUNKS_MAX 256u
#define SCRIBE_SEGS_CHUNK       512u
#define SCRIBE_SEG_CHUNKS_MAX   16u
#define SCRIBE_HEATS_CHUNK      512u
#define SCRIBE_HEAT_CHUNKS_MAX  32u    /* 50 MiB */
#define SCRIBE_FLIGHTS          8192u  /* preallocated */
#define SCRIBE_FLIGHTS_MORE     65536u /* further ones, allocated on demand */

#define SCRIBE_NO_SLOT      0u          /* never used */
#define SCRIBE_SKIP_SLOT    0xffffffffu /* cached: do not record this file */
#define SCRIBE_LINK_PENDING 0xfffffffeu /* slot->next between push and link */

/* One file (or path) of one process, or an extra shard. 1088 bytes. */
enum scribe_slot_state {
	SCRIBE_SLOT_FREE = 0,
	SCRIBE_SLOT_LIVE = 1,
	SCRIBE_SLOT_RETIRED = 2,   /* the daemon is copying it; writers must look up again */
	SCRIBE_SLOT_ABANDONED = 3, /* lost an insert race; empty, freed with its process */
};

enum scribe_slot_kind {
	SCRIBE_KIND_FILE = 1,     /* found through a struct file */
	SCRIBE_KIND_PATH = 2,     /* found through directory + string, never opened */
	SCRIBE_KIND_CATCHALL = 3, /* overflow record */
	SCRIBE_KIND_SHARD = 4,    /* only in shards[] of another slot */
	/* `ext` holds the module's counters (logfmt/rules/lib_rules.h) */
	SCRIBE_KIND_STDIO = 5,
	SCRIBE_KIND_MPIIO = 6,
	SCRIBE_KIND_H5F = 7,
	SCRIBE_KIND_H5D = 8,
	SCRIBE_KIND_NC_FILE = 9,
	SCRIBE_KIND_NC_VAR = 10,
	SCRIBE_KIND_CUFILE = 11,
};

enum scribe_slot_flags {
	SCRIBE_SF_NAME_SENT = 1u << 0,       /* the name is in the event ring */
	SCRIBE_SF_EXCLUDED = 1u << 1,        /* set by the daemon */
	SCRIBE_SF_DIRECTORY = 1u << 2,       /* not a regular file: the POSIX shard stays empty */
	SCRIBE_SF_UNLINKED = 1u << 3,        /* already unlinked when first seen */
	SCRIBE_SF_FOLDER_EXCLUDED = 1u << 4, /* so is its whole directory, which no user can rename */
	SCRIBE_SF_FROM_RESERVE = 1u << 5,    /* taken from the job's reserve */
	SCRIBE_SF_CALLS = 1u << 6,           /* the program counts this stream itself (logfmt/rules/streams.h) */
	SCRIBE_SF_TRACED = 1u << 7,          /* reads and writes make segments */
	SCRIBE_SF_OPENS = 1u << 8,           /* opens and closes too; all calls of libraries */
	SCRIBE_SF_FAULTS_LOST = 1u << 9,     /* page faults of a mapping could not be counted */
};

#define SCRIBE_TRACED_KINDS (1u << SCRIBE_KIND_FILE | 1u << SCRIBE_KIND_CATCHALL | 1u << SCRIBE_KIND_MPIIO)
#define SCRIBE_OPENS_KINDS \
	(SCRIBE_TRACED_KINDS | 1u << SCRIBE_KIND_H5F | 1u << SCRIBE_KIND_H5D | 1u << SCRIBE_KIND_NC_FILE | \
	 1u << SCRIBE_KIND_NC_VAR | 1u << SCRIBE_KIND_STDIO)

#define SCRIBE_EXTRA_SHARDS 3 /* shards[0..1] are locked, shards[2] is atomic only */

/* A new record is cold memory: a creating open and a close touch the first and fourth 128 bytes only. */
struct scribe_slot {
	/* 0: written once, before the slot can be found */
	scribe_u32 state; /* enum scribe_slot_state */
	scribe_u32 kind;  /* enum scribe_slot_kind */
	scribe_u32 proc;
	scribe_u32 proc_id;
	scribe_u32 next;                        /* next slot of the process; 0 ends, SCRIBE_LINK_PENDING: retry */
	scribe_u32 generation;                  /* of this use of the slot */
	scribe_u32 flags;                       /* enum scribe_slot_flags */
	scribe_u32 shards[SCRIBE_EXTRA_SHARDS]; /* 0 none */
	scribe_u32 align;                       /* the file system's block size */
	scribe_u32 mode;                        /* of the last open that had one, else 0 */
	scribe_u64 ino;
	scribe_u64 hash; /* of the dentry chain, or of directory + string */
	/* 64 */
	struct scribe_cursor cursor __attribute__((aligned(64)));
	scribe_u32 dev;          /* major << 20 | minor */
	scribe_u32 renamed_from; /* slot of the first rename's source */
	scribe_u32 renamed_from_generation;
	scribe_u32 calls_of; /* low half of exec_ns when SCRIBE_SF_CALLS was set */
	scribe_u64 cache_often[SCRIBE_CACHE_OFTEN];
	struct scribe_heat heat;
	/* 200: with CREATES, CLOSES and CLOSE_NS on the shard's first lines */
	struct scribe_ext_shard ext;
	struct scribe_posix_shard shard;
	scribe_u64 cache_seldom[SCRIBE_CACHE_ALL - SCRIBE_CACHE_OFTEN];
} __attribute__((aligned(64)));

enum scribe_proc_flags {
	SCRIBE_PF_DISABLED = 1u << 0, /* set by the daemon */
	SCRIBE_PF_EXITED = 1u << 1,
	SCRIBE_PF_EXECED = 1u << 2,
	SCRIBE_PF_OVERFLOWED = 1u << 3,
	SCRIBE_PF_HIDDEN = 1u << 4, /* nothing of it is shown (bpf/kern/enroll.bpf.h) */
	SCRIBE_PF_STREAMS = 1u << 8,
	SCRIBE_PF_JOINED = 1u << 5,      /* at exec, by environment or cgroup */
	SCRIBE_PF_COUNTED = 1u << 6,     /* its records are in the job's sums */
	SCRIBE_PF_URING = 1u << 9,       /* kernel threads use its descriptors too */
	SCRIBE_PF_SHARES_FDS = 1u << 10, /* clone(CLONE_FILES) */
	SCRIBE_PF_PASSED = 1u << 11,     /* io_uring commands to a device, past its files */
	SCRIBE_PF_LATE = 1u << 7,        /* enrolled before programs were attached to system calls */
};
#define SCRIBE_PF_NOT_RECORDED (SCRIBE_PF_DISABLED | SCRIBE_PF_HIDDEN)

struct scribe_proc {
	scribe_u32 proc_id;       /* never reused by a daemon; 0: free */
	scribe_u32 parent_serial; /* 0: enrolled directly */
	scribe_u32 job;
	scribe_u32 tgid;        /* in the initial pid namespace */
	scribe_u32 flags;       /* enum scribe_proc_flags */
	scribe_u32 threads;     /* enrolled */
	scribe_u32 open_gen;    /* validates per-thread caches */
	scribe_u32 ignored_tid; /* thread with I/O of ioscribe itself, set by the daemon */
	scribe_u32 head;        /* of its list of slots */
	scribe_u32 pad0;
	scribe_u32 catchall;  /* slot */
	scribe_s32 exit_code; /* wait status: code << 8 | signal */
	scribe_u64 start_ns;  /* CLOCK_MONOTONIC */
	scribe_u64 exec_ns;
	scribe_u64 exit_ns;
	scribe_u32 uid;
	scribe_u32 overflowed; /* files in the catch-all */
	scribe_u32 mem_align;
	scribe_u32 aio_open; /* libaio: submitted, not seen to complete */
	scribe_u32 uring_open;
	scribe_u32 mapped_gen; /* mappings of files so far */
	char comm[16];
	scribe_u64 heat_base_ns; /* first bin; 0: start_ns */
	scribe_u64 cpu_ns;       /* processor time of its threads, not the current blocks' (bpf/kern/cost.bpf.h) */
	/* of our programs, without calls not yet added; and the system calls among these */
	scribe_u64 cost_ns, cost_calls;
} __attribute__((aligned(64)));

/* Processes that join at exec. */
enum scribe_job_match {
	SCRIBE_MATCH_NONE = 0,   /* only those enrolled by process id, and descendants */
	SCRIBE_MATCH_CGROUP = 1, /* in cgroup v2 `cgroup` or below */
	SCRIBE_MATCH_ENV = 2,    /* of user `uid`, with `variable` in the environment */
};

enum scribe_job_flags {
	SCRIBE_JF_OPT_OUT = 1u << 0, /* not only with IOSCRIBE_ENABLE=1 */
	SCRIBE_JF_SHOW_PRIVILEGED = 1u << 1,
	SCRIBE_JF_SEGMENTS = 1u << 2, /* new records are SCRIBE_SF_TRACED */
	SCRIBE_JF_OPENS = 1u << 3,    /* and SCRIBE_SF_OPENS */
};

#define SCRIBE_VARIABLE_MAX 160u

struct scribe_job_entry {
	scribe_u32 active;
	scribe_u32 quota;            /* slots, catch-alls and shards apart */
	scribe_u32 used;             /* kept by the kernel and the drain */
	scribe_u32 mem_align;        /* 0: not counted; copied to new processes */
	scribe_u32 all_types;        /* 1: not only regular files */
	scribe_u32 notify_exec_mmap; /* 1: send SCRIBE_EV_MAP */
	scribe_u32 match;            /* enum scribe_job_match */
	scribe_u32 flags;            /* enum scribe_job_flags */
	scribe_u32 uid;
	scribe_u32 ancestor_pid;   /* ENV: only below this one (initial pid namespace) */
	scribe_u64 ancestor_ticks; /* field 22 of its /proc/PID/stat; 0: not compared */
	scribe_u64 cgroup;         /* CGROUP: inode number of its directory */
	scribe_u32 reserve;        /* catch-alls and shards it may take when the pool is used up; 0: 1/64 of the
				      pool */
	scribe_u32 kept;
	scribe_u32 proc_quota; /* at once; 0: no limit */
	scribe_u32 proc_used;
	scribe_u32 variable_bytes;
	scribe_u32 links;                   /* changes of symbolic links: invalidates cached strings */
	char variable[SCRIBE_VARIABLE_MAX]; /* ENV: "NAME=VALUE" */
	scribe_u64 recorded;                /* operations */
	scribe_u64 overflowed;
	scribe_u64 segments;
	scribe_u32 files;  /* records for reads and writes so far */
	scribe_u32 linked; /* 1: a symbolic link was made: send SCRIBE_EV_LINK */
} __attribute__((aligned(64)));

/*
 * A thread appends to its own segment buffer; `n` are complete. Full buffers and those of exited threads go to
 * ctl->segbufs, from where the daemon frees them. It may read a running thread's.
 */
enum scribe_segment_op {
	SCRIBE_SEGMENT_READ = 0,
	SCRIBE_SEGMENT_WRITE = 1,
	/* with SCRIBE_SF_OPENS */
	SCRIBE_SEGMENT_OPEN = 2,
	SCRIBE_SEGMENT_CLOSE = 3,
	SCRIBE_SEGMENT_LIB_READ = 4, /* HDF5, PnetCDF, streams */
	SCRIBE_SEGMENT_LIB_WRITE = 5,
	SCRIBE_SEGMENT_FLUSH = 6, /* HDF5, streams */
};

struct scribe_segment {
	scribe_s64 offset;
	scribe_u64 bytes;
	scribe_u64 start_ns, end_ns; /* CLOCK_MONOTONIC */
	scribe_u32 slot, generation;
	scribe_u32 op;   /* enum scribe_segment_op */
	scribe_u32 also; /* LIB_READ, LIB_WRITE: second counter increased, 0 none */
};

enum scribe_segbuf_state {
	SCRIBE_SEGBUF_FREE = 0,
	SCRIBE_SEGBUF_OPEN = 1,
	SCRIBE_SEGBUF_LEFT = 2, /* on the list, about to be, or being copied */
	SCRIBE_SEGBUF_READ = 3, /* open and being read: must not be copied */
};

#define SCRIBE_SEGBUF_SEGMENTS 84

struct scribe_segbuf {
	scribe_u32 state; /* enum scribe_segbuf_state */
	scribe_u32 n;
	scribe_u32 taken; /* of them, by the daemon */
	scribe_u32 next;  /* on the list, 0 ends */
	scribe_u32 proc;  /* 0: of several processes */
	scribe_u32 proc_id;
	scribe_u32 job;
	scribe_u32 tid;    /* in the initial pid namespace */
	scribe_u64 thread; /* pthread_self(); 0: not known */
	scribe_u32 pad[6];
	struct scribe_segment at[SCRIBE_SEGBUF_SEGMENTS];
} __attribute__((aligned(64)));

/* Key: uid, or cgroup with SCRIBE_WATCH_CGROUP. */
#define SCRIBE_WATCH_CGROUP (1ull << 63)
struct scribe_match_entry {
	scribe_u32 n;
	scribe_u32 job[SCRIBE_JOBS_MAX];
};

struct scribe_ring_ctl {
	scribe_u32 head; /* kernel, by compare and swap */
	scribe_u32 pad0[15];
	scribe_u32 tail;    /* daemon */
	scribe_u32 reserve; /* kept for catch-alls and shards */
	scribe_u32 low;     /* wakes the grower; 0: cannot grow */
	scribe_u32 pad1[13];
} __attribute__((aligned(64)));

struct scribe_ctl {
	scribe_u32 wire_version; /* first in every version */
	scribe_u32 next_serial;
	scribe_u32 watching; /* jobs that can be joined */
	scribe_u32 watching_cgroups;
	scribe_u32 level;       /* enum scribe_bpf_level */
	scribe_u32 tables_most; /* limit */
	scribe_u32 slots_most;
	scribe_u32 whole;   /* slots are not added later */
	scribe_u32 calls;   /* 1: attached to system calls */
	scribe_u32 asleep;  /* 1: wake it; cleared by the waker */
	scribe_u32 cache;   /* bits 1 << enum scribe_cache_id, times after them: what this kernel shows */
	scribe_u32 call_ns; /* what a system call costs more when programs that do nothing are attached */
	scribe_u32 pad[4];
	struct scribe_ring_ctl slots;
	struct scribe_ring_ctl procs;
	struct scribe_ring_ctl tables;
	struct scribe_ring_ctl segs;
	struct scribe_ring_ctl heats;
	scribe_u32 segbufs;    /* latest first */
	scribe_u32 segs_ahead; /* to keep free; 0: no segments */
	scribe_u64 env_sent;   /* bytes put into the ring */
	scribe_u64 env_taken;  /* bytes consumed by the daemon */
	scribe_u32 pad1[10];
} __attribute__((aligned(64)));

enum scribe_ledger_id {
#define SCRIBE_X(name, meaning, text) SCRIBE_L_##name,
	SCRIBE_LEDGER(SCRIBE_X)
#undef SCRIBE_X
	/* stored as doubles: the log's integers are used up */
	SCRIBE_L_LATE_PROCS,
	SCRIBE_L_LATE_CALLS,
	SCRIBE_L_LATE_BYTES, /* not in the log */
	SCRIBE_L_COUNT
};

struct scribe_ledger {
	scribe_u64 v[SCRIBE_L_COUNT];
};

/* The ring holds the names of all slots undrained: bytes per name, and for all other events. */
#define SCRIBE_RING_NAME   256u
#define SCRIBE_RING_OTHERS (4u << 20)
/* Users choose this size: a limit on their part of the ring. */
#define SCRIBE_RING_ENV        (4u << 20)
#define SCRIBE_NAME_MAX_BYTES  4096u
#define SCRIBE_ARGS_MAX_BYTES  4096u
#define SCRIBE_ENV_CHUNK_BYTES 4096u
#define SCRIBE_LIBRARY_NAME    128 /* with NUL; longer ones are cut */

enum scribe_event_type {
	SCRIBE_EV_NAME = 1,
	SCRIBE_EV_FORK = 2,
	SCRIBE_EV_EXEC = 3, /* text: argv, each with NUL */
	SCRIBE_EV_ENV = 4,  /* text: a piece, in order after EXEC */
	SCRIBE_EV_EXIT = 5,
	SCRIBE_EV_LINK = 6, /* text: target of a new link */
	SCRIBE_EV_MAP = 7,  /* an executable mapping; text: last component */
	SCRIBE_EV_JOIN = 8, /* EXEC and ENV follow */
	SCRIBE_EV_STREAM = 9,
	SCRIBE_EV_SEGMENTS = 10, /* segments are waiting; without content */
	/* Held by the daemon, never in the ring: EXEC and ENV were lost and are read from /proc. */
	SCRIBE_EV_EXEC_AGAIN = 11,
	SCRIBE_EV_ENV_AGAIN = 12,
};

enum scribe_link_change {
	SCRIBE_LINK_MADE = 1,
	SCRIBE_LINK_REMOVED = 2, /* if it was one */
	SCRIBE_LINK_MOVED = 3,
	SCRIBE_LINK_SWAPPED = 4, /* RENAME_EXCHANGE */
	SCRIBE_LINK_KNOWN = 8,   /* bit: strings have new records */
};

enum scribe_exec_flags {
	SCRIBE_XF_CUT = 1u << 0,
	SCRIBE_XF_HIDDEN = 1u << 1, /* no arguments, no ENV */
};

enum scribe_name_flags {
	SCRIBE_NF_CUT = 1u << 0,      /* too long or too deep */
	SCRIBE_NF_NOFOLLOW = 1u << 1, /* of the last component */
	SCRIBE_NF_UNLINKED = 1u << 2,
	SCRIBE_NF_STRING = 1u << 3,   /* string_bytes follow the chain */
	SCRIBE_NF_DETACHED = 1u << 4, /* not below the process's root */
	SCRIBE_NF_WANTED = 1u << 8,   /* wakes the daemon */
	SCRIBE_NF_BELOW = 1u << 7,    /* an object in a file: its name, ":", the string */
};

/* FILE *, MPI_File, H5D_t *, hid, ncid. The daemon removes those of ended processes. */
struct scribe_handle_key {
	scribe_u64 handle;
	scribe_u32 proc_id;
	scribe_u32 layer; /* enum scribe_layer; above it the kind of handle */
};

/*
 * The text is the dentry chain, last component first, joined by '/', up to the process's root ("f/dir/home" for
 * /home/dir/f, 0 bytes for the root); with SCRIBE_NF_STRING the chain of the starting directory, then the program's
 * string, of which the last suffix_bytes are appended after the path is resolved.
 */
struct scribe_ev_name {
	scribe_u32 slot, generation;
	scribe_u32 flags; /* enum scribe_name_flags */
	scribe_u32 chain_bytes, string_bytes, suffix_bytes;
	scribe_u32 below_slot, below_generation; /* SCRIBE_NF_BELOW: the file's record */
};

/* A call changed a path, possibly a symbolic link. */
struct scribe_ev_link {
	scribe_u32 slot, generation;               /* the path's record */
	scribe_u32 source_slot, source_generation; /* of a rename */
	scribe_u32 change;                         /* enum scribe_link_change */
};

struct scribe_ev_map {
	scribe_u64 inode;
	scribe_u32 device; /* the kernel's form: major << 20 | minor */
};

/* The program counts a stream or MPI-IO file itself from now on. */
struct scribe_ev_stream {
	scribe_u32 slot, generation;
	scribe_u32 memory, index;
	scribe_u32 use;     /* generation of the index */
	scribe_u32 is_file; /* an MPI-IO file, 0: a stream */
};

struct scribe_event {
	scribe_u32 type; /* enum scribe_event_type */
	scribe_u32 text_bytes;
	scribe_u32 proc_id;
	scribe_u32 proc;
	scribe_u64 when_ns; /* CLOCK_MONOTONIC; 0 for NAME */
	scribe_u32 tgid;
	scribe_u32 pad;
	union {
		struct scribe_ev_name name;
		struct scribe_ev_link link;
		struct scribe_ev_map map;
		struct scribe_ev_stream stream;
		struct {
			scribe_u32 parent; /* its proc_id */
		} fork;
		struct {
			scribe_u32 job;
		} join;
		struct {
			scribe_u32 flags; /* enum scribe_exec_flags */
		} exec;
		struct {
			scribe_u32 last; /* 1: the last piece */
		} env;
		struct {
			scribe_s32 status; /* wait status */
		} exit;
		struct {
			scribe_u32 at; /* byte of the environment */
		} again;
	};
};

#endif
