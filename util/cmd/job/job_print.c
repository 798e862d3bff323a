// SPDX-License-Identifier: BSD-3-Clause
/*
 * Job entries of the service (key=value lines) as table, lines or JSON. Control characters are escaped, because
 * users choose the values.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/file/names.h"
#include "util/cmd/job/job_print.h"
#include "util/link/service_link.h"
#include "util/text/human.h"

static void value_of(const char *text, size_t bytes, const char *key, char *ret, size_t cap)
{
	size_t k = strlen(key);

	ret[0] = 0;
	for (size_t at = 0; at < bytes;) {
		const char *end = memchr(text + at, '\n', bytes - at);
		size_t n = end ? (size_t)(end - text) - at : bytes - at;

		if (n > k && !memcmp(text + at, key, k) && text[at + k] == '=') {
			snprintf(ret, cap, "%.*s", (int)(n - k - 1), text + at + k + 1);
			return;
		}
		at += n + 1;
	}
}

/* A log that waits in the spool, because its directory could not be written. False: the entry is a job. */
static bool print_spooled(const char *text, size_t bytes)
{
	char kind[16], path[4096], wanted[4096], shown[4 * sizeof(path)];

	value_of(text, bytes, "kind", kind, sizeof(kind));
	if (strcmp(kind, "spooled") != 0)
		return false;
	value_of(text, bytes, "path", path, sizeof(path));
	value_of(text, bytes, "place", wanted, sizeof(wanted));
	printf("waits in the spool: %s", scribe_human_text(path, shown, sizeof(shown)));
	printf(" for %s\n", scribe_human_text(wanted, shown, sizeof(shown)));
	return true;
}

void scribe_job_print_line(const char *text, size_t bytes, bool first)
{
	static const struct {
		const char *key;
		int width;
	} columns[] = {{"job_id", 16},    {"kind", 5},   {"user", 12}, {"state", 8},  {"living", 7},
		       {"processes", 10}, {"worlds", 7}, {"logs", 5},  {"records", 8}};

	if (print_spooled(text, bytes))
		return;
	if (first) {
		for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
			printf("%-*s", columns[i].width + 1, columns[i].key);
		putchar('\n');
	}
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		char value[256], shown[1024];

		value_of(text, bytes, columns[i].key, value, sizeof(value));
		printf("%-*s", columns[i].width + 1, value[0] ? scribe_human_text(value, shown, sizeof(shown)) : "-");
	}
	putchar('\n');
}

void scribe_job_print_all(const char *text, size_t bytes, bool first)
{
	char line[2048], shown[4 * sizeof(line)];

	if (!first)
		putchar('\n');

	for (size_t at = 0; at < bytes;) {
		const char *end = memchr(text + at, '\n', bytes - at);
		size_t n = end ? (size_t)(end - text) - at : bytes - at;

		snprintf(line, sizeof(line), "%.*s", (int)n, text + at);
		printf("%s\n", scribe_human_text(line, shown, sizeof(shown)));
		at += n + 1;
	}
}

static void put_string(const char *value)
{
	static char shown[4 * 16384];
	const char *text =
		scribe_name_printable(value, strlen(value)) ? value : scribe_human_text(value, shown, sizeof(shown));

	putchar('"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putchar('\\');
		if ((unsigned char)*text < 0x20)
			printf("\\u%04x", *text);
		else
			putchar(*text);
	}
	putchar('"');
}

static bool is_number(const char *key, const char *value)
{
	/* 18 digits or more would lose digits in JSON readers; a job id or user name stays a string. */
	return value[0] && strspn(value, "0123456789") == strlen(value) && strlen(value) < 18 &&
	       strcmp(key, "job_id") && strcmp(key, "user");
}

/* All "log" lines become one array, "paths". */
void scribe_job_print_json(const char *text, size_t bytes, bool first)
{
	char *copy = strndup(text, bytes), *rest = copy, *line;
	bool logs = false;

	printf(first ? "\n  {" : ",\n  {");
	for (int n = 0; copy && (line = strsep(&rest, "\n"));) {
		char *equals = strchr(line, '=');

		if (!equals)
			continue;
		*equals = 0;
		printf(n++ && !(logs && !strcmp(line, "log")) ? ",\n    " : n > 1 ? ", " : "\n    ");
		if (!strcmp(line, "log")) {
			if (!logs)
				printf("\"paths\": [");
			logs = true;
			put_string(equals + 1);
			continue;
		}
		put_string(line);
		printf(": ");
		if (is_number(line, equals + 1))
			printf("%s", equals + 1);
		else
			put_string(equals + 1);
	}
	printf(logs ? "]\n  }" : "\n  }");
	free(copy);
}
