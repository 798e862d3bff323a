/* SPDX-License-Identifier: BSD-3-Clause */
/* The input is a plain name region; its first byte says the byte order. */
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > 0)
		fuzz_read(fuzz_log(data + 1, size - 1, 0, 0, data[0] & 1, "", 0));
	return 0;
}
