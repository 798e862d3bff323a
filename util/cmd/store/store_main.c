// SPDX-License-Identifier: BSD-3-Clause
/*
 * ioscribe-store: the program behind `ioscribe store` (store_command.c), executed by it from the
 * installation's libexec folder. Its table of commands has one entry.
 */
#include <stddef.h>

#include "util/cmd/store/store_cmd.h"
#include "util/tool/command.h"

int main(int argc, char **argv)
{
	static const struct scribe_command *const commands[] = {&scribe_command_store, NULL};

	scribe_commands_set(commands);
	return scribe_store_main(argc, argv);
}
