// SPDX-License-Identifier: BSD-3-Clause
/* stdio_putc N: N single characters into the file "putc". */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 0;
	FILE *f = fopen("putc", "w");

	for (long i = 0; f && i < n; i++)
		fputc('x', f);
	return f ? fclose(f) : 1;
}
