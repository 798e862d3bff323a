/* SPDX-License-Identifier: BSD-3-Clause */
/* The input is a whole log file. */
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const void *piece = data;

	fuzz_read(fuzz_file(&piece, &size, 1));
	return 0;
}
