// SPDX-License-Identifier: BSD-3-Clause
/* Shared by all formats of export: the filter of --table. */
#include "util/cmd/export/export_format.h"

#include <string.h>

bool scribe_export_is_wanted(const struct scribe_export_options *o, const char *table)
{
	if (!o->only)
		return true;
	for (char *const *t = o->only; *t; t++)
		if (!strcmp(*t, table))
			return true;
	return false;
}
