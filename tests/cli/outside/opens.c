/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums up the opens of a log with the installed library: opens LOG */
#include <inttypes.h>
#include <stdio.h>

#include <logfmt/file/names.h>
#include <logfmt/file/reader.h>

int main(int argc, char **argv)
{
	struct scribe_names *names = scribe_names_new();
	struct scribe_reader *reader;
	struct scribe_err err;
	const void *record;
	int64_t opens = 0;
	size_t len;

	if (argc != 2 || !names)
		return 2;
	if (scribe_reader_open(argv[1], &reader, &err) || scribe_names_load(names, reader, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	while (scribe_reader_borrow_record(reader, SCRIBE_MOD_POSIX, &record, &len) > 0)
		opens += ((const struct scribe_posix_record *)record)->counters[SCRIBE_POSIX_OPENS];
	printf("%" PRId64 " opens, %zu names\n", opens, scribe_names_count(names));
	scribe_reader_free(reader);
	scribe_names_free(names);
	return 0;
}
