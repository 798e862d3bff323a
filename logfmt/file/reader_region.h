/* SPDX-License-Identifier: BSD-3-Clause */
/* A reader's regions as streams, in either layout. Private to the reader's files. */
#ifndef LOGFMT_FILE_READER_REGION_H
#define LOGFMT_FILE_READER_REGION_H

#include "logfmt/file/reader_state.h"

/* What fits of a text, for messages: for each region of each log, so without printf. */
void scribe_log_label(char *to, size_t cap, const char *text);
void scribe_log_region_reset(struct scribe_log_region *g);
/* 0, or the region's failure. */
int scribe_log_region_open(struct scribe_reader *r, struct scribe_log_region *g, const char *name,
			   const struct scribe_log_map *map);
/*
 * The region of a module, in either layout. `fixed_bytes`: of its records in the file, 0: any; raw: bytes as
 * they are, whatever the version.
 */
int scribe_log_region_module(struct scribe_reader *r, int module, const char *name, size_t fixed_bytes,
			     bool raw);
/* The module's last record is passed: the next module of the single-region layout goes on from there. */
void scribe_log_region_park(struct scribe_reader *r, int module);

#endif
