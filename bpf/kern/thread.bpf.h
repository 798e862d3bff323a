/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State of a thread: current call, last file, work memory. All functions of a program share 512 bytes of stack,
 * so arguments are passed here; a thread is in one program at a time.
 */
#ifndef BPF_KERN_THREAD_BPF_H
#define BPF_KERN_THREAD_BPF_H

#include "bpf/kern/compat.bpf.h"
#include "bpf/kern/slot_index.h"
#include "logfmt/rules/posix_rules.h"

enum scribe_meta {
	SCRIBE_META_OPEN,
	SCRIBE_META_DUP,
	SCRIBE_META_SEEK,
	SCRIBE_META_STAT,
	SCRIBE_META_MMAP,
	SCRIBE_META_FSYNC,
	SCRIBE_META_FDSYNC,
	SCRIBE_META_CLOSE,
	SCRIBE_META_RENAME_SOURCE,
	SCRIBE_META_RENAME_TARGET,
	SCRIBE_META_EXT, /* counter of our own module, in `ext` */
};

struct scribe_meta_op {
	__u64 start_ns, end_ns;
	__u64 bytes; /* MMAP */
	__u32 what;  /* enum scribe_meta */
	__u32 ext;   /* enum scribe_ext_id, SCRIBE_EXT_COUNT: none */
	__u32 mode;  /* OPEN, 0 none */
	__u32 pad;
};

struct scribe_path_arg {
	__s64 dir; /* or AT_FDCWD */
	__u64 string;
	__u32 nofollow; /* of the last component */
	__u32 pad;
};

struct scribe_path_call {
	struct scribe_path_arg a;
	struct scribe_path_arg b; /* rename */
	__u64 stat_buffer;        /* 0: not a stat call */
	__u32 statx;
	__u32 two;
	__u32 ext;
	__u32 made_mode; /* mknod, with the type; 0 none */
};

/* In bpf/kern/dentry_path.bpf.h. */
struct scribe_climb {
	__u64 dentry, mnt;
	__u64 root, root_mnt; /* end of the walk */
	__u64 hash, top;      /* top: dentry of the first component, 0 none */
};

/* In bpf/kern/path_record.bpf.h. */
struct scribe_folder_key {
	__u64 hash; /* of the string and its start */
	__u64 ino;  /* of its start */
	__u32 dev, job;
};

/* By (process, control block) or by request. */
struct scribe_flight {
	__u64 start_ns;
	__u64 file;
	__s64 offset;
	__u32 slot, generation;
	__u32 kind; /* SCRIBE_IOCB_* or the io_uring opcode */
	__u32 unaligned;
	__u32 proc, proc_id; /* io_uring */
	__u8 issued;         /* io_uring: it waits for no other request */
	__u8 skip;           /* io_uring: no completion on success */
	__u8 pad[6];
};

/* linux/aio_abi.h */
struct scribe_iocb {
	__u64 data;
	__u32 key;
	__s32 rw_flags;
	__u16 opcode;
	__s16 priority;
	__u32 fd;
	__u64 buf;
	__u64 bytes;
	__s64 offset;
	__u64 reserved;
	__u32 flags;
	__u32 resfd;
};
struct scribe_io_event {
	__u64 data;
	__u64 obj;
	__s64 res;
	__s64 res2;
};

/* linux/fs.h: FICLONERANGE and FIDEDUPERANGE. */
struct scribe_clone_range {
	__s64 from;
	__u64 from_offset, bytes, to_offset; /* bytes: 0 to the end */
};

struct scribe_dedupe {
	__u64 offset, bytes;
	__u16 count, pad;
	__u32 pad2;
};

struct scribe_dedupe_target {
	__s64 fd;
	__u64 offset, bytes; /* bytes: found equal and shared */
	__s32 status;        /* 0: equal */
	__u32 pad;
};

struct scribe_list {
	__u64 array;
	__u64 count;
	__u64 first;
	__u64 taken; /* aio: submissions accepted */
	__u64 now_ns;
	__u64 done;
	__u32 undo;     /* 1: drop those not accepted */
	__u32 followed; /* aio: control blocks recorded at completion */
	__u32 ending;   /* aio: at process end 1 + the next context, else 0 */
};

/* The kernel's accounting. */
struct scribe_io {
	__u64 calls, bytes;
};

struct scribe_thread {
	/* written by the daemon when it enrols a process (bpf/user/enroll.c) */
	__u32 proc; /* index */
	__u32 proc_id;
	__u32 mem_align; /* of the process */
	__u32 usual;     /* calls of a block, in the mean (cost.bpf.h) */
	union {
		struct {
			__u32 class;    /* 0 none */
			__u16 measured; /* 1: what its programs cost */
			__u16 moves;    /* 1: it fetches or makes dirty; moved_before is set */
		};
		__u64 call; /* all, cleared together */
	};
	/* cache: record of the last file */
	__u64 c_file;
	__u64 c_identity;
	__u32 c_slot;
	__u32 c_generation;
	__u32 c_gen;
	__u32 c_kept;   /* in scribe_descs too */
	__u32 c_direct; /* 1: with O_DIRECT, when it was cached */
	__u32 pad_direct;
	struct scribe_io io[2]; /* by read and write: equals the kernel's account unless calls were missed */
	__u64 io_before;
	__u64 moved_before; /* the kernel's account of bytes fetched or made dirty, when the call began to move any */
	__u64 pages_added;  /* bytes that came into the page cache in that call, of file systems without a device */
	__u32 until, block; /* calls left in this block, and all of it */
	__u64 cost_from_ns, cost_ns; /* of the measured call: start of the entry's program; what its programs took */
	__u64 cpu_ns;                /* already in the process's */
	__u32 segbuf;                /* segment buffer, 0 none */
	__u32 stand_in;              /* 1: for several processes (io_uring.bpf.h) */
	__u64 events;                /* added to the ledger at thread exit */
	struct scribe_data_op op;    /* times of any current call */
	__u64 file;
	__s64 pos;      /* f_pos before the call */
	__u32 watched;  /* has used a library that takes the difference of moved[] */
	__u32 io_begun; /* SCRIBE_IO_*: io[] includes earlier calls */
	__u32 left;     /* enum scribe_left */
	__u32 last_ref; /* close: last reference */
	__u32 slot;     /* first file, unless a read or write */
	__u32 generation;
	__u32 slot2;
	__u32 generation2;
	__u64 file2;
	__u32 again_generation;
	__u32 top_excluded;
	__u64 top; /* last top-level dentry, and whether it is excluded */
	__u64 top_name;
	__u32 path_align;  /* block size from stat by path */
	__u32 link_change; /* enum scribe_link_change */
	__u32 stream_open; /* 1: inside fopen or the like, the next open is a stream's; 2: calls are counted */
	__u64 path_kept;   /* user address of the path in scribe_kept, 0 none */
	__u64 arg[6];
	__u64 moved[2]; /* bytes read and written so far, and the time of that: library calls take the
			   difference */
	__u64 moved_ns;
	__u64 fetched;      /* by t->op, if it is not recorded yet */
	__u64 mapped_inode; /* of the last page fault, and its record */
	__u32 mapped_slot;
	__u32 mapped_generation;
	__u32 mapped_gen; /* 0 in mapped_slot: not recorded, as long as this equals the process's */
	__u32 pad_mapped;
	__u64 fault_counted, fault_fetched; /* number of the last fault that was counted */
	__u64 wrapped_word;                 /* user address of the current MPI-IO file, 0 none */
	/* work memory, valid within one program */
	struct scribe_op_class_result op_result;
	struct scribe_meta_op meta;
	struct scribe_path_call path;
	__u64 link_source; /* rename: hash of the source's last component */
	struct {
		__u32 end, bytes;
		__u64 hash;
	} component;
	struct {
		__u32 at;
		__u32 pad;
		__u64 word, number; /* in bpf/kern/proc_path.bpf.h */
		__u64 from;
	} proc_path;
	struct scribe_climb climb;
	struct scribe_file_key key;
	struct scribe_folder_key folder;
	struct scribe_flight flight;
	union {
		struct scribe_iocb iocb;
		struct scribe_io_event io_event;
		struct scribe_clone_range clone;
		struct {
			struct scribe_dedupe from;
			struct scribe_dedupe_target to;
		} dedupe;
	};
	struct scribe_list list;
};

#define SCRIBE_ARG(n) (t->arg[(n)-1])

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct scribe_thread);
} scribe_task SEC(".maps");

/* A load is cheaper than a look-up. */
static __always_inline bool scribe_is_untraced(struct task_struct *task)
{
	return bpf_core_field_exists(task->bpf_storage) && !task->bpf_storage;
}

/* 0: not enrolled. */
static __always_inline struct scribe_thread *scribe_thread_of(struct task_struct *task)
{
	return bpf_task_storage_get(&scribe_task, task, 0, 0);
}

#endif
