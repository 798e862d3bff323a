/* SPDX-License-Identifier: BSD-3-Clause */
/* Verifies the programs of an object in threads, one each. */
#ifndef BPF_USER_SIDE_BY_SIDE_H
#define BPF_USER_SIDE_BY_SIDE_H

#include <bpf/libbpf.h>

/* Zero-initialised: not begun. */
struct scribe_side_by_side {
	struct scribe_verification *program;
	unsigned n;
};

/* Before the object is opened. 0 or a negative errno. */
int scribe_side_by_side_begin(struct scribe_side_by_side *s);
/* Before the object is loaded, also if not begun: what the chosen programs attach to, as libbpf's handlers find it. */
int scribe_side_by_side_targets(struct bpf_object *object);
/*
 * In each case, after the load with the result `rc`. Returns it, or the first program's error. The object's
 * descriptors are then those of the verified programs.
 */
int scribe_side_by_side_end(struct scribe_side_by_side *s, int rc);

#endif
