/* SPDX-License-Identifier: BSD-3-Clause */
/* The input is a name: its escape must give it back; as an escape it must not crash. */
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *name = (const char *)data;
	size_t need = scribe_name_escape(name, size, NULL, 0);
	char *text = malloc(need + 1), *back = malloc(need + size + 1);

	if (!text || !back || scribe_name_escape(name, size, text, need + 1) != need || strlen(text) != need)
		abort();
	if (!scribe_name_printable(text, need))
		abort();
	if (scribe_name_unescape(text, need, back) != (long)size || (size && memcmp(back, name, size) != 0))
		abort();
	scribe_name_unescape(name, size, back);
	free(text);
	free(back);
	return 0;
}
