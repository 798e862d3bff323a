/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_STORE_EVENT_JSON_H
#define UTIL_STORE_EVENT_JSON_H

#include <stddef.h>

#include "logfmt/base/err.h"
#include "util/store/event.h"

#define SCRIBE_EVENT_MAX_TEXT 65536

struct scribe_event_json;

int scribe_event_json_new(struct scribe_event_json **ret_reader, struct scribe_err *err);
struct scribe_event_json *scribe_event_json_free(struct scribe_event_json *reader);

/*
 * One line with one JSON object; unknown keys are skipped. Texts are valid until the next call. -SCRIBE_E_FORMAT or
 * -ENOMEM.
 */
int scribe_event_json_read(struct scribe_event_json *reader, const char *line, size_t len,
			   struct scribe_store_event *ret_event, struct scribe_err *err);

#endif
