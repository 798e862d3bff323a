/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UPROBES_ELF_LIBRARY_FIND_H
#define UPROBES_ELF_LIBRARY_FIND_H

#include <stdbool.h>
#include <stddef.h>

/* An existing path; may repeat. */
typedef void (*scribe_found_fn)(void *ctx, const char *path);

struct scribe_find;

/* Regular files only. Negative: not one, or unreadable. */
int scribe_find_open(const char *path);

/* `cache` NULL: /etc/ld.so.cache. NULL: no memory. */
struct scribe_find *scribe_find_new(const char *cache);
struct scribe_find *scribe_find_free(struct scribe_find *f);

/* Known by soname. */
void scribe_find_cached(const struct scribe_find *f, scribe_found_fn fn, void *ctx);
/* Directories and files, separated by colons. */
void scribe_find_listed(const char *list, scribe_found_fn fn, void *ctx);
/*
 * Calls fn for the program, or a script's interpreter, and its libraries. `search`: LD_LIBRARY_PATH, "": none.
 * False: no file starts programs or loads libraries at run time, so the list is complete.
 */
bool scribe_find_needed(const struct scribe_find *f, const char *program, const char *search, scribe_found_fn fn,
			void *ctx);

#endif
