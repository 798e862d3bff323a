/* SPDX-License-Identifier: BSD-3-Clause */
/* Unlike those of scribe_reduction_* these tables are not sent, so they can grow. */
#ifndef LOGFMT_RECORDS_VALUES_H
#define LOGFMT_RECORDS_VALUES_H

#ifdef __cplusplus
extern "C" {
#endif

#define SCRIBE_VALUES_MAX 65536 /* distinct values of a group */

struct scribe_values;

/* NULL, which the other calls accept, if the module lacks common values. -ENOMEM. */
int scribe_values_new(int module, struct scribe_values **ret_values);
/* Returns NULL. */
struct scribe_values *scribe_values_free(struct scribe_values *v);
/* -ENOMEM. Above SCRIBE_VALUES_MAX the rarer half is dropped; only then the order of records matters. */
int scribe_values_add(struct scribe_values *v, const void *record);
/* Stores the four most common ones. */
void scribe_values_give(struct scribe_values *v, void *record);

#ifdef __cplusplus
}
#endif

#endif
