// SPDX-License-Identifier: BSD-3-Clause
/* ioscribe-store: the program behind ioscribe store (util/cmd/store/store_command.c). */
#include <stddef.h>

#include "util/cmd/store/store_cmd.h"
#include "util/tool/command.h"

int main(int argc, char **argv)
{
	static const struct scribe_command *const commands[] = {&scribe_command_store, NULL};

	scribe_commands_set(commands);
	return scribe_store_main(argc, argv);
}
