/* SPDX-License-Identifier: BSD-3-Clause */
/* Times in a log count from its job's start. */
#ifndef LOGFMT_RECORDS_SHIFT_H
#define LOGFMT_RECORDS_SHIFT_H

#ifdef __cplusplus
extern "C" {
#endif

/* Shifts all times of the record except heatmaps, 0 (never) and -1 (unknown). The module must have a layout. */
void scribe_record_shift(int module, void *record, double seconds);

#ifdef __cplusplus
}
#endif

#endif
