// SPDX-License-Identifier: BSD-3-Clause
/* ioscribe-report. Its one-entry command table has the messages and help of `ioscribe report`. */
#include <stddef.h>

#include "util/cmd/report/report.h"
#include "util/tool/command.h"

int main(int argc, char **argv)
{
	static const struct scribe_command *const commands[] = {&scribe_command_report, NULL};

	scribe_commands_set(commands);
	return scribe_report_main(argc, argv);
}
