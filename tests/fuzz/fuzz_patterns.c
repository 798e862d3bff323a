/* SPDX-License-Identifier: BSD-3-Clause */
/* A line, the pattern; what follows is matched. What a limit lets through is an answer in time. */
#include <errno.h>
#include <time.h>

#include "runtime/core/ere.h"
#include "runtime/core/patterns.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/longer.h"

static void one(const uint8_t *data, size_t size)
{
	const uint8_t *line = memchr(data, '\n', size);
	size_t n = line ? (size_t)(line - data) : size;
	char *ere = strndup((const char *)data, n), out[SCRIBE_PCRE_BYTES_MAX];
	char *text = line ? strndup((const char *)line + 1, size - n - 1) : strdup("");
	struct scribe_patterns p = {0};
	uint64_t modules = 0;
	int rc, form;

	if (!ere || !text)
		abort();
	form = scribe_ere_translate(ere, out);
	rc = scribe_patterns_add(&p, SCRIBE_PATTERN_NAME, false, 1, ere);
	/* what has the form of one is one, or too large */
	if (form == 0 ? rc != 0 && rc != -E2BIG : rc != form)
		abort();
	if (form == 0)
		fuzz_touch(out, strlen(out));
	if (rc == 0) {
		rc = scribe_patterns_match(&p, SCRIBE_PATTERN_NAME, text, &modules);
		if (rc < 0 ? rc != -E2BIG || modules : modules > 1)
			abort();
	}
	scribe_patterns_clear(&p);
	free(ere);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_longer longer = fuzz_longer(data, size);

	one(longer.bytes, longer.n);
	free(longer.bytes);
	return 0;
}
