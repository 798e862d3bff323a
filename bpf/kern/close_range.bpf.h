/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BPF_KERN_CLOSE_RANGE_BPF_H
#define BPF_KERN_CLOSE_RANGE_BPF_H

#include "bpf/kern/syscall_fd.bpf.h"

#define SCRIBE_CLOSE_RANGE_CLOEXEC 4
/* limit per call, 64 per word; above the default fs.nr_open */
#define SCRIBE_CLOSE_WORDS  128
#define SCRIBE_CLOSE_ROUNDS 128

SCRIBE_GLOBAL int scribe_close_one(struct scribe_thread *t, struct scribe_proc *p, __u32 fd, __u64 is_open)
{
	bool last_ref;
	__u64 file;
	__u32 slot;

	if (!t || !p || !is_open || fd < t->list.first || fd > t->list.count)
		return 0;
	file = scribe_fd_file(bpf_get_current_task_btf(), fd);
	if (!file)
		return 0;
	last_ref = scribe_file_last_ref(file);
	slot = scribe_resolve(t, p, file, false);
	if (slot != SCRIBE_SKIP_SLOT && slot != SCRIBE_NO_SLOT)
		scribe_meta_on(t, p, SCRIBE_AT(slot, t->c_generation), file);
	if (last_ref)
		scribe_desc_gone(t, file);
	return 0;
}

/* 1: end of the table or range. */
SCRIBE_GLOBAL int scribe_close_word(struct scribe_thread *t, struct scribe_proc *p, __u32 word)
{
	struct fdtable *fdt = bpf_get_current_task_btf()->files->fdt;
	__u64 first = word * 64ull, bits = 0;

	if (!t || !p || first >= fdt->max_fds || first > t->list.count)
		return 1;
	bpf_probe_read_kernel(&bits, sizeof(bits), (void *)((__u64)fdt->open_fds + word * 8ull));
	/* no branch on each bit, because the verifier follows both sides */
	for (__u32 i = 0; bits && i < 64; i++)
		scribe_close_one(t, p, first + i, bits >> i & 1);
	return 0;
}

SCRIBE_GLOBAL int scribe_close_words(struct scribe_thread *t, struct scribe_proc *p, __u32 word)
{
	for (__u32 i = 0; i < SCRIBE_CLOSE_WORDS; i++) {
		if (scribe_close_word(t, p, word + i))
			return 1;
	}
	return 0;
}

/* Descriptors beyond the limit count as lost. */
static __always_inline int scribe_close_range(struct scribe_thread *t, struct scribe_proc *p, __u32 first, __u32 last)
{
	__u32 word = first / 64;

	if (!t || !p)
		return 0;
	t->op.start_ns = t->op.end_ns = bpf_ktime_get_ns();
	scribe_meta_set(t, SCRIBE_META_CLOSE, SCRIBE_EXT_CLOSES);
	t->list = (struct scribe_list){.first = first, .count = last};
	for (__u32 i = 0; i < SCRIBE_CLOSE_ROUNDS; i++) {
		if (scribe_close_words(t, p, word + i * SCRIBE_CLOSE_WORDS))
			return 0;
	}
	scribe_count(p, SCRIBE_L_DROP_NO_SLOT);
	return 0;
}

#endif
