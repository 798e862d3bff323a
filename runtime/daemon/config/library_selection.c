// SPDX-License-Identifier: BSD-3-Clause
/*
 * Which libraries' calls a configuration asks for, as bits of modules; whether they are counted by
 * probes (uprobes/) or inside the program by the preloaded library (runtime/client/wrap), and which
 * file that one is. Pure functions of a struct scribe_config. Runs in the daemon, main thread.
 */
#include <stdio.h>
#include <string.h>

#include "logfmt/counters/built.h"
#include "logfmt/counters/records.h"
#include "logfmt/rules/lib_rules.h"
#include "runtime/daemon/config/library_selection.h"

/* Those whose calls move much by probes; and streams, where programs count these themselves. */
static bool is_auto(const char *list)
{
	return !strcmp(list, "auto");
}

/*
 * The list is words separated by commas or blanks. "all" is everything that was built; "auto"
 * everything but stdio, whose calls are too many for probes.
 */
uint64_t scribe_libs_modules(const char *list)
{
	static const struct {
		const char *name;
		uint64_t modules;
	} known[] = {
		/* what this build leaves out is asked for in vain */
		{"stdio", IOSCRIBE_MODULE_STDIO ? 1ull << SCRIBE_MOD_STDIO : 0},
		{"mpiio", IOSCRIBE_MODULE_MPIIO ? 1ull << SCRIBE_MOD_MPIIO : 0},
		{"hdf5", IOSCRIBE_MODULE_HDF5 ? 1ull << SCRIBE_MOD_H5F | 1ull << SCRIBE_MOD_H5D : 0},
		{"pnetcdf", IOSCRIBE_MODULE_PNETCDF
				    ? 1ull << SCRIBE_MOD_PNETCDF_FILE | 1ull << SCRIBE_MOD_PNETCDF_VAR
				    : 0},
	};
	uint64_t modules = 0;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const char *at = strstr(list, known[i].name);

		if (at && (at == list || at[-1] == ',' || at[-1] == ' '))
			modules |= known[i].modules;
		if (!strcmp(list, "all") || (is_auto(list) && strcmp(known[i].name, "stdio") != 0))
			modules |= known[i].modules;
	}
	return modules;
}

uint64_t scribe_libs_wanted(const struct scribe_config *c)
{
	return scribe_libs_modules(c->trace_libraries);
}

enum scribe_uprobe_level scribe_libs_level(const struct scribe_config *c)
{
	return !strcmp(c->library_attach, "multi")    ? SCRIBE_UPROBE_MULTI
	       : !strcmp(c->library_attach, "events") ? SCRIBE_UPROBE_EVENTS
						      : SCRIBE_UPROBE_AUTO;
}

/*
 * Modules that programs count themselves. MPI-IO needs the runtime library, whose path is in
 * `library`.
 */
uint64_t scribe_libs_modules_wrapped(const struct scribe_config *c)
{
	/* without the runtime nobody counts inside; streams are then left to their system calls */
	return (c->stdio_wrap ? 1ull << SCRIBE_MOD_STDIO : 0) |
	       (c->mpiio_wrap && c->runtime && c->library[0] ? 1ull << SCRIBE_MOD_MPIIO : 0);
}

bool scribe_libs_streams_wrapped(const struct scribe_config *c)
{
	return c->stdio_wrap && IOSCRIBE_MODULE_STDIO &&
	       (is_auto(c->trace_libraries) || scribe_libs_wanted(c) & 1ull << SCRIBE_MOD_STDIO);
}

bool scribe_libs_counts_wrapped(const struct scribe_config *c)
{
	return scribe_libs_streams_wrapped(c) || scribe_libs_wanted(c) & scribe_libs_modules_wrapped(c);
}

/* Beside the runtime library, under a fixed name. False: not wanted, or no room for the path. */
bool scribe_libs_wrap_library(const struct scribe_config *c, char *ret_path, size_t cap)
{
	const char *slash = strrchr(c->library, '/');

	return slash && scribe_libs_counts_wrapped(c) &&
	       (size_t)snprintf(ret_path, cap, "%.*s/libioscribe-inside.so", (int)(slash - c->library),
				c->library) < cap;
}
