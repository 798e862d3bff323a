/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_CMD_SERVE_GRAFANA_H
#define UTIL_CMD_SERVE_GRAFANA_H

#include <yajl/yajl_gen.h>

#include "logfmt/base/err.h"
#include "util/cmd/serve/serve.h"

/* Handles a POST; body ends with NUL. Negative with a message; -ENOTDIR: unknown path. */
int scribe_grafana(struct scribe_serve *serve, const char *path, const char *body, yajl_gen json,
		   struct scribe_err *err);

#endif
