/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What files say of themselves: extended attributes that static modules
 * (runtime/core/sources.h) want, read by a hand of its own with the job user's
 * identity. A file system that does not answer costs a job one deadline, once,
 * and nobody else anything. Must not know what the attributes mean.
 */
#ifndef RUNTIME_DAEMON_ATTRS_H
#define RUNTIME_DAEMON_ATTRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scribe_attrs;
struct scribe_label;
struct scribe_source;
struct scribe_unit;
struct scribe_work;

/* A name has become known: if a module wants to know more of such files, this one is asked soon. */
void scribe_attrs_want(struct scribe_work *w, const struct scribe_label *label);
/* Go on with what is under way. */
void scribe_attrs_tick(struct scribe_work *w);
/*
 * The unit's log is due: ask all of its files once more, those that are still
 * there, and those that `theirs` (the ranks' own log, -1 none) names.
 */
void scribe_attrs_again(struct scribe_work *w, const struct scribe_unit *u, int theirs);
/* Is nothing more to be waited for? True at the latest layout_deadline_ms after scribe_attrs_again. */
bool scribe_attrs_settled(struct scribe_work *w);
/* What the file of this id answered to the source; NULL nothing. Valid until the next call for the job. */
const void *scribe_attrs_get(const struct scribe_work *w, const struct scribe_source *source, uint64_t id,
			     size_t *ret_bytes);
/* Files that have not answered in time. */
uint64_t scribe_attrs_silent(const struct scribe_work *w);
/* NULL allowed; returns NULL. */
struct scribe_attrs *scribe_attrs_free(struct scribe_attrs *a);

#endif
