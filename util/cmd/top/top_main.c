// SPDX-License-Identifier: BSD-3-Clause
/*
 * ioscribe-top: the program behind `ioscribe top` (top_command.c), executed by it from the
 * installation's libexec folder. Its table of commands has one entry.
 */
#include <stddef.h>

#include "util/cmd/top/top.h"
#include "util/tool/command.h"

int main(int argc, char **argv)
{
	static const struct scribe_command *const commands[] = {&scribe_command_top, NULL};

	scribe_commands_set(commands);
	return scribe_top_main(argc, argv);
}
