// SPDX-License-Identifier: BSD-3-Clause
/* ioscribe-top, executed by `ioscribe top` from libexec. */
#include <stddef.h>

#include "util/cmd/top/top.h"
#include "util/tool/command.h"

int main(int argc, char **argv)
{
	static const struct scribe_command *const commands[] = {&scribe_command_top, NULL};

	scribe_commands_set(commands);
	return scribe_top_main(argc, argv);
}
