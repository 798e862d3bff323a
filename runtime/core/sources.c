/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of modules that are fed by plain code. */
#include "runtime/core/sources.h"

#include <string.h>

#include "logfmt/built.h"

const struct scribe_source *const scribe_sources[] = {
	&scribe_source_null,
#if IOSCRIBE_MODULE_LUSTRE
	&scribe_source_lustre,
#endif
	NULL,
};

/* Each word of the list; returns the sign of the last one that names `name`: 1, -1, or 0. */
static int named(const char *list, const char *name)
{
	int found = 0;

	while (*list) {
		size_t n = strcspn(list, ",");
		bool off = list[0] == '-';

		if (n - off == strlen(name) && !strncmp(list + off, name, n - off))
			found = off ? -1 : 1;
		list += n + (list[n] != 0);
	}
	return found;
}

bool scribe_source_is_on(const struct scribe_source *source, const char *list)
{
	int said = named(list, source->name);

	return said ? said > 0 : source->standard;
}

const char *scribe_source_unknown(const char *list, char *ret, size_t cap)
{
	while (*list) {
		size_t n = strcspn(list, ","), off = list[0] == '-';
		bool known = n == 0;

		for (int i = 0; scribe_sources[i] && !known; i++)
			known = strlen(scribe_sources[i]->name) == n - off &&
				!strncmp(scribe_sources[i]->name, list + off, n - off);
		if (!known) {
			n = n < cap ? n : cap - 1;
			memcpy(ret, list, n);
			ret[n] = 0;
			return ret;
		}
		list += n + (list[n] != 0);
	}
	return NULL;
}
