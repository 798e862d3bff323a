// SPDX-License-Identifier: BSD-3-Clause
/* Bytes beneath probes. Must not know: BPF, processes. */
#include "uprobes/elf/original_bytes.h"

#include <errno.h>
#include <stdlib.h>

static bool is_covered(const struct scribe_site *s)
{
	return s->fn == SCRIBE_FN_MPI_DATA || s->fn == SCRIBE_FN_MPI_TYPE_SIZE;
}

int scribe_original_put(struct scribe_original_bytes *c, const struct scribe_original_byte *byte)
{
	struct scribe_original_byte *more = realloc(c->at, (c->n + 1) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	c->at = more;
	c->at[c->n++] = *byte;
	return 0;
}

void scribe_original_add(struct scribe_original_bytes *c, const struct scribe_plan *plan, uint32_t image)
{
	for (size_t i = 0; i < plan->n; i++) {
		const struct scribe_planned *p = &plan->at[i];
		const struct scribe_original_byte one = {.image = image, .byte = {p->site.vaddr, p->byte}};

		if (is_covered(&p->site) && p->has_byte && scribe_original_put(c, &one) < 0)
			return;
	}
}

size_t scribe_original_of(const struct scribe_original_bytes *c, uint32_t image,
			 struct scribe_probe_byte ret_byte[SCRIBE_PROBE_BYTES_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < c->n && n < SCRIBE_PROBE_BYTES_MAX; i++)
		if (c->at[i].image == image)
			ret_byte[n++] = c->at[i].byte;
	return n;
}
