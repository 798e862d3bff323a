// SPDX-License-Identifier: BSD-3-Clause
/*
 * Families of stream calls that stdio_calls.c leaves out: standard streams on
 * files, lists, wide characters, words, gets. Totals: tests/uprobes/helper.bash.
 */
#include <dlfcn.h>
#include <err.h>
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
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

static int scan(FILE *f, const char *format, ...)
{
	va_list list;
	int n;

	va_start(list, format);
	n = f ? vfscanf(f, format, list) : vscanf(format, list);
	va_end(list);
	return n;
}

/* 1 write and 5 reads of 12 bytes: lines with a NUL, a full buffer, one without an end */
static void nuls(void)
{
	FILE *f = fopen("nuls", "w+");
	char line[4];
	int n = 0;

	if (!f || fwrite("\0\na\0bcdef\0\nz", 1, 12, f) != 12)
		err(1, "nuls");
	rewind(f);
	while (fgets(line, sizeof(line), f)) /* 2, 3, 3, 3, 1 */
		n++;
	if (n != 5)
		errx(1, "nuls: %d lines", n);
	fclose(f);
}

/* 10 bytes, each read, given back and read again */
static void twice(void)
{
	FILE *f = fopen("twice", "w+");

	if (!f || fputs("0123456789", f) < 0)
		err(1, "twice");
	rewind(f);
	for (int i = 0; i < 10; i++)
		if (ungetc(fgetc(f), f) != '0' + i || fgetc(f) != '0' + i)
			errx(1, "twice: %d", i);
	fclose(f);
}

/* 2 writes, 10 bytes; 4 reads, 10 bytes: a space is looked at and given back */
static void lists(void)
{
	char line[64];
	int a = 0, b = 0, c = 0;

	if (!freopen("lists", "w", stdout))
		err(1, "lists");
	printf("1 22 3");
	fprintf(stdout, " %d\n", 44);
	if (!freopen("lists", "r", stdout) || !freopen("lists", "r", stdin))
		err(1, "lists");
	if (scan(NULL, "%d", &a) != 1 || scan(stdin, "%d", &b) != 1 || fscanf(stdin, "%d", &c) != 1 ||
	    !fgets(line, sizeof(line), stdin) || a + b + c != 26) /* 1, 3, 2, 4 */
		errx(1, "lists: %d %d %d", a, b, c);
}

static int wide_list(int out, const wchar_t *format, ...)
{
	va_list list;
	int n;

	va_start(list, format);
	n = out ? vwprintf(format, list) : vwscanf(format, list);
	va_end(list);
	return n;
}

/* 5 writes, 14 bytes; 5 reads, 14 bytes */
static void wide_standard(void)
{
	wchar_t line[64];
	int n;

	if (!freopen("wstd", "w", stdout))
		err(1, "wstd");
	wprintf(L"%04d ", 7);                  /* 5 */
	wide_list(1, L"%ls", L"\u00e9\u20ac"); /* 2 + 3 */
	putwchar(L'z');                        /* 1 */
	putwchar_unlocked(L'y');               /* 1 */
	fputws_unlocked(L"q\n", stdout);       /* 2 */
	fflush(stdout);
	if (!freopen("wstd", "r", stdin))
		err(1, "wstd");
	if (wscanf(L"%4d", &n) != 1 || n != 7 || getwchar() != L' ' || wide_list(0, L"%2ls", line) != 1 ||
	    line[1] != L'\u20ac' || getwchar_unlocked() != L'z' || !fgetws(line, 64, stdin)) /* 4, 1, 5, 1, 3 */
		errx(1, "wstd: %d", n);
}

/* More than any buffer: 6,000 writes and reads of 1, 2, 3 or 4 bytes, 15,000 each */
static void wide_many(void)
{
	static const wchar_t of[] = L"a\u00e9\u20ac\U0001f600";
	FILE *f = fopen("wmany", "w+");

	if (!f)
		err(1, "wmany");
	for (int i = 0; i < 6000; i++)
		if (fputwc(of[i % 4], f) == WEOF)
			err(1, "fputwc");
	rewind(f);
	for (int i = 0; i < 6000; i++)
		if (fgetwc(f) != (wint_t)of[i % 4])
			errx(1, "fgetwc: %d", i);
	if (fgetwc(f) != WEOF) /* the end: not counted */
		errx(1, "wmany is longer");
	fclose(f);
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

/* 6 writes of 105 bytes, 4 of them by functions that write messages themselves */
static void messages(void)
{
	char *words[] = {"p", "-q", NULL};

	if (!freopen("messages", "w", stderr))
		err(1, "messages");
	program_invocation_short_name = words[0];
	fputs("one\n", stderr); /* 4 */
	errno = ENOENT;
	perror("x");            /* 29: No such file or directory */
	warn("yy");             /* 33 */
	psignal(SIGKILL, "s");  /* 10 */
	getopt(2, words, "x");  /* 25: invalid option */
	fputs("two\n", stderr); /* 4 */
}

int main(void)
{
	/* 2 writes, 10 bytes */
	fprintf(stderr, "%s\n", "note");
	fputs("note\n", stderr);
	if (!setlocale(LC_ALL, "C.UTF-8"))
		errx(1, "no locale C.UTF-8");
	standard();
	lists();
	nuls();
	twice();
	wide();
	wide_standard();
	wide_many();
	words();
	messages();
	return 0;
}
