// SPDX-License-Identifier: BSD-3-Clause
/* What all formats of export share: which tables --table wants; without the option all of them. */
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
