/* SPDX-License-Identifier: BSD-3-Clause */
/* Names as --escape shows them. */
#ifndef UTIL_TEXT_SHOWN_NAME_H
#define UTIL_TEXT_SHOWN_NAME_H

#include <stddef.h>

struct scribe_shown_name {
	char *text;
	size_t cap;
};

/*
 * The name (may be NULL) as text without loss, its length in *len: itself where
 * it prints as it is and holds no backslash, else its escape, which stays until
 * the next call. The name itself also when memory is out.
 */
const char *scribe_shown_name(struct scribe_shown_name *s, const char *name, size_t *len);
/* The same for messages and stores, where all UTF-8 without a NUL stays as it is. */
const char *scribe_sent_name(struct scribe_shown_name *s, const char *name, size_t *len);
void scribe_shown_name_clear(struct scribe_shown_name *s);

#endif
