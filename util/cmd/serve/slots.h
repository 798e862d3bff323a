/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_CMD_SERVE_SLOTS_H
#define UTIL_CMD_SERVE_SLOTS_H

#include "util/cmd/serve/serve.h"

/* Waits until one is free, within the request's limit; opens the store, narrowed to the user. */
int scribe_slot_take(struct scribe_serve *serve, const struct scribe_serve_request *r,
		     struct scribe_serve_slot **ret_slot, struct scribe_err *err);
void scribe_slot_give(struct scribe_serve *serve, struct scribe_serve_slot *slot);
/* Locks serve->processes, within the request's limit. */
int scribe_slot_processes(struct scribe_serve *serve, const struct scribe_serve_request *r, struct scribe_err *err);
void scribe_slots_close(struct scribe_serve *serve);

#endif
