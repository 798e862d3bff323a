// SPDX-License-Identifier: BSD-3-Clause
/*
 * Whether somebody else probes the instructions that our probes of data calls stand at: asked of
 * the kernel's own links, each time anew. Must not know: processes, names, logs.
 */
#include "uprobes/attach/alone.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "bpf/user/map_calls.h"
#include "uprobes/wire.h"

#define READ_MAX 4096u /* of places at once; 8 bytes each */

/* Number of a program among the kernel's, 0: not known. */
static uint32_t number_of(int program)
{
	struct bpf_prog_info info = {0};
	uint32_t bytes = sizeof(info);

	return program >= 0 && bpf_obj_get_info_by_fd(program, &info, &bytes) == 0 ? info.id : 0;
}

/* Among all places that are alone, as the kernel lists them now. Negative: it cannot be asked. */
static int list_open(int program)
{
	int link = program < 0 ? -ENOTSUP : bpf_link_create(program, 0, BPF_TRACE_ITER, NULL), list;

	if (link < 0)
		return link;
	list = bpf_iter_create(link);
	close(link);
	return list;
}

static void mark(int sites, uint32_t image, uint32_t site,
		 const struct scribe_probe_byte *byte, size_t n, bool *alone)
{
	struct scribe_site s;

	if (scribe_map_lookup(sites, &site, &s) || s.image != image)
		return;
	for (size_t i = 0; i < n; i++)
		alone[i] |= byte[i].vaddr == s.vaddr;
}

bool scribe_places_are_alone(const struct scribe_alone_of *of, uint32_t image, const struct scribe_probe_byte *byte,
			     size_t n)
{
	static struct scribe_alone stands[READ_MAX / sizeof(struct scribe_alone)];
	bool alone[SCRIBE_PROBE_BYTES_MAX] = {false};
	uint32_t own = number_of(of->program);
	int list = own ? list_open(of->list) : -1;
	ssize_t got;

	if (list < 0)
		return false;
	while ((got = read(list, stands, sizeof(stands))) > 0 && got % (ssize_t)sizeof(stands[0]) == 0)
		for (size_t i = 0; i < (size_t)got / sizeof(stands[0]); i++)
			if (stands[i].program == own)
				mark(of->sites, image, stands[i].site, byte, n, alone);
	close(list);
	return got == 0 && n <= SCRIBE_PROBE_BYTES_MAX && !memchr(alone, false, n);
}
