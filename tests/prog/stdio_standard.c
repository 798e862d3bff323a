/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every way to come by a stream, and the standard ones: stdio_standard, below a folder of its own.
 * Only calls that Darshan 3.5 knows: tests/uprobes/stdio_wrap.bats has its counts.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>

int main(void)
{
	char line[32], word[32] = "";
	FILE *f = fopen("named", "w");
	int fd;

	if (!f)
		err(1, "named");
	fprintf(f, "hello %d\n", 5); /* 8 bytes */
	fputc('x', f);
	fflush(f);
	fclose(f);

	fd = open("descriptor", O_CREAT | O_RDWR | O_TRUNC, 0644);
	f = fdopen(fd, "r+");
	if (!f)
		err(1, "descriptor");
	fputs("abc\ndef\n", f);
	rewind(f);
	if (!fgets(line, sizeof(line), f))
		err(1, "line");
	fclose(f);

	f = fopen("named", "r");
	f = freopen("descriptor", "r", f);
	if (!f || fread(line, 1, 5, f) != 5)
		err(1, "again");
	fclose(f);

	printf("out %d\n", 1); /* 6 bytes */
	fprintf(stdout, "%s", "more");
	fflush(stdout);
	fprintf(stderr, "err\n");
	if (fscanf(stdin, "%31s", word) != 1)
		err(1, "word");
	fprintf(stdout, "%s\n", word); /* 4 bytes */
	fflush(stdout);
	if (!freopen("other", "w", stdout))
		err(1, "other");
	printf("%s %d\n", "elsewhere", 7); /* 12 bytes */
	return 0;
}
