// SPDX-License-Identifier: BSD-3-Clause
/*
 * lesscaps NUMBER[,NUMBER...] CMD...: run CMD without these capabilities, for
 * guests, which have no setpriv.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc < 3)
		return 120;
	for (char *one = strtok(argv[1], ","); one; one = strtok(NULL, ","))
		if (prctl(PR_CAPBSET_DROP, strtoul(one, NULL, 10), 0, 0, 0))
			return 121;
	execvp(argv[2], argv + 2);
	return 123;
}
