/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Settings: who says them (bit 0: a user, bit 1: while the job goes on; else the site's file), then the text, as
 * `ioscribe run`, `ioscribe job begin` and configuration files have it.
 */
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/longer.h"
#include "tests/fuzz/settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool locked = size && data[0] & 1, late = size && data[0] & 2;
	struct scribe_err err = {0};
	struct fuzz_longer text;
	struct scribe_config c;
	int rc;

	if (!size)
		return 0;
	if (scribe_config_copy(&c, settings_defaults()) < 0)
		abort();
	c.locked = locked;
	c.late = late;
	text = fuzz_longer(data + 1, size - 1);
	rc = scribe_config_text(&c, (const char *)text.bytes, text.n, "fuzz", &err);
	free(text.bytes);
	if (rc > 0 || (rc < 0 && (!err.text[0] || strchr(err.text, '\n'))))
		abort();
	if (c.locked != locked || c.late != late)
		abort();
	settings_check(&c, locked, late);
	scribe_config_clear(&c);
	return 0;
}
