// SPDX-License-Identifier: BSD-3-Clause
/* Prints docs/probes.md from the probe tables. A build tool (target probes_doc), not installed. */
#include <stdio.h>
#include <string.h>

#include "logfmt/counters/module.h"
#include "uprobes/tables/probes.h"

static void modules(uint64_t bits)
{
	const char *comma = "";

	for (int i = 0; i < SCRIBE_MAX_MODULES; i++) {
		if (!(bits & 1ull << i) || !scribe_module_by_id(i))
			continue;
		printf("%s%s", comma, scribe_module_by_id(i)->name);
		comma = ", ";
	}
}

static const char *when(const struct scribe_probe *p)
{
	if (p->flags & SCRIBE_POINT_AROUND)
		return "around another call";
	return p->flags & SCRIBE_POINT_INNER ? "inside another call" : "always";
}

int main(void)
{
	printf("# Probes\n\n"
	       "Which functions of which library are probed, and what they count. Made from the\n"
	       "tables in `uprobes/tables/*.c` (target `probes_doc`); a line there is a probe more.\n"
	       "A symbol that a library does not have is left out; two symbols at one address are\n"
	       "one probe. MPI functions are also looked for by their `PMPI_` names.\n");
	for (size_t i = 0; i < scribe_nlibraries; i++) {
		const struct scribe_library *l = &scribe_libraries[i];

		printf("\n## %s\n\nModules ", l->name);
		modules(l->modules);
		printf("; known by `%s`", l->marker[0]);
		if (l->marker[1])
			printf(" or `%s`", l->marker[1]);
		printf("; before the start looked for as `%s`.\n\n| counts | attached | symbols |\n|---|---|---|\n",
		       l->pattern);
		for (size_t k = 0; k < *l->n; k++) {
			const struct scribe_probe *p = &l->probes[k], *before = k ? p - 1 : NULL;

			/* Successive rows that count the same share a line. */
			if (before && !strcmp(p->counter, before->counter) && when(p) == when(before))
				printf(" `%s`", p->symbol);
			else
				printf("%s| %s | %s | `%s`", before ? " |\n" : "", p->counter, when(p), p->symbol);
		}
		puts(" |");
	}
	return 0;
}
