/* SPDX-License-Identifier: BSD-3-Clause */
/* Records in time: the times of a log count from its job's start. */
#ifndef LOGFMT_RECORDS_SHIFT_H
#define LOGFMT_RECORDS_SHIFT_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Move a record's times by `seconds`: first and last operations, traced
 * operations, start and end of processes. What never happened (0) and what is
 * not known (-1) stays. Heatmaps stay as they are.
 */
void scribe_record_shift(int module, void *record, double seconds);

#ifdef __cplusplus
}
#endif

#endif
