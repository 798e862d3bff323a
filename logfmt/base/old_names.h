/* SPDX-License-Identifier: BSD-3-Clause */
/* This version accepts old keys with a warning; the next may drop them. */
#ifndef LOGFMT_BASE_OLD_NAMES_H
#define LOGFMT_BASE_OLD_NAMES_H

#include <stddef.h>
#include <stdint.h>

#define SCRIBE_OLD_KEYS_TEXT_MAX 1024
#define SCRIBE_OLD_KEYS_HEAD     "old names of keys, which the next version refuses: "

/* Index of an old key, also as IOSCRIBE_KEY; -1: not one. */
int scribe_old_key(const char *name);
const char *scribe_old_key_now(int number);
/* A bit set of old keys in "key = value" lines. */
uint32_t scribe_old_keys_in(const char *lines, size_t bytes);
/* Writes `head` and "grace_ms (now exit_grace_ms), ..." for a set. Returns `ret`. */
const char *scribe_old_keys_text(const char *head, uint32_t set, char *ret, size_t cap);

#endif
