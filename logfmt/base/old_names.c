/* SPDX-License-Identifier: BSD-3-Clause */
/* Renamed configuration keys. Must not know what a key means. */
#include "logfmt/base/old_names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define VARIABLE       "IOSCRIBE_"
#define NAME_MAX_BYTES 64 /* longer than any key */

static const struct {
	const char *old, *now;
} keys[] = {
	{"listed_processes", "max_listed_processes"},
	{"grace_ms", "exit_grace_ms"},
	{"deadline_ms", "finalize_timeout_ms"},
	{"silent_ms", "client_idle_timeout_ms"},
	{"attach", "bpf_attach_mode"},
	{"libraries", "trace_libraries"},
	{"stdio_inside", "stdio_wrap"},
	{"mpiio_inside", "mpiio_wrap"},
};

#define KEYS (sizeof(keys) / sizeof(keys[0]))
_Static_assert(KEYS <= 32, "a set of them is 32 bits");

/* `capitals`: of the key. */
static int is_key(const char *key, const char *name, int capitals)
{
	while (*key && *name == (capitals ? toupper((unsigned char)*key) : *key))
		key++, name++;
	return !*key && !*name;
}

int scribe_old_key(const char *name)
{
	int capitals = !strncmp(name, VARIABLE, strlen(VARIABLE));

	if (capitals)
		name += strlen(VARIABLE);
	for (size_t i = 0; i < KEYS; i++)
		if (is_key(keys[i].old, name, capitals))
			return (int)i;
	return -1;
}

const char *scribe_old_key_now(int number)
{
	return keys[number].now;
}

uint32_t scribe_old_keys_in(const char *lines, size_t bytes)
{
	const char *end = lines + bytes;
	uint32_t set = 0;

	while (lines < end) {
		const char *newline = memchr(lines, '\n', (size_t)(end - lines));
		const char *line_end = newline ? newline : end, *word;
		char name[NAME_MAX_BYTES];
		size_t n = 0;
		int number = -1;

		while (lines < line_end && isspace((unsigned char)*lines))
			lines++;
		for (word = lines; word < line_end && (isalnum((unsigned char)*word) || *word == '_'); word++)
			if (n < sizeof(name) - 1)
				name[n++] = *word;
		name[n] = 0;
		while (word < line_end && isspace((unsigned char)*word))
			word++;
		if (word < line_end && *word == '=') /* otherwise a value or comment mentions the key */
			number = scribe_old_key(name);
		if (number >= 0)
			set |= 1u << number;
		lines = line_end + 1;
	}
	return set;
}

const char *scribe_old_keys_text(const char *head, uint32_t set, char *ret, size_t cap)
{
	size_t at = 0;

	for (size_t i = 0; i < KEYS; i++) {
		int n = 0;

		if (set & 1u << i && at < cap)
			n = snprintf(ret + at, cap - at, "%s%s (now %s)", at ? ", " : head, keys[i].old, keys[i].now);
		at += n > 0 ? (size_t)n : 0;
	}
	if (!at && cap)
		ret[0] = 0;
	return ret;
}
