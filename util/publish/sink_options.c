// SPDX-License-Identifier: BSD-3-Clause
/* Options NAME=VALUE, before the kind of sink. They select operations. */
#include "util/publish/sink_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/counters/module.h"

#define NUMBER_MOST 1000000000ul

static int take_number(const char *name, const char *value, size_t n, uint32_t *ret, struct scribe_err *err)
{
	char *end;
	const unsigned long v = strtoul(value, &end, 10);

	if (value[0] < '0' || value[0] > '9' || end != value + n || !v || v > NUMBER_MOST)
		return scribe_err_set(err, -EINVAL, "%s: '%.*s' is no number from 1 to %lu", name, (int)n, value,
				      NUMBER_MOST);
	*ret = (uint32_t)v;
	return 0;
}

static int take_modules(const char *value, size_t n, uint64_t *ret, struct scribe_err *err)
{
	static const struct {
		const char *name;
		uint64_t modules;
	} known[] = {{"POSIX", 1ull << SCRIBE_MOD_POSIX},
		     {"STDIO", 1ull << SCRIBE_MOD_STDIO},
		     {"MPIIO", 1ull << SCRIBE_MOD_MPIIO},
		     {"HDF5", 1ull << SCRIBE_MOD_H5F | 1ull << SCRIBE_MOD_H5D},
		     {"PNETCDF", 1ull << SCRIBE_MOD_PNETCDF_FILE | 1ull << SCRIBE_MOD_PNETCDF_VAR}};
	const char *const end = value + n;

	*ret = 0;
	for (const char *at = value; at <= end;) {
		const char *plus = memchr(at, '+', (size_t)(end - at));
		const size_t len = (size_t)((plus ? plus : end) - at);
		size_t i = 0;

		while (i < sizeof(known) / sizeof(known[0]) &&
		       (strlen(known[i].name) != len || strncmp(known[i].name, at, len)))
			i++;
		if (i == sizeof(known) / sizeof(known[0]))
			return scribe_err_set(err, -EINVAL,
					      "modules: '%.*s' is none of POSIX, STDIO, MPIIO, HDF5, "
					      "PNETCDF",
					      (int)len, at);
		*ret |= known[i].modules;
		at += len + 1;
	}
	return 0;
}

int scribe_sink_options_read(const char *spec, struct scribe_sink_options *ret_options, const char **ret_rest,
			     struct scribe_err *err)
{
	int rc = 0;

	*ret_options = (struct scribe_sink_options){.every = 1, .modules = UINT64_MAX};
	for (;;) {
		const size_t name = strcspn(spec, "=:,");
		const char *value = spec + name + 1;
		size_t n;

		if (spec[name] != '=')
			break;
		n = strcspn(value, ",:");
		if (value[n] != ',')
			return scribe_err_set(err, -EINVAL, "'%.60s': a comma and a sink are missing", spec);
		if (name == 5 && !strncmp(spec, "every", name))
			rc = take_number("every", value, n, &ret_options->every, err);
		else if (name == 4 && !strncmp(spec, "rate", name))
			rc = take_number("rate", value, n, &ret_options->rate, err);
		else if (name == 7 && !strncmp(spec, "modules", name))
			rc = take_modules(value, n, &ret_options->modules, err);
		else
			rc = scribe_err_set(err, -EINVAL, "'%.*s' is none of every, rate, modules",
					    (int)(name < 60 ? name : 60), spec);
		if (rc < 0)
			return rc;
		spec = value + n + 1;
	}
	*ret_rest = spec;
	return 0;
}
