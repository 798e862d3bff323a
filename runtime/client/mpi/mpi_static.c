/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the MPI library at link time, for libioscribe.a: the PMPI_ names are
 * ordinary references, which the MPI library behind us on the command line
 * satisfies. Its counterpart for the preloaded library is mpi_find.c.
 */
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "runtime/client/mpi/mpi_abi.h"

#define SCRIBE_X(name) void PMPI_##name(void);
SCRIBE_MPI_CALLS(SCRIBE_X)
#undef SCRIBE_X

void PMPI_Init(void);

/* There only with Open MPI: weak, and strings stand for the symbols' names. */
#define SCRIBE_X(name, symbol, number) extern char weak_##name[] __asm__(symbol) __attribute__((weak));
SCRIBE_MPI_OBJECTS(SCRIBE_X)
#undef SCRIBE_X

/* Is the address `arg` one of the preloaded library? */
static int is_in_preloaded(struct dl_phdr_info *info, size_t size, void *arg)
{
	uintptr_t at = (uintptr_t)arg;

	(void)size;
	if (!info->dlpi_name || !strstr(info->dlpi_name, "/libioscribe.so"))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];

		if (h->p_type == PT_LOAD && at - info->dlpi_addr - h->p_vaddr < h->p_memsz)
			return 1;
	}
	return 0;
}

bool scribe_mpi_find(struct scribe_mpi *ret_m)
{
	static const scribe_mpi_fn calls[SCRIBE_MPI_CALL_COUNT] = {
#define SCRIBE_X(name) PMPI_##name,
		SCRIBE_MPI_CALLS(SCRIBE_X)
#undef SCRIBE_X
	};
	void *objects[SCRIBE_MPI_OBJECT_COUNT] = {
#define SCRIBE_X(name, symbol, number) weak_##name,
		SCRIBE_MPI_OBJECTS(SCRIBE_X)
#undef SCRIBE_X
	};
	bool all = true;

	/*
	 * The preloaded library stands in front of a shared MPI's PMPI_Init too: one of the two is enough. An
	 * MPI inside the program itself it cannot see.
	 */
	if (dl_iterate_phdr(is_in_preloaded, (void *)(uintptr_t)PMPI_Init))
		return false;
	for (int i = 0; i < SCRIBE_MPI_CALL_COUNT; i++)
		ret_m->call[i] = calls[i];
	for (int i = 0; i < SCRIBE_MPI_OBJECT_COUNT; i++)
		all = all && objects[i];
	return scribe_mpi_settle(ret_m, all ? objects : NULL);
}
