// SPDX-License-Identifier: BSD-3-Clause
/* ioscribe-publish, executed by `ioscribe publish` from libexec. */
#include <stddef.h>

#include "util/cmd/publish/publish_cmd.h"

int main(int argc, char **argv)
{
	static const struct scribe_command *const commands[] = {&scribe_command_publish, NULL};

	scribe_commands_set(commands);
	return scribe_publish_main(argc, argv);
}
