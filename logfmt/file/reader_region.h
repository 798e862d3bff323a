/* SPDX-License-Identifier: BSD-3-Clause */
/* Private to the reader's files. */
#ifndef LOGFMT_FILE_READER_REGION_H
#define LOGFMT_FILE_READER_REGION_H

#include "logfmt/file/reader_state.h"

/* Cut to `cap`; not printf, because it is called for each region of each log. */
void scribe_log_label(char *to, size_t cap, const char *text);
void scribe_log_region_reset(struct scribe_log_region *g);
/* 0, or the region's failure. */
int scribe_log_region_open(struct scribe_reader *r, struct scribe_log_region *g, const char *name,
			   const struct scribe_log_map *map);
/* In either layout. fixed_bytes: of a record in the file, 0: any; raw: any version. */
int scribe_log_region_module(struct scribe_reader *r, int module, const char *name, size_t fixed_bytes, bool raw);
/* After the module's last record: the next module of the single-region layout continues there. */
void scribe_log_region_park(struct scribe_reader *r, int module);

#endif
