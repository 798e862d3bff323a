// SPDX-License-Identifier: BSD-3-Clause
/*
 * Every family of stdio calls on files in the working directory, with totals
 * that are known (tests/uprobes/stdio.bats). Prints nothing.
 */
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

static char data[100000];

static FILE *must(FILE *f, const char *what)
{
	if (!f)
		err(1, "%s", what);
	return f;
}

static void say(FILE *f, const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vfprintf(f, format, list);
	va_end(list);
}

/* 17 writes, 1 open, 2 flushes, 3 seeks; bytes in the comments: 71355 */
static void writes(void)
{
	FILE *f = must(fopen("writes", "w"), "writes");

	fwrite(data, 1, 1000, f);         /* 1000 */
	fwrite(data, 10, 20, f);          /* 200 */
	fwrite(data, 1, 70000, f);        /* 70000 */
	fwrite_unlocked(data, 1, 100, f); /* 100 */
	for (int i = 0; i < 5; i++)
		fputc('x', f);            /* 5 */
	putc('y', f);                     /* 1 */
	fputs("hello\n", f);              /* 6 */
	fputs_unlocked("unlocked", f);    /* 8 */
	fprintf(f, "%d %s\n", 42, "abc"); /* 7 */
	say(f, "%05d", 7);                /* 5 */
	fflush(f);
	fprintf(f, "%s", "");  /* nothing: not counted */
	fwrite(data, 1, 0, f); /* nothing: not counted */
	fseek(f, 10, SEEK_SET);
	fwrite(data, 1, 10, f); /* 10 */
	rewind(f);
	fputs("0123456789", f); /* 10 */
	fseeko(f, 0, SEEK_END);
	fputs("end", f); /* 3, last byte 71334 */
	fflush(f);
	fclose(f);
}

/* 9 reads, 1 open, 3 seeks: 611 bytes */
static void reads(void)
{
	FILE *f = must(fopen("writes", "r"), "writes");
	char line[128], *more = NULL;
	size_t room = 0;
	int number;

	if (fread(data, 1, 500, f) != 500) /* 500 */
		errx(1, "fread");
	if (fread(data, 7, 10, f) != 10) /* 70 */
		errx(1, "fread");
	fgetc(f); /* 1 */
	getc(f);  /* 1 */
	ungetc('a', f);
	fseek(f, 71300, SEEK_SET);
	if (fread(data, 1, 5, f) != 5) /* 5 */
		errx(1, "fread");
	rewind(f);
	if (fscanf(f, "%5d", &number) != 1) /* 5 */
		errx(1, "fscanf");
	fseek(f, 71306, SEEK_SET);
	if (!fgets(line, sizeof(line), f)) /* 6: "hello\n" */
		errx(1, "fgets");
	if (strcmp(line, "hello\n"))
		errx(1, "fgets: %s", line);
	if (getline(&more, &room, f) != 15) /* 15: "unlocked42 abc\n" */
		errx(1, "getline: %s", more);
	free(more);
	if (fread(data, 1, 1000, f) != 8) /* 8: short */
		errx(1, "fread at the end");
	if (fread(data, 1, 1000, f) != 0) /* nothing: not counted */
		errx(1, "fread behind the end");
	fclose(f);
}

static void *eight(void *stream)
{
	for (int i = 0; i < 1000; i++)
		fwrite("12345678", 1, 8, stream);
	return NULL;
}

/* 8,000 writes of 8 bytes by 8 threads on one stream */
static void threads(void)
{
	FILE *f = must(fopen("threads", "w"), "threads");
	pthread_t t[8];

	for (int i = 0; i < 8; i++)
		pthread_create(&t[i], NULL, eight, f);
	for (int i = 0; i < 8; i++)
		pthread_join(t[i], NULL);
	fclose(f);
}

/* the parent writes 3 times, the child of fork twice: 30 + 20 bytes */
static void forked(void)
{
	FILE *f = must(fopen("forked", "a"), "forked");
	pid_t pid;

	fputs("0123456789", f);
	fflush(f);
	pid = fork();
	if (pid == 0) {
		fputs("0123456789", f);
		fputs("0123456789", f);
		fflush(f);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	pid = vfork();
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	fputs("0123456789", f);
	fputs("0123456789", f);
	fclose(f);
}

/* streams by other doors */
static void others(void)
{
	int fd = open("fdopened", O_RDWR | O_CREAT | O_TRUNC, 0600);
	FILE *f = must(fdopen(fd, "w"), "fdopened");

	fputs("by fdopen", f); /* 9 */
	fclose(f);
	f = must(fopen("first", "w"), "first");
	fputs("1", f);
	f = must(freopen("second", "w", f), "second");
	fputs("22", f);
	fsync(fileno(f)); /* the program's own system call: POSIX's */
	fclose(f);
	f = must(fmemopen(data, 100, "w"), "fmemopen"); /* no descriptor */
	fputs("memory", f);
	fclose(f);
	if (fopen("no/such/file", "r"))
		errx(1, "opened what is not there");
	if (fopen("writes", "?"))
		errx(1, "opened with a bad mode");
}

int main(void)
{
	memset(data, '5', sizeof(data));
	writes();
	reads();
	threads();
	forked();
	others();
	/* closed by exit: 4 bytes */
	fputs("exit", must(fopen("by_exit", "w"), "by_exit"));
	return 0;
}
