/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the program's MPI library by dynamic lookups only: without undefined MPI symbols this library loads
 * into any program. The found library's handle stays open. Must not know daemon or logs.
 */
#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#include "runtime/client/mpi/mpi_abi.h"
#include "runtime/client/process/compat.h"

#define MAPPED_MAX 8 /* per process */

static void *local_mpi; /* library, if not in the global scope */

/* Not inlined: dlsym uses its caller. */
static void *after_us(const char *name)
{
	void *volatile found = dlsym(RTLD_NEXT, name);

	return found;
}

/*
 * Its names precede ours and its libraries were searched; the loader would open and read the program to find
 * that it is loaded.
 */
static bool is_program(const Dl_info *info)
{
	Dl_info program;

	return dladdr((void *)getauxval(AT_PHDR), &program) && program.dli_fbase == info->dli_fbase;
}

/* RTLD_LOCAL plugins have an MPI outside of the global scope. */
static void *in_caller(const char *name, const void *caller)
{
	Dl_info info;
	void *handle, *found;

	if (!caller || !dladdr((void *)(uintptr_t)caller, &info) || !info.dli_fname || is_program(&info))
		return NULL;
	handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (!handle)
		return NULL;
	found = dlsym(handle, name);
	if (!found)
		dlclose(handle);
	else
		local_mpi = handle; /* keeps the library loaded */
	return found;
}

struct mapped {
	const char *path[MAPPED_MAX];
	size_t n;
};

static int note_mapped(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct mapped *seen = arg;
	const char *base = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;

	/* The loader's lock is held: only collect names here. */
	(void)size;
	if (!base || (strncmp(base, "/libmpi", 7) != 0 && !strstr(base, "mpich")))
		return 0;
	if (seen->n < MAPPED_MAX)
		seen->path[seen->n++] = info->dlpi_name;
	return 0;
}

static void *in_mapped(const char *name)
{
	struct mapped seen = {.n = 0};

	dl_iterate_phdr(note_mapped, &seen);
	for (size_t i = 0; i < seen.n; i++) {
		void *handle = dlopen(seen.path[i], RTLD_LAZY | RTLD_NOLOAD);
		void *found = handle ? dlsym(handle, name) : NULL;

		if (found) {
			local_mpi = handle;
			return found;
		}
		if (handle)
			dlclose(handle);
	}
	return NULL;
}

scribe_mpi_fn scribe_mpi_next(const char *name, const void *caller)
{
	void *found = after_us(name);

	if (!found && local_mpi)
		found = dlsym(local_mpi, name);
	if (!found)
		found = in_caller(name, caller);
	if (!found)
		found = in_mapped(name);
	return (scribe_mpi_fn)(uintptr_t)found;
}

static const char *const call_names[SCRIBE_MPI_CALL_COUNT] = {
#define SCRIBE_X(name) "PMPI_" #name,
	SCRIBE_MPI_CALLS(SCRIBE_X)
#undef SCRIBE_X
};

static const char *const object_names[SCRIBE_MPI_OBJECT_COUNT] = {
#define SCRIBE_X(name, symbol, number) symbol,
	SCRIBE_MPI_OBJECTS(SCRIBE_X)
#undef SCRIBE_X
};

bool scribe_mpi_find(struct scribe_mpi *ret_m)
{
	void *objects[SCRIBE_MPI_OBJECT_COUNT];
	bool all_objects = true;

	for (int i = 0; i < SCRIBE_MPI_CALL_COUNT; i++) {
		ret_m->call[i] = scribe_mpi_next(call_names[i], NULL);
		if (!ret_m->call[i])
			return false;
	}
	for (int i = 0; i < SCRIBE_MPI_OBJECT_COUNT; i++) {
		/*
		 * Only where the calls were found, because another MPI may be mapped. From the start of the
		 * global scope: the executable may have copies of these objects (copy relocations), which are
		 * the ones in use.
		 */
		objects[i] = dlsym(local_mpi ? local_mpi : RTLD_DEFAULT, object_names[i]);
		all_objects = all_objects && objects[i];
		if (!objects[0])
			break; /* another family */
	}
	dlerror(); /* the program must not see failed lookups */
	return scribe_mpi_detect_abi(ret_m, objects[0] && all_objects ? objects : NULL);
}
