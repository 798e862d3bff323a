/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The input is a log (fuzz_any), read and copied through Darshan's C interface,
 * which speaks on standard error: run the fuzzer with -close_fd_mask=2.
 */
#include <darshan-logutils.h>

#include "tests/fuzz/fuzz.h"

#define RECORD_ROOM 2048 /* of every module that sums up */

/* All that the table of a module can do with one record. */
static void use_record(darshan_accumulator acc, int id, void *rec, void *sum, int first)
{
	struct darshan_mod_logutil_funcs *f = mod_logutils[id];
	struct darshan_derived_metrics m;
	char place[] = "x";
	int64_t i[5];
	double d[3];
	uint64_t rid;

	f->log_sizeof_record(rec);
	if (f->log_print_record)
		f->log_print_record(rec, place, place, place);
	if (f->log_print_diff) {
		f->log_print_diff(rec, place, rec, place);
		f->log_print_diff(rec, place, NULL, place);
	}
	if (f->log_record_metrics)
		f->log_record_metrics(rec, &rid, &i[0], &i[1], &i[2], &d[0], &d[1], &d[2], &i[3], &i[4]);
	if (f->log_agg_records && f->log_sizeof_record(rec) <= RECORD_ROOM) /* the caller's room */
		f->log_agg_records(rec, sum, first);
	if (acc) {
		darshan_accumulator_inject(acc, rec, 1);
		darshan_accumulator_emit(acc, &m, (char *)sum + RECORD_ROOM);
	}
}

static void read_module(darshan_fd fd, int id, int64_t nprocs)
{
	char sums[2 * RECORD_ROOM] = {0};
	darshan_accumulator acc = NULL;
	void *rec = NULL;
	int first = 1;

	if (!mod_logutils[id])
		return;
	if (mod_logutils[id]->log_print_description)
		mod_logutils[id]->log_print_description((int)fd->mod_ver[id]);
	darshan_accumulator_create((darshan_module_id)id, nprocs, &acc);
	while (darshan_log_get_record(fd, id, &rec) > 0) {
		use_record(acc, id, rec, sums, first);
		first = 0;
		darshan_free(rec);
		rec = NULL;
	}
	darshan_accumulator_destroy(acc);
}

/* What was read is written again. */
static void copy(darshan_fd in, darshan_fd out, const struct darshan_job *job, char *exe)
{
	struct darshan_name_record_ref *names = NULL, *ref, *next;
	struct darshan_mnt_info *mounts = NULL;
	void *rec = NULL;
	int n = 0;

	darshan_log_get_mounts(in, &mounts, &n);
	darshan_log_get_namehash(in, &names);
	darshan_log_put_job(out, (struct darshan_job *)job);
	darshan_log_put_exe(out, exe);
	darshan_log_put_mounts(out, mounts, n);
	darshan_log_put_namehash(out, names);
	for (int id = 0; id < DARSHAN_KNOWN_MODULE_COUNT; id++) {
		while (mod_logutils[id] && darshan_log_get_record(in, id, &rec) > 0) {
			mod_logutils[id]->log_put_record(out, rec);
			darshan_free(rec);
			rec = NULL;
		}
	}
	HASH_ITER(hlink, names, ref, next)
	{
		HASH_DELETE(hlink, names, ref);
		free(ref->name_record);
		free(ref);
	}
	darshan_free(mounts);
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
	static char out_path[64];
	char exe[DARSHAN_EXE_LEN + 1] = "", raw[333];
	struct darshan_job job = {0};
	int file = fuzz_any(data, size);
	char path[64];
	darshan_fd fd, out;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	if (!out_path[0]) {
		fuzz_quiet();
		snprintf(out_path, sizeof(out_path), "/tmp/ioscribe-fuzz-compat.%d", (int)getpid());
	}
	fd = file < 0 ? NULL : darshan_log_open(path);
	if (!fd)
		return 0;
	darshan_log_get_job(fd, &job);
	darshan_log_get_exe(fd, exe);
	read_lists(fd);
	for (int id = 0; id < DARSHAN_KNOWN_MODULE_COUNT; id++) {
		read_module(fd, id, job.nprocs);
		darshan_log_get_job(fd, &job);
		while (darshan_log_get_mod(fd, (darshan_module_id)id, raw, sizeof(raw)) == (int)sizeof(raw))
			;
	}
	out = darshan_log_create(out_path, DARSHAN_ZLIB_COMP, 0);
	if (!out)
		abort();
	copy(fd, out, &job, exe);
	darshan_log_close(out);
	unlink(out_path);
	darshan_log_close(fd);
	return 0;
}
