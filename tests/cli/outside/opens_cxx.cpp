// SPDX-License-Identifier: BSD-3-Clause
// opens.c in C++: the headers and names of the library hold there too.
#include <cinttypes>
#include <cstdio>
#include <memory>

#include <logfmt/file/names.h>
#include <logfmt/file/reader.h>
#include <logfmt/records/reduce.h>
#include <logfmt/file/writer.h>

int main(int argc, char **argv)
{
	std::unique_ptr<scribe_names, scribe_names *(*)(scribe_names *)> names(scribe_names_new(), scribe_names_free);
	scribe_reader *r = nullptr;
	scribe_err err;
	const void *record;
	int64_t opens = 0;
	size_t len;

	if (argc != 2 || !names)
		return 2;
	if (scribe_reader_open(argv[1], &r, &err)) {
		std::fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	std::unique_ptr<scribe_reader, scribe_reader *(*)(scribe_reader *)> reader(r, scribe_reader_free);
	if (scribe_names_load(names.get(), r, &err))
		return 1;
	while (scribe_reader_borrow_record(r, SCRIBE_MOD_POSIX, &record, &len) > 0)
		opens += static_cast<const scribe_posix_record *>(record)->counters[SCRIBE_POSIX_OPENS];
	std::printf("%" PRId64 " opens, %zu names\n", opens, scribe_names_count(names.get()));
	return 0;
}
