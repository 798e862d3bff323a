/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of a Darshan-LDMS stream, read from JSON. */
#ifndef UTIL_STORE_EVENT_JSON_H
#define UTIL_STORE_EVENT_JSON_H

#include <stddef.h>

#include "logfmt/base/err.h"
#include "util/store/event.h"

/* Texts of one message together, with their NULs; keys beyond are refused. */
#define SCRIBE_EVENT_MAX_TEXT 65536

struct scribe_event_json;

/* 0 or -ENOMEM with a message; free takes NULL and returns NULL. */
int scribe_event_json_new(struct scribe_event_json **ret_reader, struct scribe_err *err);
struct scribe_event_json *scribe_event_json_free(struct scribe_event_json *reader);

/*
 * One line (without its end): exactly one JSON object. *ret_event is filled; its texts are good
 * until the next call. Keys that are not known are skipped. 0, or -SCRIBE_E_FORMAT with what is
 * wrong about it (no place), or -ENOMEM.
 */
int scribe_event_json_read(struct scribe_event_json *reader, const char *line, size_t len,
			   struct scribe_event *ret_event, struct scribe_err *err);

#endif
