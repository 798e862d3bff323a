/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of subcommands. */
#ifndef UTIL_COMMANDS_H
#define UTIL_COMMANDS_H

#include "util/tool/command.h"

/* For scribe_commands_set. */
extern const struct scribe_command *const scribe_all_commands[];

#endif
