/* SPDX-License-Identifier: BSD-3-Clause */
/* Names in escaped form. */
#ifndef UTIL_TEXT_SHOWN_NAME_H
#define UTIL_TEXT_SHOWN_NAME_H

#include <stddef.h>

struct scribe_shown_name {
	char *text;
	size_t cap;
};

/* Returns `name` (may be NULL) if printable without a backslash, otherwise its escape, valid until the next call. */
const char *scribe_shown_name(struct scribe_shown_name *s, const char *name, size_t *len);
/* For messages and stores: escapes only names that are not UTF-8 or contain NUL. */
const char *scribe_sent_name(struct scribe_shown_name *s, const char *name, size_t *len);
void scribe_shown_name_clear(struct scribe_shown_name *s);

#endif
