/* SPDX-License-Identifier: BSD-3-Clause */
/* The protocol of Grafana's JSON data source (simpod-json-datasource, simple-json). */
#ifndef UTIL_CMD_SERVE_GRAFANA_H
#define UTIL_CMD_SERVE_GRAFANA_H

#include <yajl/yajl_gen.h>

#include "logfmt/base/err.h"
#include "util/cmd/serve/serve.h"

/*
 * A POST to `path` with that body (ends with NUL). 0, or a negative code with a message;
 * -ENOTDIR: no such path.
 */
int scribe_grafana(struct scribe_serve *serve, const char *path, const char *body, yajl_gen json,
		   struct scribe_err *err);

#endif
