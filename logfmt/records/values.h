/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The most common values of any number of records, exactly: where the tables of
 * scribe_redux_* must stay small enough to travel, these grow.
 */
#ifndef LOGFMT_RECORDS_VALUES_H
#define LOGFMT_RECORDS_VALUES_H

#ifdef __cplusplus
extern "C" {
#endif

#define SCRIBE_VALUES_MAX 65536 /* distinct values of a group that are followed */

struct scribe_values;

/*
 * Tables for a module's common values (access sizes, strides). *ret_values is
 * NULL for a module without any, which the other calls take. -ENOMEM.
 */
int scribe_values_new(int module, struct scribe_values **ret_values);
/* NULL allowed; returns NULL. */
struct scribe_values *scribe_values_free(struct scribe_values *v);
/*
 * Count a record's values. -ENOMEM. Beyond SCRIBE_VALUES_MAX distinct values the
 * rarer half is dropped, and only then the order of records matters.
 */
int scribe_values_add(struct scribe_values *v, const void *record);
/* Store the four most common: by count, then value, the greater first. */
void scribe_values_give(struct scribe_values *v, void *record);

#ifdef __cplusplus
}
#endif

#endif
