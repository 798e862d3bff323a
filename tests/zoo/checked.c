// SPDX-License-Identifier: BSD-3-Clause
// For sanitizers: writes 102 bytes by two calls, reads them, allocates. Exit code 3. With an
// argument it then reads what is not its own, or not set, which a sanitizer tells of.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef OWN_OPTIONS
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}
#endif

int main(int argc, char **argv)
{
	char line[200] = "", *memory = malloc(100);
	FILE *f = fopen("checked.out", "w");
	int n = 0;

	(void)argv;
	if (!f || !memory)
		return 1;
	memset(memory, 'a', 100);
	fwrite(memory, 1, 100, f);
	fprintf(f, "%d\n", 7);
	fclose(f);
	f = fopen("checked.out", "r");
	while (f && fgets(line, sizeof(line), f))
		n++;
	fclose(f);
	printf("%d line of %zu\n", n, strlen(line));
	fflush(stdout);
	if (argc > 1)
		printf("%d\n", memory[100 + argc]);
	free(memory);
	return 3;
}
