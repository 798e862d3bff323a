// SPDX-License-Identifier: BSD-3-Clause
/* Prints docs/probes.md from the probe tables. A build tool (target probes_doc), not installed. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "logfmt/counters/module.h"
#include "uprobes/tables/probes.h"

#define COLUMNS 118

static int column;

/* A word of a list entry; continuation lines are indented. */
static void word(const char *format, ...)
{
	char text[512];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (column && column + 1 + n > COLUMNS) {
		printf("\n ");
		column = 1;
	}
	column += printf("%s%s", column ? " " : "", text);
}

static void words(const char *text)
{
	for (size_t n; *text; text += n + (text[n] == ' ')) {
		n = strcspn(text, " ");
		word("%.*s", (int)n, text);
	}
}

static void modules(uint64_t bits)
{
	const char *comma = "";

	for (int i = 0; i < SCRIBE_MAX_MODULES; i++) {
		if (!(bits & 1ull << i) || !scribe_module_by_id(i))
			continue;
		printf("%s%s", comma, scribe_module_by_id(i)->name);
		comma = ", ";
	}
}

static const char *when(const struct scribe_probe *p)
{
	if (p->flags & SCRIBE_POINT_AROUND)
		return ", around another call";
	return p->flags & SCRIBE_POINT_INNER ? ", inside another call" : "";
}

/* The forms of PnetCDF's functions by type, with or without _all: named once for all functions. */
static bool is_typed(const char *symbol)
{
	static const char *const types[] = {"text", "schar", "uchar", "short",  "ushort",   "int",
					    "uint", "long",  "float", "double", "longlong", "ulonglong"};
	size_t n = strlen(symbol);

	if (strncmp(symbol, "ncmpi_", 6))
		return false;
	if (n > 4 && !strcmp(symbol + n - 4, "_all"))
		n -= 4;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		const size_t m = strlen(types[i]);

		if (n > m && symbol[n - m - 1] == '_' && !strncmp(symbol + n - m, types[i], m))
			return true;
	}
	return false;
}

/* MPI's large-count forms, too. */
static bool is_form(const char *symbol)
{
	const size_t n = strlen(symbol);

	return is_typed(symbol) || (!strncmp(symbol, "MPI_File_", 9) && !strcmp(symbol + n - 2, "_c"));
}

static void probes(const struct scribe_library *l)
{
	for (size_t k = 0; k < *l->n; k++) {
		const struct scribe_probe *p = &l->probes[k], *before = k ? p - 1 : NULL;
		char label[512];

		if (is_form(p->symbol))
			continue;
		/* Successive rows that count the same share an entry. */
		if (!before || strcmp(p->counter, before->counter) || when(p) != when(before)) {
			printf("%s", column ? "\n" : "");
			column = 0;
			snprintf(label, sizeof(label), "- %s%s:", p->counter, when(p));
			words(label);
		}
		word("`%s`", p->symbol);
	}
	puts("");
	column = 0;
}

int main(void)
{
	puts("# Probes\n\n"
	     "The functions of each library that are probed, and what they count. Made from the tables in "
	     "`uprobes/tables/*.c`\n"
	     "(target `probes_doc`): a row there adds a probe. Symbols that a library does not have are left out; two "
	     "symbols at\n"
	     "one address are one probe. MPI functions are also searched for by their `PMPI_` names. Not listed: "
	     "large-count\n"
	     "forms (`_c`) of MPI functions, and the forms of PnetCDF's functions by type (`_text`, `_schar`, "
	     "`_uchar`, `_short`,\n"
	     "`_ushort`, `_int`, `_uint`, `_long`, `_float`, `_double`, `_longlong`, `_ulonglong`, each also with "
	     "`_all`).");
	for (size_t i = 0; i < scribe_nlibraries; i++) {
		const struct scribe_library *l = &scribe_libraries[i];

		printf("\n## %s\n\nModules ", l->name);
		modules(l->modules);
		printf("; identified by `%s`", l->marker[0]);
		if (l->marker[1])
			printf(" or `%s`", l->marker[1]);
		printf("; file name `%s`.\n\n", l->pattern);
		probes(l);
	}
	return 0;
}
