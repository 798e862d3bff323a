/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests by HTTP: who may ask, what is answered. */
#ifndef UTIL_CMD_SERVE_HTTP_H
#define UTIL_CMD_SERVE_HTTP_H

#include <stdint.h>

#include "logfmt/base/err.h"
#include "util/cmd/serve/serve.h"

struct scribe_http;

/*
 * Listen at ADDRESS:PORT ("127.0.0.1:8750", "[::1]:0"; port 0: any that is free, told) and answer in a
 * thread of its own until it is stopped. 0 or a negative code with a message.
 */
int scribe_http_start(struct scribe_serve *serve, const char *address, struct scribe_http **ret_http,
		      uint16_t *ret_port, struct scribe_err *err);
/* Connections whose time is over are closed; to be called twice a second, from another thread. */
void scribe_http_look(struct scribe_http *http);
void scribe_http_stop(struct scribe_http *http);

#endif
