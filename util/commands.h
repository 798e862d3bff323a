/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of ioscribe's subcommands. */
#ifndef UTIL_COMMANDS_H
#define UTIL_COMMANDS_H

#include "util/tool/command.h"

/* All, as scribe_commands_set takes them. */
extern const struct scribe_command *const scribe_all_commands[];

#endif
