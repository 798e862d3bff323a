/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Darshan's C interface as a client sees it: only its own headers, linked to
 * libdarshan-util.so. Every sample log is read, written through the puts and
 * read again; puts out of order are refused; the accumulator is checked by hand.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <darshan-logutils.h>
#include <cmocka.h>

static char copy_path[] = "/tmp/scribe-compat-XXXXXX";

static void free_names(struct darshan_name_record_ref *hash)
{
	struct darshan_name_record_ref *ref, *next;

	HASH_ITER(hlink, hash, ref, next)
	{
		HASH_DELETE(hlink, hash, ref);
		free(ref->name_record);
		free(ref);
	}
}

static int readable(int id)
{
	return mod_logutils[id] != NULL;
}

/* The log through gets and puts. */
static void write_copy(darshan_fd in, const char *path, enum darshan_comp_type comp)
{
	darshan_fd out = darshan_log_create(path, comp, (int)in->partial_flag);
	struct darshan_job job;
	struct darshan_mnt_info *mounts = NULL;
	struct darshan_name_record_ref *names = NULL;
	char exe[DARSHAN_EXE_LEN + 1];
	int n, rc = 0;

	assert_non_null(out);
	assert_int_equal(darshan_log_get_job(in, &job), 0);
	assert_int_equal(darshan_log_put_job(out, &job), 0);
	assert_int_equal(darshan_log_get_exe(in, exe), 0);
	assert_int_equal(darshan_log_put_exe(out, exe), 0);
	assert_int_equal(darshan_log_get_mounts(in, &mounts, &n), 0);
	assert_int_equal(darshan_log_put_mounts(out, mounts, n), 0);
	assert_int_equal(darshan_log_get_namehash(in, &names), 0);
	assert_int_equal(darshan_log_put_namehash(out, names), 0);
	for (int id = 0; id < DARSHAN_KNOWN_MODULE_COUNT; id++) {
		void *rec = NULL;

		while (readable(id) && (rc = darshan_log_get_record(in, id, &rec)) > 0) {
			assert_int_equal(mod_logutils[id]->log_put_record(out, rec), 0);
			darshan_free(rec);
			rec = NULL;
		}
		assert_true(rc >= 0);
	}
	darshan_log_close(out);
	free_names(names);
	darshan_free(mounts);
}

/* LUSTRE and HEATMAP hold pointers: what is behind them counts, not they. */
static void same_record(int id, const void *a, const void *b)
{
	size_t n = (size_t)mod_logutils[id]->log_sizeof_record((void *)a);
	size_t pointers = id == DARSHAN_LUSTRE_MOD || id == DARSHAN_HEATMAP_MOD ? 16 : 0;
	size_t head = 32 + pointers;

	assert_int_equal(n, mod_logutils[id]->log_sizeof_record((void *)b));
	if (pointers == 0) {
		assert_memory_equal(a, b, n);
		return;
	}
	assert_memory_equal(a, b, 32);
	assert_memory_equal((const char *)a + head, (const char *)b + head, n - head);
}

static void same_logs(darshan_fd a, darshan_fd b)
{
	struct darshan_job ja, jb;
	struct darshan_name_record_info *na = NULL, *nb = NULL;
	char ea[DARSHAN_EXE_LEN + 1], eb[DARSHAN_EXE_LEN + 1];
	int ca, cb;

	darshan_log_get_job(a, &ja);
	darshan_log_get_job(b, &jb);
	assert_memory_equal(&ja, &jb, sizeof(ja));
	darshan_log_get_exe(a, ea);
	darshan_log_get_exe(b, eb);
	assert_string_equal(ea, eb);
	darshan_log_get_name_records(a, &na, &ca);
	darshan_log_get_name_records(b, &nb, &cb);
	assert_int_equal(ca, cb);
	for (int i = 0; i < ca; i++) {
		assert_int_equal(na[i].id, nb[i].id);
		assert_string_equal(na[i].name, nb[i].name);
		darshan_free(na[i].name);
		darshan_free(nb[i].name);
	}
	darshan_free(na);
	darshan_free(nb);
	for (int id = 0; id < DARSHAN_KNOWN_MODULE_COUNT; id++) {
		void *ra = NULL, *rb = NULL;

		while (readable(id) && darshan_log_get_record(a, id, &ra) > 0) {
			assert_int_equal(darshan_log_get_record(b, id, &rb), 1);
			same_record(id, ra, rb);
			darshan_free(ra);
			darshan_free(rb);
			ra = rb = NULL;
		}
		if (readable(id))
			assert_int_equal(darshan_log_get_record(b, id, &rb), 0);
	}
}

static void every_sample_log(void **state)
{
	DIR *dir = opendir(SCRIBE_TEST_DATA "/logs");
	struct dirent *e;
	char path[512];
	int logs = 0;

	assert_non_null(dir);
	while ((e = readdir(dir))) {
		const char *dot = strrchr(e->d_name, '.');

		if (!dot || strcmp(dot, ".darshan") != 0)
			continue;
		snprintf(path, sizeof(path), "%s/logs/%s", SCRIBE_TEST_DATA, e->d_name);
		for (int comp = DARSHAN_ZLIB_COMP; comp <= DARSHAN_NO_COMP; comp++) {
			darshan_fd in = darshan_log_open(path), copy;

			assert_non_null(in);
			write_copy(in, copy_path, (enum darshan_comp_type)comp);
			copy = darshan_log_open(copy_path);
			assert_non_null(copy);
			assert_string_equal(copy->version, "3.41");
			same_logs(in, copy);
			darshan_log_close(copy);
			darshan_log_close(in);
			unlink(copy_path);
		}
		logs++;
	}
	closedir(dir);
	assert_true(logs >= 20);
}

/* Known facts of one log. */
static void what_a_log_says(void **state)
{
	darshan_fd fd = darshan_log_open(SCRIBE_TEST_DATA "/logs/mpi-io-test-x86_64-3.5.0.darshan");
	struct darshan_mod_info *mods = NULL;
	struct darshan_mnt_info *mounts = NULL;
	struct darshan_name_record_ref *names = NULL, *ref;
	struct darshan_job job;
	struct darshan_posix_file *rec = NULL;
	uint64_t only[1];
	double runtime;
	int n;

	assert_non_null(fd);
	darshan_log_get_modules(fd, &mods, &n);
	assert_int_equal(n, 5);
	assert_string_equal(mods[0].name, "POSIX");
	assert_int_equal(mods[0].ver, 4);
	assert_string_equal(mods[4].name, "HEATMAP");
	assert_int_equal(mods[4].idx, DARSHAN_HEATMAP_MOD);
	assert_int_equal(darshan_log_get_job(fd, &job), 0);
	assert_int_equal(job.nprocs, 4);
	assert_int_equal(darshan_log_get_job_runtime(fd, job, &runtime), 0);
	assert_true(runtime > 0.0512 && runtime < 0.0513);
	assert_int_equal(darshan_log_get_mounts(fd, &mounts, &n), 0);
	for (int i = 1; i < n; i++)
		assert_true(strlen(mounts[i - 1].mnt_path) >= strlen(mounts[i].mnt_path));
	assert_int_equal(darshan_log_get_record(fd, DARSHAN_POSIX_MOD, (void **)&rec), 1);
	assert_string_equal(posix_counter_names[POSIX_BYTES_READ], "POSIX_BYTES_READ");
	assert_int_equal(rec->base_rec.rank, -1);
	only[0] = rec->base_rec.id;
	assert_int_equal(darshan_log_get_filtered_namehash(fd, &names, only, 1), 0);
	assert_int_equal(HASH_CNT(hlink, names), 1);
	HASH_FIND(hlink, names, &only[0], sizeof(only[0]), ref);
	assert_non_null(ref);
	assert_non_null(strstr((char *)ref->name_record + 8, "mpi-io-test.tmp.dat"));
	free_names(names);
	darshan_free(rec);
	darshan_free(mounts);
	darshan_free(mods);
	assert_string_equal(darshan_log_get_lib_version(), "3.5.0");
	darshan_log_close(fd);
}

/* Raw bytes come in whatever pieces are asked for; another region in between starts anew. */
static void raw_bytes(void **state)
{
	darshan_fd fd = darshan_log_open(SCRIBE_TEST_DATA "/logs/mpi-io-test-x86_64-3.5.0.darshan");
	struct darshan_posix_file whole, parts, *rec = NULL;
	char *at = (char *)&parts;
	int n, total = 0;

	assert_int_equal(darshan_log_get_mod(fd, DARSHAN_POSIX_MOD, &whole, sizeof(whole)), sizeof(whole));
	assert_int_equal(darshan_log_get_mod(fd, DARSHAN_POSIX_MOD, &whole, 1), 0);
	assert_int_equal(darshan_log_get_record(fd, DARSHAN_STDIO_MOD, (void **)&rec), 1);
	darshan_free(rec);
	do { /* a short piece is the last */
		n = darshan_log_get_mod(fd, DARSHAN_POSIX_MOD, at + total, 100);
		total += n;
	} while (n == 100);
	assert_int_equal(total, sizeof(whole));
	assert_memory_equal(&whole, &parts, sizeof(whole));
	darshan_log_close(fd);
}

static void puts_out_of_order(void **state)
{
	struct darshan_posix_file rec = {.base_rec = {1, 0}};
	struct darshan_stdio_file io = {.base_rec = {1, 0}};
	struct darshan_job job = {.nprocs = 1, .metadata = "a=b"}, got;
	darshan_fd fd = darshan_log_create(copy_path, DARSHAN_ZLIB_COMP, 0);
	void *buf = NULL;
	char exe[] = "./x";

	assert_non_null(fd);
	assert_int_equal(darshan_log_put_exe(fd, exe), -1);
	assert_int_equal(darshan_log_put_mod(fd, DARSHAN_POSIX_MOD, &rec, sizeof(rec), 4), -1);
	assert_int_equal(mod_logutils[DARSHAN_POSIX_MOD]->log_put_record(fd, &rec), -1);
	assert_int_equal(darshan_log_put_job(fd, &job), 0);
	assert_int_equal(darshan_log_put_job(fd, &job), -1);
	assert_int_equal(darshan_log_put_mounts(fd, NULL, 0), 0);
	assert_int_equal(darshan_log_put_exe(fd, exe), -1);
	assert_int_equal(darshan_log_put_mod(fd, DARSHAN_STDIO_MOD, &io, sizeof(io), 2), 0);
	assert_int_equal(darshan_log_put_namehash(fd, NULL), -1);
	assert_int_equal(mod_logutils[DARSHAN_POSIX_MOD]->log_put_record(fd, &rec), -1);
	assert_int_equal(darshan_log_get_job(fd, &got), -1);
	darshan_log_close(fd);
	fd = darshan_log_open(copy_path);
	assert_non_null(fd);
	assert_int_equal(darshan_log_get_job(fd, &got), 0);
	assert_string_equal(got.metadata, "a=b\n");
	assert_int_equal(darshan_log_get_record(fd, DARSHAN_STDIO_MOD, &buf), 1);
	assert_memory_equal(buf, &io, sizeof(io));
	darshan_free(buf);
	assert_int_equal(darshan_log_get_record(fd, DARSHAN_APXC_MOD, &buf), -1);
	assert_int_equal(darshan_log_get_record(fd, 48, &buf), -1);
	assert_int_equal(darshan_log_put_job(fd, &job), -1);
	darshan_log_close(fd);
	unlink(copy_path);
	/* a log without a job is none */
	fd = darshan_log_create(copy_path, DARSHAN_ZLIB_COMP, 0);
	darshan_log_close(fd);
	assert_int_equal(access(copy_path, F_OK), -1);
	assert_null(darshan_log_open("/nonexistent"));
	assert_null(darshan_log_create("/nonexistent/x", DARSHAN_ZLIB_COMP, 0));
	darshan_log_close(NULL);
}

static void accumulate(void **state)
{
	struct darshan_posix_file rec[4], sum;
	struct darshan_derived_metrics m;
	const struct darshan_file_category_counters *all = &m.category_counters[DARSHAN_ALL_FILES];
	darshan_accumulator acc;

	memset(rec, 0, sizeof(rec));
	for (int i = 0; i < 4; i++) {
		rec[i].base_rec = (struct darshan_base_record){(uint64_t)(i < 2 ? 7 : i), i == 3 ? -1 : i % 2};
		rec[i].counters[POSIX_BYTES_READ] = 1 << 20;
		rec[i].counters[POSIX_MAX_BYTE_READ] = 100 * (i + 1);
		rec[i].fcounters[POSIX_F_READ_TIME] = 0.5;
		rec[i].fcounters[POSIX_F_META_TIME] = 0.25;
	}
	rec[2].counters[POSIX_BYTES_WRITTEN] = 1 << 20;
	rec[3].fcounters[POSIX_F_SLOWEST_RANK_TIME] = 1;
	assert_int_equal(darshan_accumulator_create(DARSHAN_H5F_MOD, 4, &acc), -1);
	assert_int_equal(darshan_accumulator_create(DARSHAN_POSIX_MOD, 2, &acc), 0);
	assert_int_equal(darshan_accumulator_inject(acc, rec, 4), 0);
	assert_int_equal(darshan_accumulator_emit(acc, &m, &sum), 0);
	assert_int_equal(m.total_bytes, 5 << 20);
	assert_int_equal(m.unique_io_slowest_rank, 0); /* records 0 and 2 */
	assert_true(m.unique_io_total_time_by_slowest == 1.5);
	assert_true(m.unique_md_only_time_by_slowest == 0.5);
	assert_true(m.shared_io_total_time_by_slowest == 1);
	assert_true(m.agg_time_by_slowest == 2.5);
	assert_true(m.agg_perf_by_slowest == 2);
	assert_int_equal(all->count, 3);
	assert_int_equal(all->total_read_volume_bytes, 4 << 20);
	assert_int_equal(all->max_read_volume_bytes, 2 << 20);
	assert_int_equal(all->total_max_offset_bytes, 200 + 300 + 400);
	assert_int_equal(all->max_offset_bytes, 400);
	assert_int_equal(all->nprocs, -1);
	assert_int_equal(m.category_counters[DARSHAN_RO_FILES].count, 2);
	assert_int_equal(m.category_counters[DARSHAN_RW_FILES].count, 1);
	assert_int_equal(m.category_counters[DARSHAN_SHARED_FILES].count, 1);
	assert_int_equal(m.category_counters[DARSHAN_PART_SHARED_FILES].count, 1);
	assert_int_equal(m.category_counters[DARSHAN_UNIQ_FILES].count, 1);
	assert_int_equal(sum.counters[POSIX_BYTES_READ], 4 << 20);
	rec[0].base_rec.rank = 2;
	assert_int_equal(darshan_accumulator_inject(acc, rec, 1), -1);
	assert_int_equal(darshan_accumulator_destroy(acc), 0);
	assert_int_equal(darshan_accumulator_destroy(NULL), 0);
}

/* A trace written and read: threads of its segments survive where the layout has them. */
static void traces_and_threads(void **state)
{
	enum { SEGMENTS = 3 };
	struct {
		struct dxt_file_record head;
		segment_info segments[SEGMENTS];
	} in = {.head = {.base_rec = {7, 2}, .hostname = "node", .write_count = 2, .read_count = 1}}, *out = NULL;
	struct darshan_job job = {.nprocs = 4};
	darshan_fd fd;

	(void)state;
	assert_int_equal(sizeof(segment_info), 32 + 8 * DARSHAN_DXT_THREADS);
	for (int i = 0; i < SEGMENTS; i++) {
		in.segments[i] = (segment_info){.offset = 4096 * i, .length = 10 + i};
		in.segments[i].start_time = i;
		in.segments[i].end_time = i + 0.5;
#if DARSHAN_DXT_THREADS
		in.segments[i].pthread_id = 1000 + (unsigned long)i;
#endif
	}
	fd = darshan_log_create(copy_path, DARSHAN_ZLIB_COMP, 0);
	assert_int_equal(darshan_log_put_job(fd, &job), 0);
	assert_int_equal(mod_logutils[DXT_POSIX_MOD]->log_put_record(fd, &in), 0);
	darshan_log_close(fd);
	fd = darshan_log_open(copy_path);
	assert_non_null(fd);
	assert_int_equal(fd->mod_ver[DXT_POSIX_MOD], 1 + DARSHAN_DXT_THREADS);
	assert_int_equal(darshan_log_get_record(fd, DXT_POSIX_MOD, (void **)&out), 1);
	assert_memory_equal(out, &in, sizeof(in));
	darshan_free(out);
	darshan_log_close(fd);
	unlink(copy_path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_sample_log), cmocka_unit_test(what_a_log_says),
		cmocka_unit_test(raw_bytes),        cmocka_unit_test(puts_out_of_order),
		cmocka_unit_test(accumulate),       cmocka_unit_test(traces_and_threads),
	};
	int fd = mkstemp(copy_path);

	if (fd < 0)
		return 1;
	close(fd);
	unlink(copy_path);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
