// SPDX-License-Identifier: BSD-3-Clause
// Sums up the opens of a log through Darshan's C interface, from C++ (or C: the
// file is both).
#include <darshan-logutils.h>

int main(int argc, char **argv)
{
	darshan_fd fd = argc == 2 ? darshan_log_open(argv[1]) : NULL;
	struct darshan_name_record_info *names = NULL;
	void *record = NULL;
	int64_t opens = 0;
	int n = 0;

	if (!fd)
		return 1;
	while (darshan_log_get_record(fd, DARSHAN_POSIX_MOD, &record) > 0) {
		opens += ((struct darshan_posix_file *)record)->counters[POSIX_OPENS];
		darshan_free(record);
		record = NULL;
	}
	darshan_log_get_name_records(fd, &names, &n);
	printf("%" PRId64 " opens, %d names\n", opens, n);
	for (int i = 0; i < n; i++)
		darshan_free(names[i].name);
	darshan_free(names);
	darshan_log_close(fd);
	return 0;
}
