/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows on a terminal, until the user quits. */
#ifndef UTIL_CMD_TOP_SCREEN_H
#define UTIL_CMD_TOP_SCREEN_H

#include "util/cmd/top/options.h"

/* Negative: unknown terminal, or no service. */
int scribe_top_screen(const struct scribe_top_options *options, struct scribe_live_link *link,
		      struct scribe_err *err);

#endif
