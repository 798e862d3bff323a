/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the MPI library at link time, for libioscribe.a: the PMPI_ names are
 * ordinary references, which the MPI library behind us on the command line
 * satisfies. Its counterpart for the preloaded library is mpi_find.c.
 */
#include <link.h>
#include <stddef.h>
#include <string.h>

#include "runtime/client/mpi_abi.h"

#define SCRIBE_X(name) void PMPI_##name(void);
SCRIBE_MPI_CALLS(SCRIBE_X)
#undef SCRIBE_X

/* There only with Open MPI: weak, and strings stand for the symbols' names. */
#define SCRIBE_X(name, symbol, number) extern char weak_##name[] __asm__(symbol) __attribute__((weak));
SCRIBE_MPI_OBJECTS(SCRIBE_X)
#undef SCRIBE_X

static int is_preloaded(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	return info->dlpi_name && strstr(info->dlpi_name, "/libioscribe.so") != NULL;
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

	/* the preloaded library stands in front of PMPI_Init too: one of the two is enough */
	if (dl_iterate_phdr(is_preloaded, NULL))
		return false;
	for (int i = 0; i < SCRIBE_MPI_CALL_COUNT; i++)
		ret_m->call[i] = calls[i];
	for (int i = 0; i < SCRIBE_MPI_OBJECT_COUNT; i++)
		all = all && objects[i];
	return scribe_mpi_settle(ret_m, all ? objects : NULL);
}
