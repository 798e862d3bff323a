/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Paths through procfs's magic links (/proc/PID/fd/N, cwd, root, exe) and /dev/fd/N: the rest starts at the
 * link's target during the call.
 */
#ifndef BPF_KERN_PROC_PATH_BPF_H
#define BPF_KERN_PROC_PATH_BPF_H

#include "bpf/kern/descs.bpf.h"

#define SCRIBE_PROC_WORD_MAX 12u /* longest component in question */
#define SCRIBE_PROC_SLASHES  4u

/* Last eight bytes of a component as a number. */
#define SCRIBE_WORD_PROC        0x70726f63ull
#define SCRIBE_WORD_SELF        0x73656c66ull
#define SCRIBE_WORD_THREAD_SELF 0x6561642d73656c66ull /* of thread-self */
#define SCRIBE_WORD_TASK        0x7461736bull
#define SCRIBE_WORD_FD          0x6664ull
#define SCRIBE_WORD_CWD         0x637764ull
#define SCRIBE_WORD_ROOT        0x726f6f74ull
#define SCRIBE_WORD_EXE         0x657865ull
#define SCRIBE_WORD_DEV         0x646576ull
#define SCRIBE_WORD_STDIN       0x737464696eull
#define SCRIBE_WORD_STDOUT      0x7374646f7574ull
#define SCRIBE_WORD_STDERR      0x737464657272ull

/* Little-endian starts of strings. */
#define SCRIBE_BEGINS_PROC    0x6f72702fu /* "/pro" */
#define SCRIBE_BEGINS_DEV     0x7665642fu /* "/dev" */
#define SCRIBE_BEGINS_SLASHES 0x2f2fu

#define SCRIBE_NO_NUMBER ~0ull

SCRIBE_GLOBAL int scribe_proc_word(struct scribe_thread *t, struct scribe_scratch *s)
{
	__u32 at, begin, digit, no_number = 0;
	__u64 word = 0, number = 0;

	if (!t || !s)
		return 0;
	at = t->proc_path.at;
	for (__u32 i = 0; i < SCRIBE_PROC_SLASHES; i++)
		at += s->text[SCRIBE_NAME_MAX_BYTES + (at & (SCRIBE_NAME_MAX_BYTES - 1))] == '/';
	begin = at;
	for (__u32 i = 0; i < SCRIBE_PROC_WORD_MAX; i++) {
		unsigned char c = s->text[SCRIBE_NAME_MAX_BYTES + (at & (SCRIBE_NAME_MAX_BYTES - 1))];

		if (!c || c == '/')
			break;
		at++;
		word = word << 8 | c;
		digit = (__u32)c - '0';
		number = number * 10 + digit;
		no_number |= digit | (9 - digit); /* no branch: the verifier would follow both sides */
	}
	t->proc_path.at = at;
	t->proc_path.word = word;
	t->proc_path.number = at == begin || no_number >> 31 ? SCRIBE_NO_NUMBER : number;
	return 0;
}

#define SCRIBE_PID_TREE_DEPTH 6
#define SCRIBE_PID_LEAST_NODE 4096ull

/* 0: none. */
static __always_inline __u64 scribe_pid_entry(struct pid_namespace *ns, __u64 number)
{
	__u64 entry = (__u64)BPF_CORE_READ(ns, idr.idr_rt.xa_head);

	for (int i = 0; i < SCRIBE_PID_TREE_DEPTH; i++) {
		struct xa_node *node = (struct xa_node *)(entry - 2);
		__u64 at, slots;

		if ((entry & 3) != 2 || entry <= SCRIBE_PID_LEAST_NODE) /* not a node */
			break;
		slots = bpf_core_field_size(node->slots) / 8;
		at = number >> (BPF_CORE_READ(node, shift) & 63);
		if (i == 0 && at >= slots)
			return 0;
		at = (__u64)node + bpf_core_field_offset(struct xa_node, slots) + (at & (slots - 1)) * 8;
		bpf_probe_read_kernel(&entry, sizeof(entry), (void *)at);
	}
	return entry;
}

/* In the current namespace; 0: it has ended. */
SCRIBE_GLOBAL __u64 scribe_task_of_pid(__u64 number)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	__u32 level = BPF_CORE_READ(pid, level);
	struct upid upid = {};
	__u64 at, first = 0;

	at = (__u64)pid + bpf_core_field_offset(struct pid, numbers) + level * bpf_core_type_size(struct upid);
	bpf_core_read(&upid.ns, sizeof(upid.ns), &((struct upid *)at)->ns);
	pid = (struct pid *)scribe_pid_entry(upid.ns, number);
	/* A node of the tree may be reused while it is read: level and number must match. */
	if (!pid || BPF_CORE_READ(pid, level) < level)
		return 0;
	at = (__u64)pid + bpf_core_field_offset(struct pid, numbers) + level * bpf_core_type_size(struct upid);
	bpf_core_read(&upid.nr, sizeof(upid.nr), &((struct upid *)at)->nr);
	bpf_probe_read_kernel(&first, sizeof(first), (void *)((__u64)pid + bpf_core_field_offset(struct pid, tasks)));
	if (upid.nr != (int)number || !first)
		return 0;
	return first - bpf_core_field_offset(struct task_struct, pid_links);
}

/* 0: none. */
static __always_inline __u64 scribe_fd_file_of(struct task_struct *task, __u64 fd)
{
	struct fdtable *fdt = BPF_CORE_READ(task, files, fdt);
	__u64 file = 0;

	if (fd < BPF_CORE_READ(fdt, max_fds))
		bpf_probe_read_kernel(&file, sizeof(file), (void *)((__u64)BPF_CORE_READ(fdt, fd) + fd * 8));
	return file;
}

/* Lets a walk start at a task's directory: the address of a file with this f_path. */
static __always_inline __u64 scribe_from_path(__u64 path)
{
	return path - bpf_core_field_offset(struct file, f_path);
}

enum scribe_proc_path_kind {
	SCRIBE_PROC_NONE,    /* no magic link */
	SCRIBE_PROC_FILE,    /* the open file t->proc_path.from */
	SCRIBE_PROC_FOLDER,  /* a directory, only for a walk's start */
	SCRIBE_PROC_UNKNOWN, /* a magic link with unknown target */
};

/* Of task `owner`. */
SCRIBE_GLOBAL int scribe_proc_link(struct scribe_thread *t, struct scribe_scratch *s, __u64 owner)
{
	struct task_struct *task = (struct task_struct *)owner;
	__u64 fs;

	if (!t)
		return SCRIBE_PROC_NONE;
	switch (t->proc_path.word) {
	case SCRIBE_WORD_FD:
		scribe_proc_word(t, s);
		if (t->proc_path.number == SCRIBE_NO_NUMBER)
			return SCRIBE_PROC_NONE;
		t->proc_path.from = owner ? scribe_fd_file_of(task, t->proc_path.number) : 0;
		return t->proc_path.from ? SCRIBE_PROC_FILE : SCRIBE_PROC_UNKNOWN;
	case SCRIBE_WORD_EXE:
		t->proc_path.from = owner ? (__u64)BPF_CORE_READ(task, mm, exe_file) : 0;
		return t->proc_path.from ? SCRIBE_PROC_FILE : SCRIBE_PROC_UNKNOWN;
	case SCRIBE_WORD_CWD:
	case SCRIBE_WORD_ROOT:
		fs = owner ? (__u64)BPF_CORE_READ(task, fs) : 0;
		if (!fs)
			return SCRIBE_PROC_UNKNOWN;
		t->proc_path.from = scribe_from_path(fs + (t->proc_path.word == SCRIBE_WORD_CWD
								   ? bpf_core_field_offset(struct fs_struct, pwd)
								   : bpf_core_field_offset(struct fs_struct, root)));
		return SCRIBE_PROC_FOLDER;
	default:
		return SCRIBE_PROC_NONE;
	}
}

/* /dev/fd/N, stdin, stdout, stderr: links to /proc/self/fd. */
static __always_inline int scribe_dev_path(struct scribe_thread *t, struct scribe_scratch *s, __u64 self)
{
	scribe_proc_word(t, s);
	switch (t->proc_path.word) {
	case SCRIBE_WORD_FD:
		return scribe_proc_link(t, s, self);
	case SCRIBE_WORD_STDIN:
		t->proc_path.number = 0;
		break;
	case SCRIBE_WORD_STDOUT:
		t->proc_path.number = 1;
		break;
	case SCRIBE_WORD_STDERR:
		t->proc_path.number = 2;
		break;
	default:
		return SCRIBE_PROC_NONE;
	}
	t->proc_path.from = scribe_fd_file_of((struct task_struct *)self, t->proc_path.number);
	return t->proc_path.from ? SCRIBE_PROC_FILE : SCRIBE_PROC_UNKNOWN;
}

static __always_inline bool scribe_may_be_proc_path(const struct scribe_scratch *s)
{
	__u32 begin = *(const __u32 *)&s->text[SCRIBE_NAME_MAX_BYTES];

	return begin == SCRIBE_BEGINS_PROC || begin == SCRIBE_BEGINS_DEV || (begin & 0xffff) == SCRIBE_BEGINS_SLASHES;
}

/*
 * t->proc_path.from is the target, .at the first byte after the link ('/' or NUL). Symbolic links into procfs
 * are not followed.
 */
SCRIBE_GLOBAL int scribe_proc_path(struct scribe_thread *t, struct scribe_scratch *s)
{
	__u64 self = (__u64)bpf_get_current_task(), owner;

	if (!t || !s || s->text[SCRIBE_NAME_MAX_BYTES] != '/')
		return SCRIBE_PROC_NONE;
	t->proc_path.at = 0;
	t->proc_path.from = 0;
	scribe_proc_word(t, s);
	if (t->proc_path.word == SCRIBE_WORD_DEV)
		return scribe_dev_path(t, s, self);
	if (t->proc_path.word != SCRIBE_WORD_PROC)
		return SCRIBE_PROC_NONE;
	scribe_proc_word(t, s);
	if (t->proc_path.word == SCRIBE_WORD_SELF || t->proc_path.word == SCRIBE_WORD_THREAD_SELF)
		owner = self;
	else if (t->proc_path.number != SCRIBE_NO_NUMBER)
		owner = scribe_task_of_pid(t->proc_path.number);
	else
		return SCRIBE_PROC_NONE;
	scribe_proc_word(t, s);
	if (t->proc_path.word == SCRIBE_WORD_TASK) {
		scribe_proc_word(t, s);
		scribe_proc_word(t, s);
	}
	return scribe_proc_link(t, s, owner);
}

#endif
