/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which files a program will map: what the dynamic linker would find for it,
 * what the linker's cache holds of known libraries. Must not know: BPF.
 */
#ifndef UPROBES_ELF_LIBRARY_FIND_H
#define UPROBES_ELF_LIBRARY_FIND_H

#include <stdbool.h>
#include <stddef.h>

/* Called with a path that exists, each at most a few times. */
typedef void (*scribe_found_fn)(void *ctx, const char *path);

struct scribe_find;

/* A regular file, for reading; nothing else is opened. Negative: it is none, or may not be read. */
int scribe_find_open(const char *path);

/* Reads the linker's cache (`cache` NULL: /etc/ld.so.cache). NULL: memory is out. */
struct scribe_find *scribe_find_new(const char *cache);
/* NULL allowed; returns NULL. */
struct scribe_find *scribe_find_free(struct scribe_find *f);

/* Files of the cache whose soname matches a known library's pattern. */
void scribe_find_cached(const struct scribe_find *f, scribe_found_fn fn, void *ctx);
/* Known libraries in the directories, and the files, of a list with colons. */
void scribe_find_listed(const char *list, scribe_found_fn fn, void *ctx);
/*
 * A program or script and all libraries it needs, as the linker would find them:
 * `search`: LD_LIBRARY_PATH of its environment, "" none. Calls fn for each file.
 * False: nothing among them starts programs or loads libraries as it runs, so that
 * these files are all that it will use.
 */
bool scribe_find_needed(const struct scribe_find *f, const char *program, const char *search,
			scribe_found_fn fn, void *ctx);

#endif
