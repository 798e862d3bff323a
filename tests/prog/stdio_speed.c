// SPDX-License-Identifier: BSD-3-Clause
/*
 * stdio_speed fwrite|fgetc|fputc N FILE [ROUNDS]: nanoseconds a call, a number for each round of N
 * calls; with IOSCRIBE_BENCH_CLOCK=cpu of processor time. FILE is made anew; for fgetc it is
 * filled first. Used by tests/bench/lib_calls.py.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now_ns(void)
{
	const char *which = getenv("IOSCRIBE_BENCH_CLOCK");
	struct timespec ts;

	clock_gettime(which && !strcmp(which, "cpu") ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static double one_round(const char *what, long n, FILE *f, long *sum)
{
	double begin = now_ns();

	if (!strcmp(what, "fwrite"))
		for (long i = 0; i < n; i++)
			*sum += (long)fwrite("12345678", 8, 1, f);
	else if (!strcmp(what, "fputc"))
		for (long i = 0; i < n; i++)
			*sum += fputc('x', f);
	else
		for (long i = 0; i < n; i++)
			*sum += fgetc(f);
	return (now_ns() - begin) / (double)n;
}

int main(int argc, char **argv)
{
	long n = argc >= 4 ? atol(argv[2]) : 0, rounds = argc == 5 ? atol(argv[4]) : 1, sum = 0;
	FILE *f;

	if (n <= 0 || rounds <= 0 || argc > 5)
		return 2;
	f = fopen(argv[3], "w+");
	if (!f)
		return 1;
	if (!strcmp(argv[1], "fgetc"))
		for (long i = 0; i < n; i++)
			fputc('x', f);
	for (long i = 0; i < rounds; i++) {
		rewind(f);
		printf("%.2f\n", one_round(argv[1], n, f, &sum));
	}
	fclose(f);
	return sum == 0;
}
