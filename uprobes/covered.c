// SPDX-License-Identifier: BSD-3-Clause
/* Bytes beneath probes. Must not know: BPF, processes. */
#include "uprobes/covered.h"

#include <stdlib.h>

struct scribe_covered_byte {
	uint32_t image;
	struct scribe_probe_byte byte;
};

static bool is_covered(const struct scribe_site *s)
{
	return s->fn == SCRIBE_FN_MPI_DATA || s->fn == SCRIBE_FN_MPI_TYPE_SIZE;
}

void scribe_covered_add(struct scribe_covered *c, const struct scribe_elf *elf,
			const struct scribe_plan *plan, uint32_t image)
{
	for (size_t i = 0; i < plan->n; i++) {
		const struct scribe_site *s = &plan->at[i].site;
		size_t n = 0;
		const unsigned char *code = is_covered(s) ? scribe_elf_code(elf, s->vaddr, &n) : NULL;
		struct scribe_covered_byte *more;

		if (!code || !n)
			continue;
		more = realloc(c->at, (c->n + 1) * sizeof(*more));
		if (!more)
			return;
		c->at = more;
		c->at[c->n++] = (struct scribe_covered_byte){image, {s->vaddr, *code}};
	}
}

size_t scribe_covered_of(const struct scribe_covered *c, uint32_t image,
			 struct scribe_probe_byte ret_byte[SCRIBE_PROBE_BYTES_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < c->n && n < SCRIBE_PROBE_BYTES_MAX; i++)
		if (c->at[i].image == image)
			ret_byte[n++] = c->at[i].byte;
	return n;
}
