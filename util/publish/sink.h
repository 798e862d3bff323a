/* SPDX-License-Identifier: BSD-3-Clause */
/* The sinks that there are, by their names. */
#ifndef UTIL_PUBLISH_SINK_H
#define UTIL_PUBLISH_SINK_H

#include "util/publish/sink_kind.h"

/* The sink that `spec` names, not open. 0, or -EINVAL with a line that says which there are. */
int scribe_sink_of(const char *spec, struct scribe_sink *ret_sink, struct scribe_err *err);

#endif
