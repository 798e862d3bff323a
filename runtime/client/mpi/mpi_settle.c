/* SPDX-License-Identifier: BSD-3-Clause */
/* Determines the ABI of the MPI library by its objects and its version text. Runs once, after MPI_Init. */
#include <string.h>

#include "runtime/client/mpi/mpi_abi.h"

#define VERSION_MAX 8192 /* MPI_MAX_LIBRARY_VERSION_STRING, the largest of any */

static const int mpich_numbers[SCRIBE_MPI_OBJECT_COUNT] = {
#define SCRIBE_X(name, symbol, number) number,
	SCRIBE_MPI_OBJECTS(SCRIBE_X)
#undef SCRIBE_X
};

/* Names in the version texts of the MPICH ABI initiative. */
static const char *const mpich_family[] = {"MPICH", "Intel(R) MPI", "MVAPICH", "ParaStation MPI"};

static bool is_mpich(const struct scribe_mpi *m)
{
	static char text[VERSION_MAX + 1]; /* static: the stack may be small */
	int len = 0;

	if (((int (*)(char *, int *))m->call[SCRIBE_MPI_Get_library_version])(text, &len) != 0)
		return false;
	for (size_t i = 0; i < sizeof(mpich_family) / sizeof(mpich_family[0]); i++)
		if (strstr(text, mpich_family[i]))
			return true;
	return false;
}

bool scribe_mpi_detect_abi(struct scribe_mpi *m, void *const *objects)
{
	if (objects) {
		/* Only Open MPI exports these; MPI_IN_PLACE and others are fixed numbers in both ABIs. */
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
