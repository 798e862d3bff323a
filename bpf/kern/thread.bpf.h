/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread's state: what it is in the middle of, the file it used last, and room
 * to work in. All of a chain of programs may have 512 bytes of stack together, so
 * what is handed from function to function stands here; a thread is in one
 * program at a time.
 */
#ifndef BPF_KERN_THREAD_BPF_H
#define BPF_KERN_THREAD_BPF_H

#include "bpf/kern/compat.bpf.h"
#include "bpf/kern/slot_index.h"
#include "logfmt/rules/posix_rules.h"

/* Metadata operations of the POSIX record. */
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
	SCRIBE_META_EXT, /* a call of our own module: ext id in `ext` */
};

struct scribe_meta_op {
	__u64 start_ns, end_ns;
	__u64 bytes; /* MMAP: of the mapping */
	__u32 what; /* enum scribe_meta */
	__u32 ext;  /* enum scribe_ext_id counted with it, SCRIBE_EXT_COUNT: none */
	__u32 mode; /* OPEN: mode argument, 0 none */
	__u32 pad;
};

/* A path argument: where it starts and what it says. */
struct scribe_path_arg {
	__s64 dir;      /* descriptor or AT_FDCWD */
	__u64 string;   /* user address */
	__u32 nofollow; /* the last component is meant itself */
	__u32 pad;
};

struct scribe_path_call {
	struct scribe_path_arg a;
	struct scribe_path_arg b; /* rename: the target */
	__u64 stat_buffer;        /* 0: no stat call */
	__u32 statx;
	__u32 two;
	__u32 ext;
	__u32 made_mode; /* mknod: mode with the type, 0 none */
};

/* A walk up a chain of dentries, between two stretches of it (bpf/kern/dentry_path.bpf.h). */
struct scribe_climb {
	__u64 dentry, mnt;
	__u64 root, root_mnt; /* where it ends */
	__u64 hash, top;      /* top: dentry of the top-level component, 0 none */
};

/* A folder, or a link, as strings name it (bpf/kern/path_record.bpf.h). */
struct scribe_folder_key {
	__u64 hash; /* of the string, and of where it starts */
	__u64 ino;  /* of where it starts */
	__u32 dev, job;
};

/* An operation on its way, by (process, control block) or by request. */
struct scribe_flight {
	__u64 start_ns;
	__u64 file;
	__s64 offset;
	__u32 slot, generation;
	__u32 kind; /* SCRIBE_IOCB_* or the io_uring opcode */
	__u32 unaligned;
	__u32 proc, proc_id; /* io_uring: whose */
	__u8 issued;         /* io_uring: nothing that it waits for is left */
	__u8 skip;           /* io_uring: its success is not told */
	__u8 pad[6];
};

/* As in linux/aio_abi.h: the layout is the system call's. */
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

/* As in linux/fs.h: FICLONERANGE and FIDEDUPERANGE. */
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
	__s32 status;        /* 0: they are equal */
	__u32 pad;
};

/* A list in user memory, or a range, that is gone through. */
struct scribe_list {
	__u64 array;
	__u64 count;
	__u64 first;
	__u64 taken; /* aio: submissions that the kernel took */
	__u64 now_ns;
	__u64 done;
	__u32 undo;   /* aio: 1: take back what was not taken */
	__u32 followed; /* aio: control blocks that are recorded when they have completed */
	__u32 ending; /* aio: 1 + the next context of the process, whose end this is; else 0 */
};

/* What the kernel accounts a thread: reads or writes. */
struct scribe_io {
	__u64 calls, bytes;
};

struct scribe_thread {
	/* the daemon writes these three when it enrols a process (bpf/user/enroll.c) */
	__u32 proc; /* index in scribe_procs */
	__u32 proc_id;
	__u32 mem_align; /* of the process */
	__u32 class;       /* enum scribe_syscall_class of the call under way, 0 none */
	/* cache: the record of the file used last; that of a read or write under way */
	__u64 c_file;
	__u64 c_proof;   /* scribe_proof of the file */
	__u32 c_slot;
	__u32 c_generation;
	__u32 c_gen;
	__u32 c_kept;             /* the cached file is in scribe_descs too */
	struct scribe_io
		io[2]; /* reads and writes recorded and left out: the kernel's account, if none was missed */
	__u64 io_before;          /* the kernel's count of calls at the entry of the one under way */
	__u32 leaf;               /* of segments, 0 none */
	__u32 stand_in;           /* 1: it acts for several processes (io_uring.bpf.h) */
	__u64 events;             /* operations seen, added to the ledger when the thread ends */
	struct scribe_data_op op; /* its times are those of the call under way, whatever it is */
	__u64 file;
	__s64 pos;       /* f_pos before the call */
	__u32 watched;   /* it has called a library that takes the difference of moved[] */
	__u32 io_begun;  /* io[] includes what was before the thread was enrolled */
	__u32 left;      /* enum scribe_left of the call under way */
	__u32 last_ref;  /* close: this was the last reference */
	__u32 slot;      /* record of its first file, where that is no read or write */
	__u32 generation;
	__u32 slot2; /* second file of a copy */
	__u32 generation2;
	__u64 file2;
	__u32 again_generation; /* result of scribe_revalidate_slot */
	__u32 top_excluded;
	__u64 top;      /* top-level dentry looked at last, and whether it is excluded */
	__u64 top_name; /* its name's hash and length */
	__u32 path_align; /* block size that a stat by path has given */
	__u32 link_change; /* enum scribe_link_change of the call on paths under way */
	__u32 stream_open; /* inside fopen or the like: what it opens is a stream's; 2: calls are counted */
	__u64 path_kept;   /* of the call under way: user address of the path that scribe_kept has, 0 none */
	__u64 arg[6];   /* arguments of calls that are not on one descriptor */
	__u64 moved[2]; /* bytes read and written so far, and the time of that: library calls take the
			   difference */
	__u64 moved_ns;
	__u64 wrapped_word; /* user address of a word: the file whose call the program counts itself, 0 none */
	/* room to work in: nothing here outlives a program */
	struct scribe_op_class_result op_result;
	struct scribe_meta_op meta;
	struct scribe_path_call path;
	__u64 link_source; /* of a rename under way: hash of its source's last component */
	struct {
		__u32 end, bytes; /* in the scratch */
		__u64 hash;
	} component;
	struct {
		__u32 at; /* in the string */
		__u32 pad;
		__u64 word, number; /* of the component before that (bpf/kern/proc_path.bpf.h) */
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

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct scribe_thread);
} scribe_task SEC(".maps");

/* Has the task no state of any BPF program? Asked first: a load, where a look-up is a call. */
static __always_inline bool scribe_is_nobodys(struct task_struct *task)
{
	return bpf_core_field_exists(task->bpf_storage) && !task->bpf_storage;
}

/* The state of an enrolled thread, 0: it is not enrolled. */
static __always_inline struct scribe_thread *scribe_thread_of(struct task_struct *task)
{
	return bpf_task_storage_get(&scribe_task, task, 0, 0);
}

#endif
