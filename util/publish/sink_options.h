/* SPDX-License-Identifier: BSD-3-Clause */
/* Before a sink's kind: "every=10,modules=POSIX+MPIIO,json:FILE". */
#ifndef UTIL_PUBLISH_SINK_OPTIONS_H
#define UTIL_PUBLISH_SINK_OPTIONS_H

#include "util/publish/sink_kind.h"

/* ret_rest: after the options. */
int scribe_sink_options_read(const char *spec, struct scribe_sink_options *ret_options, const char **ret_rest,
			     struct scribe_err *err);

#endif
