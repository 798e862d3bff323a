/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The NULL module's own reduction, an example for new modules (docs/adding-a-module.md): a function
 * named in the module's plan, called before the plain rules. Run wherever records are joined, also
 * inside the traced program at MPI_Finalize.
 */
#include "logfmt/records/null_join.h"

#include "logfmt/counters/records.h"

/* The largest value that foo was given. (MAX would do the same: this is an example.) */
void scribe_null_join(void *rec, const void *other)
{
	struct scribe_null_record *r = rec;
	const struct scribe_null_record *o = other;

	if (o->counters[SCRIBE_NULL_FOO_MAX_DAT] > r->counters[SCRIBE_NULL_FOO_MAX_DAT])
		r->counters[SCRIBE_NULL_FOO_MAX_DAT] = o->counters[SCRIBE_NULL_FOO_MAX_DAT];
}
