/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs at the functions of the system calls. Private to bpf/. */
#ifndef BPF_USER_FENTRY_H
#define BPF_USER_FENTRY_H

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stdbool.h>

/* Has this kernel links to many functions, and a function for each call that is looked at? */
bool scribe_fentry_fits(const struct btf *btf);
/* Make an object's program one for all these functions, at their begin or end. */
int scribe_fentry_prepare(struct bpf_program *program, bool at_exit);
/* One link to all of them; negative: an error of the kernel's. */
int scribe_fentry_attach(int fd, bool at_exit);

#endif
