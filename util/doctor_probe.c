// SPDX-License-Identifier: BSD-3-Clause
/*
 * Small bpf() calls that tell what this kernel gives this user. Straight system
 * calls, so that the log tools need no BPF library.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/doctor_parts.h"

#define BTF_MAX_BYTES (64u << 20)

static int bpf(int command, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, command, attr, sizeof(*attr));
}

/* "return 0" */
static int load(enum bpf_prog_type type, enum bpf_attach_type attach, uint32_t btf_id)
{
	static const struct bpf_insn code[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = type;
	attr.insns = (uint64_t)(uintptr_t)code;
	attr.insn_cnt = 2;
	attr.license = (uint64_t)(uintptr_t) "GPL";
	attr.expected_attach_type = attach;
	attr.attach_btf_id = btf_id;
	memcpy(attr.prog_name, "scribe_probe", 13);
	fd = bpf(BPF_PROG_LOAD, &attr);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static int map(enum bpf_map_type type, uint32_t key, uint32_t value, uint32_t entries, uint32_t flags)
{
	union bpf_attr attr;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = type;
	attr.key_size = key;
	attr.value_size = value;
	attr.max_entries = entries;
	attr.map_flags = flags;
	fd = bpf(BPF_MAP_CREATE, &attr);
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* Bytes behind a type of the kernel's BTF. */
static size_t btf_tail(const struct btf_type *t)
{
	size_t n = BTF_INFO_VLEN(t->info);

	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case 17: /* DECL_TAG */
		return 4;
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_DATASEC:
	case 19: /* ENUM64 */
		return n * 12;
	case BTF_KIND_ENUM:
	case BTF_KIND_FUNC_PROTO:
		return n * 8;
	default:
		return 0;
	}
}

static uint32_t btf_search(const char *btf, size_t bytes, unsigned kind, const char *name)
{
	const struct btf_header *h = (const void *)btf;
	size_t at, end, strings;
	uint32_t id = 1;

	if (bytes < sizeof(*h) || h->magic != BTF_MAGIC)
		return 0;
	at = h->hdr_len + h->type_off;
	end = at + h->type_len;
	strings = h->hdr_len + h->str_off;
	if (end > bytes || strings + h->str_len > bytes)
		return 0;
	for (; at + sizeof(struct btf_type) <= end; id++) {
		const struct btf_type *t = (const void *)(btf + at);

		if (BTF_INFO_KIND(t->info) == kind && t->name_off < h->str_len &&
		    !strncmp(btf + strings + t->name_off, name, h->str_len - t->name_off))
			return id;
		at += sizeof(*t) + btf_tail(t);
	}
	return 0;
}

/* The kernel's number of a type; 0: unknown. */
static uint32_t btf_id(unsigned kind, const char *name)
{
	int fd = open("/sys/kernel/btf/vmlinux", O_RDONLY | O_CLOEXEC);
	char *btf = NULL;
	struct stat st;
	size_t n = 0;
	uint32_t id;

	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0 && st.st_size < BTF_MAX_BYTES)
		btf = malloc((size_t)st.st_size);
	while (btf && n < (size_t)st.st_size) {
		ssize_t got = read(fd, btf + n, (size_t)st.st_size - n);

		if (got <= 0)
			break;
		n += (size_t)got;
	}
	id = btf ? btf_search(btf, n, kind, name) : 0;
	free(btf);
	if (fd >= 0)
		close(fd);
	return id;
}

static int load_tracing(enum bpf_attach_type attach, unsigned kind, const char *name)
{
	uint32_t id = btf_id(kind, name);

	return id ? load(BPF_PROG_TYPE_TRACING, attach, id) : -ENOENT;
}

int scribe_probe(enum scribe_probe what)
{
	switch (what) {
	case SCRIBE_PROBE_RAW_TP:
		return load(BPF_PROG_TYPE_RAW_TRACEPOINT, 0, 0);
	case SCRIBE_PROBE_TP_BTF:
		return load_tracing(BPF_TRACE_RAW_TP, BTF_KIND_TYPEDEF, "btf_trace_sys_enter");
	case SCRIBE_PROBE_UPROBE:
		return load(BPF_PROG_TYPE_KPROBE, 0, 0);
	case SCRIBE_PROBE_FENTRY:
		return load_tracing(BPF_TRACE_FENTRY, BTF_KIND_FUNC, "vfs_read");
	case SCRIBE_PROBE_MMAP_ARRAY:
		return map(BPF_MAP_TYPE_ARRAY, 4, 1024, 16, BPF_F_MMAPABLE);
	case SCRIBE_PROBE_RINGBUF:
		return map(BPF_MAP_TYPE_RINGBUF, 0, 0, 1u << 16, 0);
	}
	return -EINVAL;
}
