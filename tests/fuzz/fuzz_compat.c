/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The input is a whole log file, read through Darshan's C interface, which
 * speaks on standard error: run the fuzzer with -close_fd_mask=2.
 */
#include <darshan-logutils.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void accumulate(darshan_accumulator acc, int id, void *rec)
{
	struct darshan_derived_metrics m;
	char sum[2048];

	if (mod_logutils[id]->log_sizeof_record(rec) > (int)sizeof(sum))
		abort();
	darshan_accumulator_inject(acc, rec, 1);
	darshan_accumulator_emit(acc, &m, sum);
}

static void read_module(darshan_fd fd, int id, int64_t nprocs)
{
	darshan_accumulator acc = NULL;
	void *rec = NULL;

	if (!mod_logutils[id])
		return;
	darshan_accumulator_create((darshan_module_id)id, nprocs, &acc);
	while (darshan_log_get_record(fd, id, &rec) > 0) {
		if (acc)
			accumulate(acc, id, rec);
		darshan_free(rec);
		rec = NULL;
	}
	darshan_accumulator_destroy(acc);
}

static void read_lists(darshan_fd fd)
{
	struct darshan_mnt_info *mounts = NULL;
	struct darshan_mod_info *mods = NULL;
	struct darshan_name_record_info *names = NULL;
	int n;

	darshan_log_get_mounts(fd, &mounts, &n);
	darshan_free(mounts);
	darshan_log_get_modules(fd, &mods, &n);
	darshan_free(mods);
	darshan_log_get_name_records(fd, &names, &n);
	for (int i = 0; i < n; i++)
		darshan_free(names[i].name);
	darshan_free(names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char path[64];
	static int file = -1;
	char exe[DARSHAN_EXE_LEN + 1], raw[333];
	struct darshan_job job;
	darshan_fd fd;

	if (file < 0) {
		file = memfd_create("fuzz", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	}
	if (ftruncate(file, 0) || pwrite(file, data, size, 0) != (ssize_t)size)
		abort();
	fd = darshan_log_open(path);
	if (!fd)
		return 0;
	darshan_log_get_job(fd, &job);
	darshan_log_get_exe(fd, exe);
	read_lists(fd);
	for (int id = 0; id < DARSHAN_KNOWN_MODULE_COUNT; id++) {
		read_module(fd, id, job.nprocs);
		darshan_log_get_job(fd, &job);
		while (darshan_log_get_mod(fd, (darshan_module_id)id, raw, sizeof(raw)) > 0)
			;
	}
	darshan_log_close(fd);
	return 0;
}
