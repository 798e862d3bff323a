// SPDX-License-Identifier: BSD-3-Clause
/*
 * The kernel's functions of the system calls that are looked at, and one link of a
 * program to all of them (BPF_TRACE_FENTRY_MULTI, seen in Linux 7.3). Numbers come from
 * the kernel's types, since headers and libbpf here may be older. Must not know what
 * the programs do.
 */
#include "bpf/user/fentry.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf/user/syscall_table.h"

#define FUNCTIONS_MAX 128
#define NAME_MAX_BYTES 48

/* Of the running kernel, which does not change: looked up once. */
static struct {
	bool known;
	int entry, exit; /* enum bpf_attach_type, 0: it has none */
	unsigned nids, nexit_ids;
	uint32_t ids[FUNCTIONS_MAX];      /* of the functions, ascending */
	uint32_t exit_ids[FUNCTIONS_MAX]; /* of those that return: behind others the kernel takes no program */
} kernel;

struct wanted {
	unsigned n;
	bool found[FUNCTIONS_MAX], may_lack[FUNCTIONS_MAX];
	char name[FUNCTIONS_MAX][NAME_MAX_BYTES];
};

static int attach_type(const struct btf *btf, const char *name)
{
	int id = btf__find_by_name_kind(btf, "bpf_attach_type", BTF_KIND_ENUM);
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;

	for (int i = 0; t && i < btf_vlen(t); i++)
		if (!strcmp(btf__name_by_offset(btf, btf_enum(t)[i].name_off), name))
			return btf_enum(t)[i].val;
	return 0;
}

static struct wanted *wanted_names(void)
{
	struct wanted *w = calloc(1, sizeof(*w));
	char room[NAME_MAX_BYTES];
	const char *name;

	while (w && w->n < FUNCTIONS_MAX &&
	       (name = scribe_syscalls_function(w->n, room, sizeof(room), &w->may_lack[w->n])))
		snprintf(w->name[w->n++], NAME_MAX_BYTES, "%s", name);
	return w;
}

/* Looking each up by name would walk all types each time. */
static void look_up(const struct btf *btf)
{
	struct wanted *w = wanted_names();
	uint32_t ntypes = btf__type_cnt(btf);

	for (uint32_t id = 1; w && id < ntypes; id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);
		const char *name = btf_is_func(t) ? btf__name_by_offset(btf, t->name_off) : "";

		if (!strstr(name, "_sys_"))
			continue;
		for (unsigned i = 0; i < w->n; i++) {
			if (w->found[i] || strcmp(name, w->name[i]))
				continue;
			w->found[i] = true;
			kernel.ids[kernel.nids++] = id;
			if (!strstr(name, "_sys_exit"))
				kernel.exit_ids[kernel.nexit_ids++] = id;
		}
	}
	/* A call that would not be seen cannot be told from one that is not made. */
	for (unsigned i = 0; w && i < w->n; i++)
		if (!w->found[i] && !w->may_lack[i])
			kernel.nids = 0;
	free(w);
}

static void know(const struct btf *btf)
{
	if (kernel.known)
		return;
	kernel.known = true;
	kernel.entry = attach_type(btf, "BPF_TRACE_FENTRY_MULTI");
	kernel.exit = attach_type(btf, "BPF_TRACE_FEXIT_MULTI");
	if (kernel.entry && kernel.exit)
		look_up(btf);
}

/* Absent where the kernel is built without: then it is as good as on. */
static bool functions_can_be_hooked(void)
{
	FILE *f = fopen("/proc/sys/kernel/ftrace_enabled", "re");
	int on = 1;

	if (f && fscanf(f, "%d", &on) != 1)
		on = 1;
	if (f)
		fclose(f);
	return on;
}

bool scribe_fentry_fits(const struct btf *btf)
{
	know(btf);
	return kernel.nids && functions_can_be_hooked();
}

int scribe_fentry_prepare(struct bpf_program *program, bool at_exit)
{
	int rc = bpf_program__set_type(program, BPF_PROG_TYPE_TRACING);

	return rc ? rc : bpf_program__set_expected_attach_type(program, at_exit ? kernel.exit : kernel.entry);
}

/* As in linux/bpf.h, which may be older than the kernel. */
struct link_create_multi {
	uint32_t prog_fd, target_fd, attach_type, flags;
	uint64_t ids, cookies;
	uint32_t count, pad;
};

int scribe_fentry_attach(int fd, bool at_exit)
{
	struct link_create_multi attr = {.prog_fd = (uint32_t)fd};
	int link;

	if (!kernel.known) { /* an adopted program */
		struct btf *btf = btf__load_vmlinux_btf();

		if (!btf)
			return -errno;
		know(btf);
		btf__free(btf);
	}
	attr.attach_type = (uint32_t)(at_exit ? kernel.exit : kernel.entry);
	attr.ids = (uint64_t)(uintptr_t)(at_exit ? kernel.exit_ids : kernel.ids);
	attr.count = at_exit ? kernel.nexit_ids : kernel.nids;
	link = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
	return link < 0 ? -errno : link;
}
