// SPDX-License-Identifier: BSD-3-Clause
/*
 * Where the probes on libraries stand: places of each file on the command line, how
 * many of them the kernel emulates, and the names of the others, which it
 * single-steps. Reads files, attaches nothing.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "uprobes/elf/library_offsets.h"
#include "uprobes/elf/sites.h"

static void print_places(const struct scribe_elf *elf, const struct scribe_library *l, const char *path)
{
	struct scribe_library_offsets image;
	struct scribe_plan plan;
	size_t emulated = 0;

	scribe_library_offsets_read(elf, l->layer, &image);
	if (scribe_plan_make(elf, l, &image, &plan) < 0)
		return;
	for (size_t i = 0; i < plan.n; i++)
		emulated += plan.at[i].emulated;
	printf("%s: %s: %zu places, %zu emulated (%.0f %%)\n", path, l->name, plan.n, emulated,
	       plan.n ? 100.0 * (double)emulated / (double)plan.n : 0);
	for (size_t i = 0; i < plan.n; i++)
		if (!plan.at[i].emulated)
			printf("\tsingle-stepped: %s\n", plan.at[i].probe->symbol);
	scribe_plan_clear(&plan);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		struct scribe_err err = {0};
		struct scribe_elf *elf = NULL;
		int fd = open(argv[i], O_RDONLY | O_CLOEXEC);

		if (fd < 0 || scribe_elf_open(fd, argv[i], &elf, &err) < 0) {
			fprintf(stderr, "places: %s: %s\n", argv[i], fd < 0 ? "cannot be opened" : err.text);
			return 1;
		}
		close(fd);
		for (size_t k = 0; k < scribe_nlibraries; k++)
			if (scribe_library_in(elf, &scribe_libraries[k]))
				print_places(elf, &scribe_libraries[k], argv[i]);
		scribe_elf_free(elf);
	}
	return 0;
}
