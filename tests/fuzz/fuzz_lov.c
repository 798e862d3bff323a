/* SPDX-License-Identifier: BSD-3-Clause */
/* The input is the value of a file's `lustre.lov` attribute. */
#include "runtime/core/lov.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t n = scribe_lov_record(data, size, NULL);
	struct scribe_lustre_record *r = n ? calloc(1, n) : NULL;

	if (n && (!r || scribe_lov_record(data, size, r) != n ||
		  n != sizeof(*r) + (size_t)r->num_comps * sizeof(r->comps[0]) + (size_t)r->num_stripes * 8))
		abort();
	free(r);
	return 0;
}
