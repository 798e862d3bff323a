/* SPDX-License-Identifier: (BSD-3-Clause OR GPL-2.0-only) */
/*
 * Which places of our links have no probe of anybody else's at the same instruction: read by an
 * iterator over the kernel's links. What cannot be told is not alone. Before Linux 6.12 a place's
 * probes are a list without a way back, its newest first: those made after ours are not seen. Must
 * not know: sites, processes.
 */
#ifndef UPROBES_KERN_ALONE_BPF_H
#define UPROBES_KERN_ALONE_BPF_H

#include "bpf/kern/compat.bpf.h"
#include "uprobes/wire.h"

#define SCRIBE_LINK_UPROBE_MULTI 12 /* enum bpf_link_type, Linux 6.6 */
#define SCRIBE_PROBES_A_PLACE    16

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct seq_file;
struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_prog_aux {
	__u32 id;
	char name[16];
};

struct bpf_prog {
	struct bpf_prog_aux *aux;
};

struct bpf_link {
	enum bpf_link_type type;
	struct bpf_prog *prog;
};

struct bpf_iter__bpf_link {
	struct bpf_iter_meta *meta;
	struct bpf_link *link;
};

struct list_head {
	struct list_head *next;
};

struct uprobe_consumer {
	struct uprobe_consumer *next; /* until 6.11 */
	struct list_head cons_node;   /* since 6.12: all of a place, and the place itself, in a circle */
};

struct uprobe {
	struct list_head consumers;
};

struct bpf_uprobe_multi_link;
struct bpf_uprobe {
	struct bpf_uprobe_multi_link *link;
	__u64 cookie;
	struct uprobe *uprobe; /* since 6.12 */
	struct uprobe_consumer consumer;
};

struct bpf_uprobe_multi_link {
	struct bpf_link link;
	__u32 cnt;
	struct bpf_uprobe *uprobes;
};

#pragma clang attribute pop

struct scribe_walk {
	struct seq_file *seq;
	unsigned long uprobes; /* address of the link's places, */
	struct bpf_prog *prog; /* its program */
	__u32 id;
};

/* Is that a probe of the same program's? Somebody else's has no link at that place that holds it. */
static __always_inline bool scribe_is_same(const struct bpf_prog *prog, unsigned long consumer)
{
	unsigned long at = consumer - bpf_core_field_offset(struct bpf_uprobe, consumer);
	struct bpf_uprobe_multi_link *link = BPF_CORE_READ((struct bpf_uprobe *)at, link);
	unsigned long first = (unsigned long)BPF_CORE_READ(link, uprobes);
	__u64 bytes = (__u64)BPF_CORE_READ(link, cnt) * bpf_core_type_size(struct bpf_uprobe);

	return BPF_CORE_READ(link, link.prog) == prog && at >= first && at - first < bytes;
}

static __always_inline bool scribe_is_alone_in_circle(const struct bpf_prog *prog, struct bpf_uprobe *u)
{
	unsigned long own = (unsigned long)u + bpf_core_field_offset(struct bpf_uprobe, consumer);
	unsigned long node = own + bpf_core_field_offset(struct uprobe_consumer, cons_node), first = node;
	unsigned long head = (unsigned long)BPF_CORE_READ(u, uprobe) + bpf_core_field_offset(struct uprobe, consumers);
	bool met = false;

	for (int i = 0; i < SCRIBE_PROBES_A_PLACE; i++) {
		node = (unsigned long)BPF_CORE_READ((struct list_head *)node, next);
		if (node == first)
			return met;
		if (node == head)
			met = true;
		else if (!scribe_is_same(prog, node - bpf_core_field_offset(struct uprobe_consumer, cons_node)))
			return false;
	}
	return false;
}

static __always_inline bool scribe_is_alone_in_list(const struct bpf_prog *prog, struct bpf_uprobe *u)
{
	unsigned long at = (unsigned long)u + bpf_core_field_offset(struct bpf_uprobe, consumer);

	for (int i = 0; i < SCRIBE_PROBES_A_PLACE; i++) {
		at = (unsigned long)BPF_CORE_READ((struct uprobe_consumer *)at, next);
		if (!at)
			return true;
		if (!scribe_is_same(prog, at))
			return false;
	}
	return false;
}

static __always_inline bool scribe_is_alone(const struct bpf_prog *prog, struct bpf_uprobe *u)
{
	if (bpf_core_field_exists(struct uprobe_consumer, cons_node))
		return bpf_core_field_exists(struct bpf_uprobe, uprobe) && scribe_is_alone_in_circle(prog, u);
	return bpf_core_field_exists(struct uprobe_consumer, next) && scribe_is_alone_in_list(prog, u);
}

static long scribe_walk_place(__u32 i, struct scribe_walk *w)
{
	struct bpf_uprobe *u = (struct bpf_uprobe *)(w->uprobes + i * bpf_core_type_size(struct bpf_uprobe));
	struct scribe_alone alone = {.program = w->id};
	__u64 cookie = BPF_CORE_READ(u, cookie);

	if (cookie >= SCRIBE_SITES_MAX || !scribe_is_alone(w->prog, u))
		return 0;
	alone.site = (__u32)cookie;
	return bpf_seq_write(w->seq, &alone, sizeof(alone)) != 0;
}

SEC("?iter/bpf_link")
int scribe_lib_alone(struct bpf_iter__bpf_link *ctx)
{
	struct bpf_link *link = ctx->link;
	struct bpf_uprobe_multi_link *multi;
	struct scribe_walk w = {.seq = ctx->meta->seq};
	struct bpf_prog *prog;
	char name[16] = "";
	__u32 n;

	if (!link || (__u32)BPF_CORE_READ(link, type) != SCRIBE_LINK_UPROBE_MULTI)
		return 0;
	prog = BPF_CORE_READ(link, prog);
	BPF_CORE_READ_INTO(&name, prog, aux, name);
	/* only a hint: whose it is its number tells */
	if (name[0] != 's' || name[1] != 'c' || name[6] != '_' || name[10] != '_' || name[11] != 'm')
		return 0;
	w.prog = prog;
	w.id = BPF_CORE_READ(prog, aux, id);
	multi = (struct bpf_uprobe_multi_link *)((unsigned long)link -
						 bpf_core_field_offset(struct bpf_uprobe_multi_link, link));
	w.uprobes = (unsigned long)BPF_CORE_READ(multi, uprobes);
	n = BPF_CORE_READ(multi, cnt);
	bpf_loop(n < SCRIBE_SITES_MAX ? n : SCRIBE_SITES_MAX, scribe_walk_place, &w, 0);
	return 0;
}

#endif
