/* SPDX-License-Identifier: BSD-3-Clause */
/* An ELF file, read; and the same bytes as the answer of whoever reads ELF files. */
#include "tests/fuzz/fuzz.h"
#include "uprobes/elf/analysis.h"

static void take(const struct scribe_elf_analysis *s, uint64_t bytes, bool must)
{
	struct scribe_plan plan;

	if (!scribe_elf_analysis_check(s, bytes)) {
		if (must)
			abort();
		return;
	}
	for (unsigned k = 0; k < s->nlibraries; k++) {
		if (scribe_elf_analysis_plan(s, k, &plan) < 0)
			abort();
		for (size_t i = 0; i < plan.n; i++)
			if (plan.at[i].offset >= bytes || plan.at[i].semaphore >= bytes)
				abort();
		scribe_plan_clear(&plan);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct scribe_elf_analysis s;
	const void *const pieces[] = {data};

	if (size && scribe_elf_analyse(fuzz_file(pieces, &size, 1), &s) == 0 && size > 1)
		take(&s, size, true); /* an honest answer is taken */
	memset(&s, 0, sizeof(s));
	memcpy(&s, data, size < sizeof(s) ? size : sizeof(s));
	take(&s, 1 << 20, false);
	return 0;
}
