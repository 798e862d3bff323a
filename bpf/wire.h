/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the kernel side and the daemon share: slots, processes, ledger, events.
 * Structures, enumerations and constants only. Change SCRIBE_WIRE_VERSION with
 * any layout; a daemon never touches maps of another version.
 */
#ifndef BPF_WIRE_H
#define BPF_WIRE_H

#include "logfmt/counters/ledger_list.h"
#include "logfmt/rules/heat_rules.h"
#include "logfmt/rules/posix_shard.h"

#ifndef SCRIBE_WIRE_VERSION /* a test builds another */
#define SCRIBE_WIRE_VERSION 10
#endif
#define SCRIBE_JOBS_MAX 256u
#define SCRIBE_JOB_ORPHANED (SCRIBE_JOBS_MAX - 1) /* what lives on after its job's end belongs to this one */
#define SCRIBE_SLOTS_CHUNK 4096u     /* slots added at a time */
#define SCRIBE_TABLES_CHUNK 2048u    /* value tables added at a time */
#define SCRIBE_TABLE_CHUNKS_MAX 256u
#define SCRIBE_SEGS_CHUNK 512u       /* leaves of segments added at a time */
#define SCRIBE_SEG_CHUNKS_MAX 16u
#define SCRIBE_HEATS_CHUNK 512u      /* tables of bytes over time added at a time */
#define SCRIBE_HEAT_CHUNKS_MAX 32u   /* 50 MiB */
#define SCRIBE_FLIGHTS 8192u         /* asynchronous operations that have room from the start, */
#define SCRIBE_FLIGHTS_MORE 65536u   /* and further ones, as memory can be had */

#define SCRIBE_NO_SLOT 0u            /* slot 0 is never handed out: "no record" */
#define SCRIBE_SKIP_SLOT 0xffffffffu /* cached answer "do not record this file" */
#define SCRIBE_LINK_PENDING 0xfffffffeu   /* slot->next between push and link */

/* One file (or path) of one process, or an extra shard of one. 1024 bytes. */
enum scribe_slot_state {
	SCRIBE_SLOT_FREE = 0,
	SCRIBE_SLOT_LIVE = 1,
	SCRIBE_SLOT_RETIRED = 2,   /* daemon is copying it; writers must look again */
	SCRIBE_SLOT_ABANDONED = 3, /* lost an insert race; empty, freed with its process */
};

enum scribe_slot_kind {
	SCRIBE_KIND_FILE = 1,     /* met through a struct file */
	SCRIBE_KIND_PATH = 2,     /* met through directory + string, never opened */
	SCRIBE_KIND_CATCHALL = 3, /* the process's folded record */
	SCRIBE_KIND_SHARD = 4,    /* extra shard of another slot; on no list, see shards[] */
	/* records of library modules: `ext` holds the module's own counters (logfmt/rules/lib_rules.h) */
	SCRIBE_KIND_STDIO = 5,
	SCRIBE_KIND_MPIIO = 6,
	SCRIBE_KIND_H5F = 7,
	SCRIBE_KIND_H5D = 8,
	SCRIBE_KIND_NC_FILE = 9,
	SCRIBE_KIND_NC_VAR = 10,
};

enum scribe_slot_flags {
	SCRIBE_SF_NAME_SENT = 1u << 0,   /* the daemon has accepted the name */
	SCRIBE_SF_EXCLUDED = 1u << 1,    /* set by the daemon: drop this file */
	SCRIBE_SF_DIRECTORY = 1u << 2,   /* not a regular file: POSIX shard stays empty */
	SCRIBE_SF_UNLINKED = 1u << 3,    /* name was already gone when first met */
	SCRIBE_SF_FOLDER_EXCLUDED = 1u << 4, /* so is all in the folder of its name, and no user can change that */
	SCRIBE_SF_FROM_RESERVE = 1u << 5,        /* out of what is kept for the job */
	SCRIBE_SF_CALLS = 1u << 6,       /* stream whose calls the program counts (logfmt/rules/streams.h) */
	SCRIBE_SF_TRACED = 1u << 7,      /* each read and write leaves a segment, too, */
	SCRIBE_SF_OPENS = 1u << 8,       /* and so does each open and close; of libraries each call that has a record */
};

/* Bits of the kinds of slots that may have SCRIBE_SF_TRACED, and SCRIBE_SF_OPENS. */
#define SCRIBE_TRACED_KINDS (1u << SCRIBE_KIND_FILE | 1u << SCRIBE_KIND_CATCHALL | 1u << SCRIBE_KIND_MPIIO)
#define SCRIBE_OPENS_KINDS                                                                           \
	(SCRIBE_TRACED_KINDS | 1u << SCRIBE_KIND_H5F | 1u << SCRIBE_KIND_H5D | 1u << SCRIBE_KIND_NC_FILE | \
	 1u << SCRIBE_KIND_NC_VAR | 1u << SCRIBE_KIND_STDIO)

#define SCRIBE_EXTRA_SHARDS 3 /* shards[0..1] are locked, shards[2] is atomic only */

/*
 * A new record is cold memory: what an open that creates and a close touch is
 * in the first and the fourth 128 bytes.
 */
struct scribe_slot {
	/* 0: identity; written once before the slot can be found */
	scribe_u32 state;  /* enum scribe_slot_state */
	scribe_u32 kind;   /* enum scribe_slot_kind */
	scribe_u32 proc;   /* index in the process table */
	scribe_u32 proc_id; /* proc_id of that process */
	scribe_u32 next;   /* next slot of the process; 0 ends, SCRIBE_LINK_PENDING: retry */
	scribe_u32 generation;  /* number of this use of the slot: tells reuse apart */
	scribe_u32 flags;  /* enum scribe_slot_flags */
	scribe_u32 shards[SCRIBE_EXTRA_SHARDS]; /* slot indices, 0 none */
	scribe_u32 align;  /* file alignment in bytes: the file system's block size */
	scribe_u32 mode;   /* mode argument of the last open that had one, else 0 */
	scribe_u64 ino;
	scribe_u64 hash;   /* of the name as met (dentry chain, or directory + string) */
	/* 64: the shared cursor */
	struct scribe_cursor cursor __attribute__((aligned(64)));
	scribe_u32 dev;                /* kernel encoding: major << 20 | minor */
	scribe_u32 renamed_from;       /* slot of the first rename's source, 0 none */
	scribe_u32 renamed_from_generation; /* generation of that slot */
	scribe_u32 calls_of;           /* with SCRIBE_SF_CALLS: low half of the process's exec_ns then */
	scribe_u64 spare[2];           /* keeps what follows in its cache lines */
	struct scribe_heat heat;
	/* 200: ends with CREATES, CLOSES and CLOSE_NS on the shard's first lines */
	struct scribe_ext_shard ext;
	struct scribe_posix_shard shard;
} __attribute__((aligned(64)));

/* ---- processes ---- */
enum scribe_proc_flags {
	SCRIBE_PF_DISABLED = 1u << 0, /* set by the daemon: record nothing more */
	SCRIBE_PF_EXITED = 1u << 1,   /* last thread is gone */
	SCRIBE_PF_EXECED = 1u << 2,
	SCRIBE_PF_OVERFLOWED = 1u << 3, /* has a catch-all record */
	SCRIBE_PF_HIDDEN =
		1u << 4, /* has gained privileges: nothing of it is shown (bpf/kern/enroll.bpf.h) */
	SCRIBE_PF_STREAMS = 1u << 8, /* counts its streams itself */
	SCRIBE_PF_JOINED = 1u << 5,  /* enrolled at exec, by its environment or cgroup */
	SCRIBE_PF_COUNTED = 1u << 6, /* the drain has added its records to the job's sums */
	SCRIBE_PF_URING = 1u << 9,   /* has used io_uring: others than its threads use its descriptors */
	SCRIBE_PF_SHARES_FDS =
		1u << 10, /* another process has its table of descriptors, too: clone(CLONE_FILES) */
	SCRIBE_PF_LATE =
		1u << 7, /* began before programs were attached to system calls: some may be missing */
};
#define SCRIBE_PF_NOT_RECORDED (SCRIBE_PF_DISABLED | SCRIBE_PF_HIDDEN) /* nothing is recorded */

struct scribe_proc {
	scribe_u32 proc_id;        /* never reused within a daemon; 0: entry is free */
	scribe_u32 parent_serial; /* 0: enrolled directly */
	scribe_u32 job;           /* index in the job table */
	scribe_u32 tgid;          /* in the initial pid namespace */
	scribe_u32 flags;         /* enum scribe_proc_flags */
	scribe_u32 threads;       /* enrolled threads alive */
	scribe_u32 open_gen;      /* opens so far: validates per-thread caches */
	scribe_u32 ignored_tid;     /* thread whose I/O is ours, 0 none (set by the daemon) */
	scribe_u32 head;          /* first slot of the process's list */
	scribe_u32 pad0;
	scribe_u32 catchall;      /* slot of the folded record, 0 none */
	scribe_s32 exit_code;     /* wait status: code << 8 | signal */
	scribe_u64 start_ns;      /* CLOCK_MONOTONIC */
	scribe_u64 exec_ns;
	scribe_u64 exit_ns;
	scribe_u32 uid;
	scribe_u32 overflowed;        /* files folded into the catch-all */
	scribe_u32 mem_align;     /* of its job */
	scribe_u32 aio_open;      /* libaio operations submitted whose end was not seen */
	scribe_u32 uring_open;    /* and io_uring's */
	scribe_u32 pad;
	char comm[16];
	scribe_u64 heat_base_ns;  /* bins of bytes over time begin here; 0: at start_ns */
} __attribute__((aligned(64)));

/* Which processes of the node join a job when they execute a program. */
enum scribe_job_match {
	SCRIBE_MATCH_NONE = 0,   /* only those enrolled by process id, and their descendants */
	SCRIBE_MATCH_CGROUP = 1, /* of cgroup v2 `cgroup` and those below it */
	SCRIBE_MATCH_ENV = 2,    /* of user `uid` with `variable` in the environment */
};

enum scribe_job_flags {
	SCRIBE_JF_OPT_OUT = 1u << 0,         /* all that match, not only those with IOSCRIBE_ENABLE=1 */
	SCRIBE_JF_SHOW_PRIVILEGED = 1u << 1, /* programs that gain privileges at exec, too */
	SCRIBE_JF_SEGMENTS = 1u << 2,        /* records made from now on are SCRIBE_SF_TRACED, */
	SCRIBE_JF_OPENS = 1u << 3,           /* and SCRIBE_SF_OPENS */
};

#define SCRIBE_VARIABLE_MAX 160u

struct scribe_job_entry {
	scribe_u32 active;
	scribe_u32 quota;        /* slots this job may hold, but for catch-alls and shards */
	scribe_u32 used;         /* of these it holds (kept by the kernel and the drain) */
	scribe_u32 mem_align;    /* bytes; 0 counts none; taken over by processes at their start */
	scribe_u32 all_types;    /* 1: count other than regular files too */
	scribe_u32 notify_exec_mmap;    /* 1: an event for every executable file mapped */
	scribe_u32 match;        /* enum scribe_job_match */
	scribe_u32 flags;        /* enum scribe_job_flags */
	scribe_u32 uid;          /* of the job's user */
	scribe_u32 ancestor_pid;        /* ENV: and descendant of this process (initial pid namespace); 0: of any */
	scribe_u64 ancestor_ticks;  /* field 22 of its /proc/PID/stat; 0: not compared */
	scribe_u64 cgroup;       /* CGROUP: inode number of the cgroup's directory */
	scribe_u32 reserve; /* catch-alls and shards that it gets when the pool is used up; 0: a 64th of the
			       pool */
	scribe_u32 kept;         /* of these it holds */
	scribe_u32 proc_quota;   /* processes at once; 0: no limit of its own */
	scribe_u32 proc_used;    /* it has */
	scribe_u32 variable_bytes;
	scribe_u32 links; /* how often it has made, moved or removed a symbolic link: strings mean other files since */
	char variable[SCRIBE_VARIABLE_MAX]; /* ENV: "NAME=VALUE", zero behind it */
	scribe_u64 recorded;     /* operations in drained records of their own */
	scribe_u64 overflowed;       /* and in catch-alls */
	scribe_u64 segments;     /* of them, the daemon has taken */
	scribe_u32 files;        /* records made so far that reads and writes may stand in */
	scribe_u32 linked;       /* 1: a process has made a symbolic link: what may change one is told */
} __attribute__((aligned(64)));

/* ---- segments: one operation each, with its time ---- */
/*
 * A thread writes them one after another on a leaf that is its own; `n` counts those
 * that are complete. A full leaf, and one whose thread ends, is put on a list
 * (ctl->leaves); the daemon takes what it has not taken and gives the leaf back. It may
 * read the leaf of a living thread at any time, too.
 */
enum scribe_segment_op {
	SCRIBE_SEGMENT_READ = 0,
	SCRIBE_SEGMENT_WRITE = 1,
	/* of records with SCRIBE_SF_OPENS: */
	SCRIBE_SEGMENT_OPEN = 2,
	SCRIBE_SEGMENT_CLOSE = 3,
	SCRIBE_SEGMENT_LIB_READ = 4, /* of HDF5, PnetCDF and streams */
	SCRIBE_SEGMENT_LIB_WRITE = 5,
	SCRIBE_SEGMENT_FLUSH = 6, /* of HDF5 and streams */
};

struct scribe_segment {
	scribe_s64 offset;
	scribe_u64 bytes;
	scribe_u64 start_ns, end_ns; /* CLOCK_MONOTONIC */
	scribe_u32 slot, generation;      /* the record that it was counted on */
	scribe_u32 op;               /* enum scribe_segment_op */
	scribe_u32 also;             /* of LIB_READ, LIB_WRITE: the module's second counter that went up, 0 none */
};

enum scribe_leaf_state {
	SCRIBE_LEAF_FREE = 0,
	SCRIBE_LEAF_OPEN = 1, /* a thread's */
	SCRIBE_LEAF_LEFT = 2, /* on the list, or about to be; or it is being copied */
	SCRIBE_LEAF_READ = 3, /* a thread's, and the daemon is reading it: it cannot be copied */
};

#define SCRIBE_LEAF_SEGMENTS 84

struct scribe_leaf {
	scribe_u32 state;  /* enum scribe_leaf_state */
	scribe_u32 n;      /* segments, of which */
	scribe_u32 taken;  /* the daemon has so many */
	scribe_u32 next;   /* on the list, 0 ends */
	scribe_u32 proc;   /* whose thread's, 0: for several processes */
	scribe_u32 proc_id;
	scribe_u32 job;    /* of that process */
	scribe_u32 tid;    /* in the initial pid namespace */
	scribe_u64 thread; /* the program's pthread_self(), 0: it has none, or this processor's is not known */
	scribe_u32 pad[6];
	struct scribe_segment at[SCRIBE_LEAF_SEGMENTS];
} __attribute__((aligned(64)));

/* Key: uid, or cgroup with SCRIBE_WATCH_CGROUP. */
#define SCRIBE_WATCH_CGROUP (1ull << 63)
struct scribe_match_entry {
	scribe_u32 n;
	scribe_u32 job[SCRIBE_JOBS_MAX];
};

/* ---- free rings and control words ---- */
struct scribe_ring_ctl {
	scribe_u32 head;          /* kernel takes here (compare and swap) */
	scribe_u32 pad0[15];
	scribe_u32 tail;          /* daemon gives here */
	scribe_u32 reserve;       /* entries kept for catch-alls and shards */
	scribe_u32 low;           /* with fewer left the daemon is asked for more; 0: there are no more */
	scribe_u32 pad1[13];
} __attribute__((aligned(64)));

struct scribe_ctl {
	scribe_u32 wire_version;     /* first, in every version */
	scribe_u32 next_serial;
	scribe_u32 watching;         /* jobs that processes may join at exec */
	scribe_u32 watching_cgroups; /* of them, by cgroup */
	scribe_u32 level;            /* enum scribe_bpf_level that was chosen */
	scribe_u32 tables_most;      /* value tables that there may be */
	scribe_u32 slots_most;       /* and slots */
	scribe_u32 whole;            /* all slots have been there from the start */
	scribe_u32 calls;            /* 1: programs are attached to system calls */
	scribe_u32 asleep;           /* 1: the daemon is to be woken; who does clears this */
	scribe_u32 pad[6];
	struct scribe_ring_ctl slots;
	struct scribe_ring_ctl procs;
	struct scribe_ring_ctl tables;
	struct scribe_ring_ctl segs;
	struct scribe_ring_ctl heats;
	scribe_u32 leaves;        /* list of leaves that were left, the last one first; 0: none */
	scribe_u32 segs_ahead;    /* leaves that shall be free, 0: nobody asks for segments */
	scribe_u64 env_sent;      /* bytes of environments that went into the ring */
	scribe_u64 env_taken;     /* of them, what the daemon has taken out */
	scribe_u32 pad1[10];
} __attribute__((aligned(64)));

/* ---- ledger: one array of counters a job and CPU ---- */
enum scribe_ledger_id {
#define SCRIBE_X(name, meaning, text) SCRIBE_L_##name,
	SCRIBE_LEDGER(SCRIBE_X)
#undef SCRIBE_X
	/* in the log among the ledger's doubles, for its integers are used up */
	SCRIBE_L_LATE_PROCS,
	SCRIBE_L_LATE_CALLS,
	SCRIBE_L_LATE_BYTES, /* not in the log */
	SCRIBE_L_COUNT
};

struct scribe_ledger {
	scribe_u64 v[SCRIBE_L_COUNT];
};

/* ---- events (ring buffer, kernel to daemon) ---- */
/*
 * The ring holds the names of all slots while nobody empties it: so many bytes a
 * name, head included. What follows them has room of its own.
 */
#define SCRIBE_RING_NAME 256u
#define SCRIBE_RING_OTHERS (4u << 20)
/* Environments are as large as users make them: together never more of a full ring than that. */
#define SCRIBE_RING_ENV (4u << 20)
#define SCRIBE_NAME_MAX_BYTES 4096u
#define SCRIBE_ARGS_MAX_BYTES 4096u
#define SCRIBE_ENV_CHUNK_BYTES 4096u
#define SCRIBE_LIBRARY_NAME 128 /* bytes of a mapped file's name, NUL included; longer ones are cut */

enum scribe_event_type {
	SCRIBE_EV_NAME = 1,
	SCRIBE_EV_FORK = 2,
	SCRIBE_EV_EXEC = 3, /* text: argv strings, each ending in NUL */
	SCRIBE_EV_ENV = 4,  /* text: a piece of the environment, in order after EXEC */
	SCRIBE_EV_EXIT = 5, /* last thread of the process is gone */
	SCRIBE_EV_JOIN = 8, /* enrolled at exec; slot is its job; EXEC and ENV follow */
	/*
	 * A stream or MPI-IO file is counted inside: slot, generation; flags is the memory, chain_bytes the place,
	 * string_bytes the use, status 1 + the file's library among the images
	 */
	SCRIBE_EV_STREAM = 9,
	SCRIBE_EV_SEGMENTS = 10, /* leaves of segments run low: to wake, no more */
	/* an executable file was mapped: slot is its device, generation and flags its inode; text: its last name */
	SCRIBE_EV_MAP = 7,
	/*
	 * A call has changed what a path is, and may have changed a symbolic link: slot and generation are the
	 * path's, chain_bytes and string_bytes those of the source of a rename, flags enum scribe_link_change;
	 * text: what a new link holds
	 */
	SCRIBE_EV_LINK = 6,
};

enum scribe_link_change {
	SCRIBE_LINK_MADE = 1,
	SCRIBE_LINK_REMOVED = 2, /* if it was one */
	SCRIBE_LINK_MOVED = 3,   /* what has the source's name, or is below it */
	SCRIBE_LINK_SWAPPED = 4, /* both names of a rename with RENAME_EXCHANGE */
	SCRIBE_LINK_KNOWN = 8,   /* with these: strings have got new records */
};

enum scribe_exec_flags {
	SCRIBE_XF_CUT = 1u << 0,    /* arguments cut */
	SCRIBE_XF_HIDDEN = 1u << 1, /* has gained privileges: no arguments, no ENV follows */
};

enum scribe_name_flags {
	SCRIBE_NF_CUT = 1u << 0,      /* longer than the limit or deeper than the walk */
	SCRIBE_NF_NOFOLLOW = 1u << 1, /* last component is not to be followed */
	SCRIBE_NF_UNLINKED = 1u << 2,
	SCRIBE_NF_STRING = 1u << 3,   /* string_bytes of user string follow the chain */
	SCRIBE_NF_DETACHED = 1u << 4, /* walk ended outside the process's root */
	SCRIBE_NF_SUFFIX = 1u << 5,   /* the last `status` bytes of the string are no path */
	SCRIBE_NF_LITERAL = 1u << 6,  /* the string is the name itself, no path */
	SCRIBE_NF_WANTED = 1u << 8,   /* the daemon is woken for it */
	SCRIBE_NF_BELOW = 1u << 7,    /* the string follows ":" and the name of slot `status`, generation `tgid` */
};

/* An open handle of a process: FILE *, MPI_File, H5D_t *, hid, ncid. The daemon sweeps those of dead ones. */
struct scribe_handle_key {
	scribe_u64 handle;
	scribe_u32 proc_id;
	scribe_u32 layer; /* enum scribe_layer, bits above it tell kinds of handles apart */
};

/*
 * Common head. For NAME the text is the dentry chain, leaf first, components
 * joined by '/', up to the process's root (`chain_bytes`, e.g. "f/dir/home" for
 * /home/dir/f; 0 bytes: the root itself); with SCRIBE_NF_STRING it is the chain
 * of the starting directory followed by the string as the program gave it.
 */
struct scribe_event {
	scribe_u32 type;
	scribe_u32 proc_id; /* process */
	scribe_u32 proc;   /* its index */
	scribe_u32 slot;   /* NAME: slot named; FORK: parent's proc_id; JOIN: job */
	scribe_u32 generation;  /* NAME: generation of that slot */
	scribe_u32 flags;  /* NAME: scribe_name_flags; ENV: 1 last piece; EXEC: scribe_exec_flags */
	scribe_u32 chain_bytes;
	scribe_u32 string_bytes;
	scribe_u64 when_ns; /* CLOCK_MONOTONIC; 0 for NAME */
	scribe_u32 tgid;
	scribe_s32 status; /* EXIT: wait status */
	scribe_u32 uid;
	scribe_u32 text_bytes; /* bytes that follow */
};

#endif
