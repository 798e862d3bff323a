/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_CMD_SERVE_HTTP_H
#define UTIL_CMD_SERVE_HTTP_H

#include <stdint.h>

#include "logfmt/base/err.h"
#include "util/cmd/serve/serve.h"

struct scribe_http;

/*
 * Listens at ADDRESS:PORT ("127.0.0.1:8750", "[::1]:0") and serves in its own thread. ret_port: the port in use,
 * also for port 0.
 */
int scribe_http_start(struct scribe_serve *serve, const char *address, struct scribe_http **ret_http,
		      uint16_t *ret_port, struct scribe_err *err);
void scribe_http_look(struct scribe_http *http);
void scribe_http_stop(struct scribe_http *http);

#endif
