/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams of the C library. Recognising one moves its descriptor's record from
 * POSIX to STDIO: from then on its system calls count there, or, where single
 * calls are counted, those do. The position of a stream is the kernel's file
 * position and what is in the buffers, so that nothing has to be remembered; wide
 * characters in a buffer are taken as UTF-8.
 */
#ifndef UPROBES_KERN_STDIO_BPF_H
#define UPROBES_KERN_STDIO_BPF_H

#include "bpf/kern/streams.bpf.h"
#include "uprobes/kern/call.bpf.h"

/* struct _IO_FILE of glibc: frozen, its pointers were part of macros once. */
#define SCRIBE_FILE_FLAGS      0
#define SCRIBE_FILE_READ_PTR   8
#define SCRIBE_FILE_READ_END   16
#define SCRIBE_FILE_WRITE_BASE 32
#define SCRIBE_FILE_WRITE_PTR  40
#define SCRIBE_FILE_WIDE_DATA  160
#define SCRIBE_FILE_MODE       192 /* above 0: of wide characters */
#define SCRIBE_FILE_PUTTING    0x800
/* struct _IO_wide_data: what is decoded and not yet read, written and not yet encoded */
#define SCRIBE_WIDE_READ_PTR   0
#define SCRIBE_WIDE_READ_END   8
#define SCRIBE_WIDE_WRITE_BASE 24
#define SCRIBE_WIDE_WRITE_PTR  32
/* Characters of a buffer that are looked at: in pieces of pieces, which are checked once each */
#define SCRIBE_WIDE_STEP       (2 * SCRIBE_NUMBERS)
#define SCRIBE_WIDE_STEPS      32
#define SCRIBE_WIDE_MOST       (SCRIBE_WIDE_STEPS * SCRIBE_WIDE_STEPS * SCRIBE_WIDE_STEP)

/* 1: calls of streams are counted instead of their system calls (set by the attacher). */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} scribe_calls_on SEC(".maps");

/* Runs of probes of single stream calls, of any process: what the guard watches. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} scribe_guard SEC(".maps");

static __always_inline __u32 scribe_counts_calls(void)
{
	__u32 zero = 0, *on = bpf_map_lookup_elem(&scribe_calls_on, &zero);

	return on ? *on : 0;
}

/* Open file of a stream; 0: it has none. */
static __always_inline __u64 scribe_stream_file(const struct scribe_library_offsets *im, __u64 stream)
{
	__s32 fd;

	if (!stream || !im->fileno_at)
		return 0;
	fd = (__s32)scribe_user_u32(stream + im->fileno_at);
	return fd < 0 ? 0 : scribe_fd_file(bpf_get_current_task_btf(), fd);
}

/* Bytes that `n` wide characters are in UTF-8 beyond one each; what is behind the first step is not looked at. */
SCRIBE_GLOBAL __u64 scribe_wide_some(__u64 at, __u32 n)
{
	struct scribe_calls *calls = scribe_calls_get();
	__u64 more = 0;

	if (!calls || !n)
		return 0;
	if (n > SCRIBE_WIDE_STEP)
		n = SCRIBE_WIDE_STEP;
	for (int i = 0; i < SCRIBE_NUMBERS; i++)
		calls->number[i] = 0;
	n *= 4;
	asm volatile("" : "+r"(n)); /* the bound is to be seen on the register that is passed */
	if (n > sizeof(calls->number))
		return 0;
	bpf_probe_read_user(calls->number, n, (void *)at);
	for (int i = 0; i < SCRIBE_NUMBERS; i++) {
		__u64 two = calls->number[i], low = (__u32)two, high = two >> 32;

		/* the sign of a difference, because a branch would be checked both ways each time */
		asm volatile("" : "+r"(low), "+r"(high));
		more += ((0x7f - low) >> 63) + ((0x7ff - low) >> 63) + ((0xffff - low) >> 63);
		more += ((0x7f - high) >> 63) + ((0x7ff - high) >> 63) + ((0xffff - high) >> 63);
	}
	return more;
}

SCRIBE_GLOBAL __u64 scribe_wide_steps(__u64 at, __u32 n)
{
	__u64 more = 0;

	for (__u32 i = 0; i < SCRIBE_WIDE_STEPS && i * SCRIBE_WIDE_STEP < n; i++)
		more += scribe_wide_some(at + i * SCRIBE_WIDE_STEP * 4, n - i * SCRIBE_WIDE_STEP);
	return more;
}

/* Bytes of what is between the pointers that stand at `from` and `to` in the stream's wide part. */
SCRIBE_GLOBAL __s64 scribe_wide_bytes(__u64 stream, __u32 from, __u32 to)
{
	const __u32 piece = SCRIBE_WIDE_STEPS * SCRIBE_WIDE_STEP;
	__u64 wide, at, end, bytes;
	__u32 n;

	if ((__s32)scribe_user_u32(stream + SCRIBE_FILE_MODE) <= 0)
		return 0;
	wide = scribe_user_u64(stream + SCRIBE_FILE_WIDE_DATA);
	at = scribe_user_u64(wide + from);
	end = scribe_user_u64(wide + to);
	if (end <= at || end - at > SCRIBE_WIDE_MOST * 4)
		return 0;
	n = (end - at) / 4;
	bytes = n;
	for (__u32 i = 0; i < SCRIBE_WIDE_STEPS && i * piece < n; i++)
		bytes += scribe_wide_steps(at + (__u64)i * piece * 4, n - i * piece);
	return bytes;
}

/* Where the program is in the stream, bytes. */
SCRIBE_GLOBAL __s64 scribe_stream_at(__u64 stream, __u64 file)
{
	__s64 pos;

	if (!file)
		return 0;
	pos = scribe_file_pos(file);
	if (scribe_user_u32(stream + SCRIBE_FILE_FLAGS) & SCRIBE_FILE_PUTTING) {
		if (scribe_file_flags(file) & SCRIBE_O_APPEND)
			pos = scribe_file_size(file);
		return pos +
		       (__s64)(scribe_user_u64(stream + SCRIBE_FILE_WRITE_PTR) -
			       scribe_user_u64(stream + SCRIBE_FILE_WRITE_BASE)) +
		       scribe_wide_bytes(stream, SCRIBE_WIDE_WRITE_BASE, SCRIBE_WIDE_WRITE_PTR);
	}
	return pos -
	       (__s64)(scribe_user_u64(stream + SCRIBE_FILE_READ_END) -
		       scribe_user_u64(stream + SCRIBE_FILE_READ_PTR)) -
	       scribe_wide_bytes(stream, SCRIBE_WIDE_READ_PTR, SCRIBE_WIDE_READ_END);
}

/* The STDIO record of a description, which is the stream's from now on, and its calls' where those count. */
SCRIBE_GLOBAL __u32 scribe_stream_slot(struct scribe_thread *t, struct scribe_proc *p, __u64 addr)
{
	struct scribe_slot *s;
	__u32 index;

	if (!t || !p)
		return SCRIBE_SKIP_SLOT;
	index = scribe_stream_record(t, p, addr);
	s = scribe_lib_slot_at(index);
	if (s && scribe_counts_calls() && !((s->flags & SCRIBE_SF_CALLS) && scribe_calls_counted(p, s))) {
		s->calls_of = (__u32)p->exec_ns;
		__sync_fetch_and_and(&s->flags, ~SCRIBE_SF_INSIDE);
		__sync_fetch_and_or(&s->flags, SCRIBE_SF_CALLS);
	}
	return index;
}

/* Length of a string of the program up to 4095; 0 when it is longer or cannot be read. */
SCRIBE_GLOBAL __u64 scribe_user_length(struct scribe_proc *p, __u64 at)
{
	struct scribe_scratch *s;
	long got = 0;

	if (!p)
		return 0;
	s = scribe_scratch_take(p);
	if (!s)
		return 0;
	got = bpf_probe_read_user_str(s->text, 4096, (void *)at);
	scribe_scratch_put(s);
	return got > 0 && got < 4096 ? got - 1 : 0;
}

/* Bytes that a call moved; negative: none were, do not count it. */
static __always_inline __s64 scribe_stream_bytes(struct scribe_proc *p, struct scribe_call *c,
						 const struct scribe_site *site, __u64 ret, __s64 now_at)
{
	__s64 moved = now_at - c->inner;
	__u64 n;

	switch (site->fn) {
	case SCRIBE_FN_STREAM_ITEMS:
		return ret ? (__s64)(ret * c->arg[1]) : -1;
	case SCRIBE_FN_STREAM_CHARS:
		return (__s32)ret > 0 ? (__s32)ret : -1;
	case SCRIBE_FN_STREAM_ONE:
		return (__s32)ret == -1 ? -1 : 1;
	case SCRIBE_FN_STREAM_STRING:
		if ((__s32)ret < 0)
			return -1;
		n = scribe_user_length(p, c->arg[1]);
		return (n ? (__s64)n : moved) + (site->flags & SCRIBE_SITE_NEWLINE ? 1 : 0);
	case SCRIBE_FN_STREAM_LINE:
		if (!ret)
			return -1;
		n = scribe_user_length(p, ret);
		/* a line that does not end as one does: with a NUL in it, perhaps */
		if (!n || (moved > (__s64)n && (scribe_user_u32(ret + n - 1) & 0xff) != '\n'))
			return moved;
		return n;
	case SCRIBE_FN_STREAM_SCAN:
	case SCRIBE_FN_STREAM_MESSAGE:
		return moved > 0 ? moved : -1;
	}
	return -1;
}

/* Are the calls of a description's stream counted, by probes or by the program? */
SCRIBE_GLOBAL int scribe_stream_counted(struct scribe_thread *t, struct scribe_proc *p, __u64 file)
{
	struct scribe_slot *s;

	if (!t || !p || !file)
		return 0;
	if (scribe_counts_calls())
		return 1;
	s = scribe_lib_slot_at(scribe_stream_known(t, p, file, scribe_proof_at(file)));
	return s && s->kind == SCRIBE_KIND_STDIO && (s->flags & SCRIBE_SF_CALLS) &&
	       scribe_calls_counted(p, s);
}

/* What a stream's call was, into calls->op. False: it is not counted. */
static __always_inline bool scribe_stream_meaning(struct scribe_proc *p, struct scribe_calls *calls,
						  const struct scribe_site *site, __u64 file, __u64 ret)
{
	struct scribe_call *c = &calls->layer[SCRIBE_LAYER_STDIO];
	struct scribe_lib_op *op = &calls->op;
	__s64 at, bytes;

	switch (site->fn) {
	case SCRIBE_FN_STREAM_OPEN:
		return false; /* the system call inside has been counted */
	case SCRIBE_FN_STREAM_FDOPEN:
		op->what = SCRIBE_LIB_REOPEN;
		return true;
	case SCRIBE_FN_STREAM_FLUSH:
		op->what = SCRIBE_LIB_FLUSH;
		/* its time is its system calls' where those are counted */
		op->op_class = scribe_counts_calls() ? SCRIBE_OP_WRITE : SCRIBE_OP_NONE;
		return true;
	case SCRIBE_FN_STREAM_SEEK:
		op->what = SCRIBE_LIB_SEEK;
		return !(site->flags & SCRIBE_SITE_STATUS && (__s32)ret != 0);
	}
	at = scribe_stream_at(c->arg[0], file);
	bytes = scribe_stream_bytes(p, c, site, ret, at);
	if (bytes < 0)
		return false;
	op->what = SCRIBE_LIB_DATA;
	op->op_class = site->op & 1;
	op->bytes = bytes;
	op->offset = at >= bytes ? at - bytes : -1;
	return true;
}

/* The record of the call's stream, as a handle in calls->fresh. False: there is none that counts. */
static __always_inline bool scribe_stream_handle(struct scribe_thread *t, struct scribe_proc *p,
						 struct scribe_calls *calls, const struct scribe_site *site,
						 __u64 file)
{
	struct scribe_slot *s;

	if (site->fn == SCRIBE_FN_STREAM_MESSAGE && !scribe_stream_counted(t, p, file))
		return false;
	__builtin_memset(&calls->fresh, 0, sizeof(calls->fresh));
	calls->fresh.slot = scribe_stream_slot(t, p, file);
	s = scribe_lib_slot_at(calls->fresh.slot);
	if (!s)
		return false;
	calls->fresh.generation = s->generation;
	/* not when that has cost too much and its system calls count */
	if ((site->flags & SCRIBE_SITE_COUNTS) && !((s->flags & SCRIBE_SF_CALLS) && scribe_calls_counted(p, s)))
		return false;
	return true;
}

static __always_inline int scribe_stdio_end(struct scribe_calls *calls, __u64 ret)
{
	struct scribe_call *c = &calls->layer[SCRIBE_LAYER_STDIO];
	struct scribe_proc *p = 0;
	struct scribe_thread *t = scribe_caller(&p);
	struct scribe_library_offsets *im;
	struct scribe_site *site;
	__u64 file;

	if (!t || !p)
		return 0;
	t->stream_open = 0;
	site = scribe_site_at(c->at);
	im = site ? scribe_library_offsets_at(site->image) : 0;
	if (!im)
		return 0;
	scribe_op_begin(&calls->op, c->start_ns, bpf_ktime_get_ns());
	file = scribe_stream_file(im, site->fn <= SCRIBE_FN_STREAM_FDOPEN ? ret : c->arg[0]);
	if (!file || (site->fn == SCRIBE_FN_STREAM_FLUSH && (__s32)ret != 0))
		return 0;
	if (!scribe_stream_handle(t, p, calls, site, file) || !scribe_stream_meaning(p, calls, site, file, ret))
		return 0;
	scribe_lib_on(t, p, &calls->fresh, &calls->op);
	if (calls->op.what == SCRIBE_LIB_DATA) {
		struct scribe_slot *s = scribe_lib_slot_at(calls->fresh.slot);

		if (s)
			__sync_fetch_and_add(&s->ahead[calls->op.op_class & 1], (__s64)calls->op.bytes);
	}
	return 0;
}

/* Entry: what only stdio's calls need to keep. */
static __always_inline void scribe_stdio_begin(struct scribe_thread *t, struct scribe_proc *p,
					       struct scribe_call *c, const struct scribe_site *site,
					       const struct scribe_library_offsets *im)
{
	__u64 file;

	if (site->fn == SCRIBE_FN_STREAM_OPEN) {
		t->stream_open = scribe_counts_calls() ? 2 : 1;
		return;
	}
	if (site->implied)
		c->arg[0] = c->base + im->std_at[(site->implied - 1) & 3];
	if (site->fn < SCRIBE_FN_STREAM_SEEK)
		return;
	file = scribe_stream_file(im, c->arg[0]);
	/* now: the system calls inside are not to count beside it */
	if (file && scribe_counts_calls())
		scribe_stream_slot(t, p, file);
	if (site->fn >= SCRIBE_FN_STREAM_STRING)
		c->inner = scribe_stream_at(c->arg[0], file);
}

static __always_inline void scribe_guard_count(void)
{
	__u32 zero = 0;
	__u64 *n = bpf_map_lookup_elem(&scribe_guard, &zero);

	if (n)
		(*n)++;
}

#endif
