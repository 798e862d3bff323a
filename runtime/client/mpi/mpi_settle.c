/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which handle convention the MPI library found has: decided by the objects it exports and by what
 * it says of itself. An unknown one is left alone. Handles, constants and functions go to struct
 * scribe_mpi; nothing is owned. Runs once, after MPI_Init, on its thread.
 */
#include <string.h>

#include "runtime/client/mpi/mpi_abi.h"

#define VERSION_MAX 8192 /* MPI_MAX_LIBRARY_VERSION_STRING, the largest of any */

static const int mpich_numbers[SCRIBE_MPI_OBJECT_COUNT] = {
#define SCRIBE_X(name, symbol, number) number,
	SCRIBE_MPI_OBJECTS(SCRIBE_X)
#undef SCRIBE_X
};

/* Libraries that follow the MPICH ABI initiative, as they name themselves. */
static const char *const mpich_family[] = {"MPICH", "Intel(R) MPI", "MVAPICH", "ParaStation MPI"};

static bool is_mpich(const struct scribe_mpi *m)
{
	static char text[VERSION_MAX + 1]; /* static: this runs once, on stacks of any size */
	int len = 0;

	if (((int (*)(char *, int *))m->call[SCRIBE_MPI_Get_library_version])(text, &len) != 0)
		return false;
	for (size_t i = 0; i < sizeof(mpich_family) / sizeof(mpich_family[0]); i++)
		if (strstr(text, mpich_family[i]))
			return true;
	return false;
}

/*
 * `objects` NULL: those of Open MPI were not all found. MPI_IN_PLACE and the like are fixed numbers
 * in both ABIs.
 */
bool scribe_mpi_settle(struct scribe_mpi *m, void *const *objects)
{
	if (objects) {
		m->kind = SCRIBE_MPI_OPENMPI;
		m->verbs = &scribe_mpi_verbs_openmpi;
		m->status_ignore = NULL;
		m->in_place = (void *)1;
		for (int i = 0; i < SCRIBE_MPI_OBJECT_COUNT; i++)
			m->object[i].p = objects[i];
		return true;
	}
	if (!is_mpich(m))
		return false;
	m->kind = SCRIBE_MPI_MPICH;
	m->verbs = &scribe_mpi_verbs_mpich;
	m->status_ignore = (void *)1;
	m->in_place = (void *)-1;
	for (int i = 0; i < SCRIBE_MPI_OBJECT_COUNT; i++)
		m->object[i].i = mpich_numbers[i];
	return true;
}
