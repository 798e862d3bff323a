/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of `ioscribe publish` share. */
#ifndef UTIL_CMD_PUBLISH_PUBLISH_CMD_H
#define UTIL_CMD_PUBLISH_PUBLISH_CMD_H

#include "util/tool/command.h"

enum { SCRIBE_PUBLISH_KEY_JOB = 1, SCRIBE_PUBLISH_KEY_PID, SCRIBE_PUBLISH_KEY_NOTIFY };

int scribe_publish_main(int argc, char **argv);

#endif
