// SPDX-License-Identifier: BSD-3-Clause
/* The record names of standard streams. Main thread, and log builder. */
#include "runtime/daemon/model/standard_streams.h"

#include <string.h>

#include "logfmt/base/hash.h"

const char *const scribe_standard_stream[SCRIBE_STANDARD_STREAMS] = {"<STDIN>", "<STDOUT>", "<STDERR>"};

bool scribe_is_standard_stream(uint64_t id)
{
	static uint64_t known[SCRIBE_STANDARD_STREAMS];

	for (uint32_t i = 0; i < SCRIBE_STANDARD_STREAMS; i++) {
		if (!known[i])
			known[i] = scribe_record_id(scribe_standard_stream[i], strlen(scribe_standard_stream[i]));
		if (known[i] == id)
			return true;
	}
	return false;
}
