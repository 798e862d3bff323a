/* SPDX-License-Identifier: BSD-3-Clause */
/* The sinks that there are, by their names. */
#ifndef UTIL_PUBLISH_SINK_H
#define UTIL_PUBLISH_SINK_H

#include "util/publish/sink_kind.h"

/* The sink that `spec` names, not open. 0, or -EINVAL with a line that says which there are. */
int scribe_sink_of(const char *spec, struct scribe_sink *ret_sink, struct scribe_err *err);
/* Is it a file or socket of this node? */
bool scribe_sink_is_path(const struct scribe_sink *sink);
/* Are all its hosts among `hosts`, names with commas between? 0, or -EPERM with a line. */
int scribe_sink_may_reach(const struct scribe_sink *sink, const char *hosts, struct scribe_err *err);

#endif
