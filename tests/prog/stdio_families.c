// SPDX-License-Identifier: BSD-3-Clause
/*
 * Families of stream calls that stdio_calls.c leaves out: standard streams on
 * files, wide characters, words, gets. Totals: tests/uprobes/stdio_inside.bats.
 */
#include <dlfcn.h>
#include <err.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

static void say(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vprintf(format, list);
	va_end(list);
}

/* 4 writes, 12 bytes; 4 reads, 12 bytes */
static void standard(void)
{
	/* no header declares it any more, and the linker would warn */
	char *(*get)(char *) = (char *(*)(char *))dlsym(RTLD_DEFAULT, "gets");
	char line[64];
	int n;

	if (!get || !freopen("std", "w", stdout))
		err(1, "std");
	printf("%05d", 12); /* 5 */
	puts("abc");        /* 4 */
	putchar('x');       /* 1 */
	say("%s", "yz");    /* 2 */
	fflush(stdout);
	if (!freopen("std", "r", stdin))
		err(1, "std");
	if (scanf("%5d", &n) != 1 || n != 12) /* 5 */
		errx(1, "scanf: %d", n);
	if (!get(line) || getchar() != 'x' || !fgets(line, sizeof(line), stdin)) /* 4, 1, 2 */
		errx(1, "gets");
	if (fgets(line, sizeof(line), stdin)) /* the end: not counted */
		errx(1, "more than was written");
}

/* 4 writes, 10 bytes; 3 reads, 10 bytes */
static void wide(void)
{
	FILE *f = fopen("wide", "w");
	wchar_t line[64];
	int n;

	if (!f)
		err(1, "wide");
	fwprintf(f, L"%05d", 12); /* 5 */
	fputws(L"abc", f);        /* 3 */
	fputwc(L'x', f);          /* 1 */
	fputwc(L'y', f);          /* 1 */
	fclose(f);
	f = fopen("wide", "r");
	if (!f || fwscanf(f, L"%5d", &n) != 1) /* 5 */
		errx(1, "fwscanf");
	if (fgetwc(f) != L'a' || !fgetws(line, 64, f)) /* 1, the rest */
		errx(1, "fgetws");
	fclose(f);
}

/* 3 writes and 3 reads of 4 bytes */
static void words(void)
{
	FILE *f = fopen("words", "w+");
	int sum = 0;

	for (int i = 1; f && i < 4; i++)
		putw(i, f);
	rewind(f);
	for (int i = 0; i < 3; i++)
		sum += getw(f);
	if (sum != 6)
		errx(1, "getw: %d", sum);
	fclose(f);
}

int main(void)
{
	standard();
	wide();
	words();
	return 0;
}
