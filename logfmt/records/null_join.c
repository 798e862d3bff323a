/* SPDX-License-Identifier: BSD-3-Clause */
/* The NULL module's reduction, an example (docs/adding-a-module.md), called before the plain rules. */
#include "logfmt/records/null_join.h"

#include "logfmt/counters/records.h"

void scribe_null_join(void *rec, const void *other)
{
	struct scribe_null_record *r = rec;
	const struct scribe_null_record *o = other;

	if (o->counters[SCRIBE_NULL_FOO_MAX_DAT] > r->counters[SCRIBE_NULL_FOO_MAX_DAT])
		r->counters[SCRIBE_NULL_FOO_MAX_DAT] = o->counters[SCRIBE_NULL_FOO_MAX_DAT];
}
