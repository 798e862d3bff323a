/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_CMD_TOP_SCREEN_H
#define UTIL_CMD_TOP_SCREEN_H

#include "util/cmd/top/options.h"

int scribe_top_screen(const struct scribe_top_options *options, struct scribe_live_link *link, struct scribe_err *err);

#endif
