/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of modules in plain code, chosen at build time, and the lists that switch them ("A,-B"). */
#include "runtime/core/module_table.h"

#include <string.h>

#include "logfmt/counters/built.h"

const struct scribe_module_ops *const scribe_daemon_modules[] = {
	&scribe_module_null,
#if IOSCRIBE_MODULE_LUSTRE
	&scribe_module_lustre,
#endif
	NULL,
};

/* 1 on, -1 off by the last mention of `name`, 0: not mentioned. */
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

bool scribe_module_is_on(const struct scribe_module_ops *module, const char *list)
{
	int said = named(list, module->name);

	return said ? said > 0 : module->standard;
}

const char *scribe_module_unknown(const char *list, char *ret, size_t cap)
{
	while (*list) {
		size_t n = strcspn(list, ","), off = list[0] == '-';
		bool known = n == 0;

		for (int i = 0; scribe_daemon_modules[i] && !known; i++)
			known = strlen(scribe_daemon_modules[i]->name) == n - off &&
				!strncmp(scribe_daemon_modules[i]->name, list + off, n - off);
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
