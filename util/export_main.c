// SPDX-License-Identifier: BSD-3-Clause
/* ioscribe-export: the program behind ioscribe export (util/export_command.c). */
#include "util/export.h"

int main(int argc, char **argv)
{
	return scribe_export_main(argc, argv);
}
