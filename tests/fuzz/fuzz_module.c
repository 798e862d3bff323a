/* SPDX-License-Identifier: BSD-3-Clause */
/* The input is one module's plain region, after three bytes: module, version, byte order. */
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size >= 3)
		fuzz_read(fuzz_log("", 0, data[0] % SCRIBE_MAX_MODULES, data[1] % 6, data[2] & 1, data + 3, size - 3));
	return 0;
}
