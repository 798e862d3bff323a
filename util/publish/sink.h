/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_PUBLISH_SINK_H
#define UTIL_PUBLISH_SINK_H

#include "util/publish/sink_kind.h"

/* Parses `spec` without opening it. -EINVAL with a list of the valid forms. */
int scribe_sink_of(const char *spec, struct scribe_sink *ret_sink, struct scribe_err *err);
/* On this node. */
bool scribe_sink_is_path(const struct scribe_sink *sink);
/* Checks all hosts of the sink against `hosts`, separated by commas. 0 or -EPERM. */
int scribe_sink_may_reach(const struct scribe_sink *sink, const char *hosts, struct scribe_err *err);

#endif
