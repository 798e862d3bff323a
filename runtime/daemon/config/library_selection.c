// SPDX-License-Identifier: BSD-3-Clause
/* Library calls selected by a configuration: by probes (uprobes/) or preloading (runtime/client/wrap). */
#include <stdio.h>
#include <string.h>

#include "logfmt/counters/built.h"
#include "logfmt/counters/records.h"
#include "logfmt/rules/lib_rules.h"
#include "runtime/daemon/config/library_selection.h"

static bool is_auto(const char *list)
{
	return !strcmp(list, "auto");
}

/* Words separated by commas or blanks; "all", or "auto": all but stdio, which has too many calls for probes. */
uint64_t scribe_libs_modules(const char *list)
{
	static const struct {
		const char *name;
		uint64_t modules;
	} known[] = {
		/* Modules that this build lacks are 0. */
		{"stdio", IOSCRIBE_MODULE_STDIO ? 1ull << SCRIBE_MOD_STDIO : 0},
		{"mpiio", IOSCRIBE_MODULE_MPIIO ? 1ull << SCRIBE_MOD_MPIIO : 0},
		{"hdf5", IOSCRIBE_MODULE_HDF5 ? 1ull << SCRIBE_MOD_H5F | 1ull << SCRIBE_MOD_H5D : 0},
		{"pnetcdf",
		 IOSCRIBE_MODULE_PNETCDF ? 1ull << SCRIBE_MOD_PNETCDF_FILE | 1ull << SCRIBE_MOD_PNETCDF_VAR : 0},
		{"cufile", IOSCRIBE_MODULE_CUFILE ? 1ull << SCRIBE_MOD_CUFILE : 0},
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

uint64_t scribe_libs_modules_wrapped(const struct scribe_config *c)
{
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

bool scribe_libs_wrap_library(const struct scribe_config *c, char *ret_path, size_t cap)
{
	const char *slash = strrchr(c->library, '/');

	/* A fixed name beside the runtime library. */
	return slash && scribe_libs_counts_wrapped(c) &&
	       (size_t)snprintf(ret_path, cap, "%.*s/libioscribe-inside.so", (int)(slash - c->library), c->library) <
		       cap;
}
