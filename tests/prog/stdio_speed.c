// SPDX-License-Identifier: BSD-3-Clause
/*
 * stdio_speed fwrite|fgetc|fputc N FILE: nanoseconds a call, on a line. FILE is
 * made anew; for fgetc it is filled first. Used by tests/bench/lib_calls.py.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

int main(int argc, char **argv)
{
	long n = argc == 4 ? atol(argv[2]) : 0, sum = 0;
	double begin;
	FILE *f;

	if (n <= 0)
		return 2;
	f = fopen(argv[3], "w+");
	if (!f)
		return 1;
	if (!strcmp(argv[1], "fgetc")) {
		for (long i = 0; i < n; i++)
			fputc('x', f);
		rewind(f);
	}
	begin = now_ns();
	if (!strcmp(argv[1], "fwrite"))
		for (long i = 0; i < n; i++)
			sum += (long)fwrite("12345678", 8, 1, f);
	else if (!strcmp(argv[1], "fputc"))
		for (long i = 0; i < n; i++)
			sum += fputc('x', f);
	else
		for (long i = 0; i < n; i++)
			sum += fgetc(f);
	printf("%.2f\n", (now_ns() - begin) / (double)n);
	fclose(f);
	return sum == 0;
}
