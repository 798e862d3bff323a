// SPDX-License-Identifier: BSD-3-Clause
/* ioscribe-store, executed by `ioscribe store` from libexec. */
#include <stddef.h>

#include "util/cmd/store/store_cmd.h"
#include "util/tool/command.h"

int main(int argc, char **argv)
{
	static const struct scribe_command *const commands[] = {&scribe_command_store, NULL};

	scribe_commands_set(commands);
	return scribe_store_main(argc, argv);
}
