/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The interposed names: MPI_Init and MPI_Init_thread in C, as PMPI_ for bindings that skip the profiling layer,
 * and in Fortran. Each calls the next definition, so that other tools keep working. Must not know what the
 * runtime does.
 */
#include <stddef.h>

#include "runtime/client/mpi/client.h"
#include "runtime/client/mpi/mpi_abi.h"

#define EXPORT __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

enum { NO_MPI = 16 }; /* cannot happen: no next definition */

static int call_init(const char *name, const void *caller, int *argc, char ***argv)
{
	int (*next)(int *, char ***) = (int (*)(int *, char ***))scribe_mpi_next(name, caller);
	int rc;

	if (!next)
		return NO_MPI;
	scribe_client_enter();
	rc = next(argc, argv);
	scribe_client_leave(rc == 0);
	return rc;
}

static int call_init_thread(const char *name, const void *caller, int *argc, char ***argv, int required, int *provided)
{
	int (*next)(int *, char ***, int, int *) = (int (*)(int *, char ***, int, int *))scribe_mpi_next(name, caller);
	int rc;

	if (!next)
		return NO_MPI;
	scribe_client_enter();
	rc = next(argc, argv, required, provided);
	scribe_client_leave(rc == 0);
	return rc;
}

static void call_init_f(const char *name, const void *caller, int *ierr)
{
	void (*next)(int *) = (void (*)(int *))scribe_mpi_next(name, caller);

	if (!next) {
		if (ierr)
			*ierr = NO_MPI;
		return;
	}
	scribe_client_enter();
	next(ierr);
	scribe_client_leave(1);
}

static void call_init_thread_f(const char *name, const void *caller, int *required, int *provided, int *ierr)
{
	void (*next)(int *, int *, int *) = (void (*)(int *, int *, int *))scribe_mpi_next(name, caller);

	if (!next) {
		if (ierr)
			*ierr = NO_MPI;
		return;
	}
	scribe_client_enter();
	next(required, provided, ierr);
	scribe_client_leave(1);
}

#define INIT_C(name) \
	EXPORT int name(int *argc, char ***argv); \
	EXPORT int name(int *argc, char ***argv) \
	{ \
		return call_init(#name, CALLER, argc, argv); \
	}
#define INIT_THREAD_C(name) \
	EXPORT int name(int *argc, char ***argv, int required, int *provided); \
	EXPORT int name(int *argc, char ***argv, int required, int *provided) \
	{ \
		return call_init_thread(#name, CALLER, argc, argv, required, provided); \
	}
#define INIT_F(name) \
	EXPORT void name(int *ierr); \
	EXPORT void name(int *ierr) \
	{ \
		call_init_f(#name, CALLER, ierr); \
	}
#define INIT_THREAD_F(name) \
	EXPORT void name(int *required, int *provided, int *ierr); \
	EXPORT void name(int *required, int *provided, int *ierr) \
	{ \
		call_init_thread_f(#name, CALLER, required, provided, ierr); \
	}

/*
 * AddressSanitizer calls this, and ends programs where its library is not loaded first. Ours call nothing that
 * it must see before. ASAN_OPTIONS overrides it.
 */
EXPORT const char *__asan_default_options(void);
EXPORT const char *__asan_default_options(void)
{
	return "verify_asan_link_order=0";
}

INIT_C(MPI_Init)
INIT_C(PMPI_Init)
INIT_THREAD_C(MPI_Init_thread)
INIT_THREAD_C(PMPI_Init_thread)
/* Every spelling of Fortran compilers, and the mpi_f08 module's. */
INIT_F(mpi_init)
INIT_F(mpi_init_)
INIT_F(mpi_init__)
INIT_F(MPI_INIT)
INIT_F(mpi_init_f08_)
INIT_THREAD_F(mpi_init_thread)
INIT_THREAD_F(mpi_init_thread_)
INIT_THREAD_F(mpi_init_thread__)
INIT_THREAD_F(MPI_INIT_THREAD)
INIT_THREAD_F(mpi_init_thread_f08_)
