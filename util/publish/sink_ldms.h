/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_PUBLISH_SINK_LDMS_H
#define UTIL_PUBLISH_SINK_LDMS_H

#include "util/publish/sink_kind.h"

extern const struct scribe_sink_kind scribe_sink_ldms, scribe_sink_ldms_msg;

#endif
