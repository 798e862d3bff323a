/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keys of the configuration whose names were changed. This version accepts the old ones,
 * and says so; the next one may take them away here. (Nobody types a counter of the ledger.)
 */
#ifndef LOGFMT_BASE_OLD_NAMES_H
#define LOGFMT_BASE_OLD_NAMES_H

#include <stddef.h>
#include <stdint.h>

/* Bytes that scribe_old_keys_text needs, whatever the set. */
#define SCRIBE_OLD_KEYS_TEXT_MAX 1024
#define SCRIBE_OLD_KEYS_HEAD "old names of keys, which the next version refuses: "

/* The number of an old key, also as the variable IOSCRIBE_KEY; -1: `name` is none. */
int scribe_old_key(const char *name);
/* What the old key of this number is called now. */
const char *scribe_old_key_now(int number);
/* The old keys among lines "key = value", as a set: bit n is number n. */
uint32_t scribe_old_keys_in(const char *lines, size_t bytes);
/*
 * "grace_ms (now exit_grace_ms), ..." for a set, behind `head`. Returns `ret`.
 */
const char *scribe_old_keys_text(const char *head, uint32_t set, char *ret, size_t cap);

#endif
