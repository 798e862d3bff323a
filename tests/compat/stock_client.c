/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What programs built with Darshan's own headers and run on our libdarshan-util.so
 * rely on, beyond types and names: the buckets of the table of names, a region
 * that starts over once its end was told, every function of mod_logutils that
 * Darshan's tools call without a look, and the rows that they print.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <darshan-dxt-logutils.h>
#include <darshan-logutils.h>
#include <darshan-posix-log-format.h>
#include <uthash-1.9.2/src/uthash.h>
#include <cmocka.h>

#define LOG(name) SCRIBE_TEST_DATA "/logs/" name ".darshan"

static char path[] = "/tmp/scribe-stock-XXXXXX";
static char seen[65536]; /* what was printed */
static int saved_stdout;
static FILE *caught;

static void catch_begin(void)
{
	fflush(stdout);
	caught = tmpfile();
	assert_non_null(caught);
	saved_stdout = dup(STDOUT_FILENO);
	dup2(fileno(caught), STDOUT_FILENO);
}

static const char *catch_end(void)
{
	size_t n;

	fflush(stdout);
	dup2(saved_stdout, STDOUT_FILENO);
	close(saved_stdout);
	rewind(caught);
	n = fread(seen, 1, sizeof(seen) - 1, caught);
	seen[n] = 0;
	fclose(caught);
	return seen;
}

/* Values that the macros of uthash 1.9.2 give on x86-64, where `char` has a sign. */
static void names_lie_where_darshan_looks(void **state)
{
	static const struct {
		uint64_t id;
		unsigned hash;
	} known[] = {{15920181672442173319U, 0x85e9c7d1}, {14734109647742566553U, 0xeb189f79}, {5, 0x6fec3931}};
	struct darshan_name_record_ref *names = NULL, *ref, *next;
	darshan_fd fd = darshan_log_open(LOG("mpi-io-test-x86_64-3.5.0"));
	int found = 0;

	(void)state;
	assert_non_null(fd);
	assert_int_equal(darshan_log_get_namehash(fd, &names), 0);
	HASH_ITER(hlink, names, ref, next)
	{
		const UT_hash_table *t = ref->hlink.tbl;
		unsigned hash = darshan_uthash(&ref->name_record->id, sizeof(uint64_t));
		const UT_hash_handle *h = t->buckets[hash & (t->num_buckets - 1)].hh_head;

		assert_int_equal(ref->hlink.hashv, hash);
		while (h && h != &ref->hlink)
			h = h->hh_next;
		assert_ptr_equal(h, &ref->hlink);
		found++;
		HASH_DELETE(hlink, names, ref);
		darshan_free(ref->name_record);
		darshan_free(ref);
	}
	assert_true(found > 3);
	darshan_log_close(fd);
	if ((char)-1 > 0)
		return;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		assert_int_equal(darshan_uthash(&known[i].id, sizeof(known[i].id)), known[i].hash);
	assert_int_equal(darshan_uthash("\xff\x80 twelve bytes and more\xe9", 25), 0xb5a2522f);
}

static void a_region_starts_over_after_its_end(void **state)
{
	darshan_fd fd = darshan_log_open(LOG("mpi-io-test-x86_64-3.5.0"));
	char bytes[sizeof(struct darshan_posix_file) + 1];
	struct darshan_posix_file *rec = NULL;

	(void)state;
	assert_non_null(fd);
	for (int turn = 0; turn < 3; turn++) {
		assert_int_equal(darshan_log_get_record(fd, DARSHAN_POSIX_MOD, (void **)&rec), 1);
		assert_int_equal(rec->base_rec.id, 9347516096890457488U);
		darshan_free(rec);
		rec = NULL;
		assert_int_equal(darshan_log_get_record(fd, DARSHAN_POSIX_MOD, (void **)&rec), 0);
	}
	for (int turn = 0; turn < 3; turn++) /* a short read tells the end, too */
		assert_int_equal(darshan_log_get_mod(fd, DARSHAN_POSIX_MOD, bytes, sizeof(bytes)), sizeof(bytes) - 1);
	for (int turn = 0; turn < 3; turn++) {
		assert_int_equal(darshan_log_get_mod(fd, DARSHAN_POSIX_MOD, bytes, sizeof(bytes) - 1),
				 sizeof(bytes) - 1);
		assert_int_equal(darshan_log_get_mod(fd, DARSHAN_POSIX_MOD, bytes, sizeof(bytes) - 1), 0);
	}
	darshan_log_close(fd);
}

/* Raw bytes only of modules that the interface knows, in either direction. */
static void modules_without_a_name(void **state)
{
	darshan_fd fd = darshan_log_open(LOG("mpi-io-test-x86_64-3.5.0"));
	struct darshan_job job = {.nprocs = 1};
	char bytes[64] = {0};

	(void)state;
	assert_non_null(fd);
	assert_int_equal(darshan_log_get_mod(fd, DARSHAN_MDHIM_MOD, bytes, sizeof(bytes)), 0);
	assert_int_equal(darshan_log_get_mod(fd, DARSHAN_KNOWN_MODULE_COUNT, bytes, sizeof(bytes)), -1);
	assert_int_equal(darshan_log_get_mod(fd, (darshan_module_id)50, bytes, sizeof(bytes)), -1);
	darshan_log_close(fd);
	fd = darshan_log_create(path, DARSHAN_ZLIB_COMP, 0);
	assert_non_null(fd);
	assert_int_equal(darshan_log_put_job(fd, &job), 0);
	assert_int_equal(darshan_log_put_mod(fd, DARSHAN_KNOWN_MODULE_COUNT, bytes, sizeof(bytes), 1), -1);
	assert_int_equal(darshan_log_put_mod(fd, DARSHAN_DFS_MOD, bytes, sizeof(bytes), 1), 0);
	darshan_log_close(fd);
	unlink(path);
}

/* darshan_log_put_mounts writes the last first: of one length, the last is found first. */
static void mounts_are_put_last_first(void **state)
{
	struct darshan_mnt_info in[] = {{"ext4", "/aa"}, {"nfs", "/bb"}, {"xfs", "/ccc"}}, *out = NULL;
	static const char *const want[] = {"/ccc", "/bb", "/aa"};
	struct darshan_job job = {.nprocs = 1};
	darshan_fd fd = darshan_log_create(path, DARSHAN_ZLIB_COMP, 0);
	char exe[] = "x";
	int n = 0;

	(void)state;
	assert_non_null(fd);
	assert_int_equal(darshan_log_put_job(fd, &job), 0);
	assert_int_equal(darshan_log_put_exe(fd, exe), 0);
	assert_int_equal(darshan_log_put_mounts(fd, in, 3), 0);
	darshan_log_close(fd);
	fd = darshan_log_open(path);
	assert_non_null(fd);
	assert_int_equal(darshan_log_get_mounts(fd, &out, &n), 0);
	assert_int_equal(n, 3);
	for (int i = 0; i < n; i++)
		assert_string_equal(out[i].mnt_path, want[i]);
	darshan_free(out);
	darshan_log_close(fd);
	unlink(path);
}

/* darshan-diff, -merge and -parser call these for any module with records. */
static void functions_that_tools_call(void **state)
{
	(void)state;
	for (int id = DARSHAN_POSIX_MOD; id < DARSHAN_KNOWN_MODULE_COUNT; id++) {
		const struct darshan_mod_logutil_funcs *f = mod_logutils[id];
		int traces = id == DXT_POSIX_MOD || id == DXT_MPIIO_MOD;

		if (id == DARSHAN_APXC_MOD)
			continue;
		assert_non_null(f);
		assert_true(f->log_get_record && f->log_put_record && f->log_print_record && f->log_sizeof_record);
		if (!traces && id != DARSHAN_HEATMAP_MOD)
			assert_true(f->log_print_description && f->log_print_diff);
		if (!traces && id != DARSHAN_HEATMAP_MOD && id != DARSHAN_APMPI_MOD)
			assert_non_null(f->log_agg_records);
	}
}

static void diffs(void **state)
{
	char one[] = "one", two[] = "two";
	union {
		struct darshan_mdhim_record rec;
		int64_t words[32];
	} a = {0}, b = {0};
	struct darshan_apmpi_perf_record p = {.base_rec = {7, 1}, .node_name = "n1"}, q = p;
	struct darshan_apmpi_header_record h = {.base_rec = {7, 0}, .magic = SCRIBE_APMPI_MAGIC}, g = h;
	struct darshan_daos_object d = {.base_rec = {9, 0}, .oid_hi = 3, .oid_lo = 4};

	(void)state;
	a.rec.counters[MDHIM_SERVERS] = 1;
	b.rec.counters[MDHIM_SERVERS] = 2;
	(&b.rec.server_histogram[0])[1] = 5;
	catch_begin();
	mod_logutils[DARSHAN_MDHIM_MOD]->log_print_diff(&a, one, &b, two);
	assert_string_equal(catch_end(), "- MDHIM\t0\t0\tMDHIM_SERVERS\t1\tone\t\t\n"
					 "+ MDHIM\t0\t0\tMDHIM_SERVERS\t2\ttwo\t\t\n"
					 "+ MDHIM\t0\t0\tMDHIM_SERVER_1\t5\ttwo\t\t\n");
	strcpy(q.node_name, "n2");
	catch_begin();
	mod_logutils[DARSHAN_APMPI_MOD]->log_print_diff(&p, one, &q, two);
	assert_string_equal(catch_end(), "- APMPI\t1\t7\tMPI_PROCESSOR_NAME\tn1\t\t\t\n"
					 "+ APMPI\t1\t7\tMPI_PROCESSOR_NAME\tn2\t\t\t\n");
	g.apmpi_f_variance_total_mpitime = 2;
	catch_begin();
	mod_logutils[DARSHAN_APMPI_MOD]->log_print_diff(&h, one, &g, two);
	mod_logutils[DARSHAN_APMPI_MOD]->log_print_diff(NULL, NULL, &g, two);
	mod_logutils[DARSHAN_APMPI_MOD]->log_print_diff(&h, one, &q, two);
	assert_string_equal(catch_end(), "- APMPI\t0\t7\tMPI_TOTAL_COMM_TIME_VARIANCE\t0.000000\t\t\t\n"
					 "+ APMPI\t0\t7\tMPI_TOTAL_COMM_TIME_VARIANCE\t2.000000\t\t\t\n"
					 "+ APMPI\t0\t7\tMPI_TOTAL_COMM_TIME_VARIANCE\t2.000000\t\t\t\n");
	catch_begin();
	mod_logutils[DARSHAN_DAOS_MOD]->log_print_diff(&d, one, NULL, NULL);
	assert_memory_equal(catch_end(), "- DAOS\t0\t9\tDAOS_OBJ_OPENS\t0\t3.4\t\t\n", 33);
}

/* What stands behind counters without a file's place. */
static void rows_of_modules_without_mounts(void **state)
{
	struct darshan_apmpi_header_record h = {.base_rec = {7, 0}, .magic = SCRIBE_APMPI_MAGIC, .sync_flag = 1};
	struct darshan_apmpi_perf_record p = {.base_rec = {8, 1}, .node_name = "node"};
	struct darshan_dfs_file d = {.base_rec = {9, 0}, .pool_uuid = {0xab}, .cont_uuid = {1}};
	char name[] = "x", unknown[] = "UNKNOWN";
	const char *text;

	(void)state;
	catch_begin();
	mod_logutils[DARSHAN_APMPI_MOD]->log_print_record(&h, name, unknown, unknown);
	mod_logutils[DARSHAN_APMPI_MOD]->log_print_record(&p, name, unknown, unknown);
	text = catch_end();
	assert_null(strstr(text, "UNKNOWN"));
	assert_non_null(strstr(text, "APMPI\t1\t8\tMPI_PROCESSOR_NAME\tnode\t\t\t\n"));
	assert_non_null(strstr(text, "APMPI\t1\t8\tMPI_TOTAL_COMM_SYNC_TIME\t0.000000\t\t\t\n"));
	catch_begin();
	mod_logutils[DARSHAN_DFS_MOD]->log_print_record(&d, name, unknown, unknown);
	assert_non_null(strstr(catch_end(), "DFS\t0\t9\tDFS_OPENS\t0\tx\t"
					    "ab000000-0000-0000-0000-000000000000:"
					    "01000000-0000-0000-0000-000000000000\tN/A\n"));
}

static void traces_as_rows(void **state)
{
	struct {
		struct dxt_file_record head;
		segment_info segments[2];
	} in = {.head = {.base_rec = {7, 2}, .hostname = "node", .write_count = 1, .read_count = 1}};
	struct darshan_lustre_component comp = {
		.counters = {
			[LUSTRE_COMP_STRIPE_SIZE] = 4096, [LUSTRE_COMP_STRIPE_COUNT] = 2, [LUSTRE_COMP_EXT_END] = -1}};
	OST_ID osts[] = {11, 12};
	struct darshan_lustre_record layout = {.num_comps = 1, .num_stripes = 2, .comps = &comp, .ost_ids = osts};
	struct lustre_record_ref ref = {.rec = &layout};
	char name[] = "/f", mnt[] = "/", fs[] = "lustre";
#if DARSHAN_DXT_THREADS
	uint32_t mod_ver[DARSHAN_MAX_MODS] = {0}; /* a log whose segments name no thread */
#define VERSIONS , mod_ver
#else
#define VERSIONS
#endif

	(void)state;
	in.segments[0] = (segment_info){.offset = 4096, .length = 8192, .start_time = 1, .end_time = 2};
	in.segments[1] = (segment_info){.length = 1, .end_time = 0.5};
	catch_begin();
	dxt_log_print_posix_file(&in, name, mnt, fs, &ref VERSIONS);
	assert_string_equal(
		catch_end(),
		"\n# DXT, file_id: 7, file_name: /f\n# DXT, rank: 2, hostname: node\n"
		"# DXT, write_count: 1, read_count: 1\n# DXT, mnt_pt: /, fs_type: lustre\n"
		"# DXT, Lustre stripe components:\n"
		"#\t[Component 1] stripe_ext: 0 - EOF, stripe_size: 4096, stripe_count: 2, OSTs: 11 12\n"
		"# Module    Rank  Wt/Rd  Segment          Offset       Length    Start(s)      End(s)   "
		"[OST]\n"
		" X_POSIX       2  write        0            4096            8192      1.0000      2.0000    "
		"[12] "
		"[11]\n"
		" X_POSIX       2   read        0               0               1      0.0000      0.5000    "
		"[11]\n");
	catch_begin();
	dxt_log_print_mpiio_file(&in, NULL, mnt, fs VERSIONS);
	mod_logutils[DXT_MPIIO_MOD]->log_print_record(&in, name, mnt, fs); /* prints nothing */
	assert_string_equal(
		catch_end(),
		"\n# DXT, file_id: 7, file_name: (null)\n# DXT, rank: 2, hostname: node\n"
		"# DXT, write_count: 1, read_count: 1\n# DXT, mnt_pt: /, fs_type: lustre\n"
		"# Module    Rank  Wt/Rd  Segment          Offset       Length    Start(s)      End(s)\n"
		" X_MPIIO       2  write        0            4096            8192      1.0000      2.0000\n"
		" X_MPIIO       2   read        0               0               1      0.0000      0.5000\n");
}

static void datasets_know_their_slowest_rank(void **state)
{
	struct darshan_hdf5_dataset rec[3], sum;

	(void)state;
	memset(rec, 0, sizeof(rec));
	for (int i = 0; i < 3; i++) {
		rec[i].base_rec = (struct darshan_base_record){7, i};
		rec[i].counters[H5D_BYTES_READ] = 10 * (i + 1);
		rec[i].fcounters[H5D_F_READ_TIME] = i == 1 ? 3 : i;
		mod_logutils[DARSHAN_H5D_MOD]->log_agg_records(&rec[i], &sum, i == 0);
	}
	assert_int_equal(sum.base_rec.rank, -1);
	assert_int_equal(sum.counters[H5D_BYTES_READ], 60);
	assert_int_equal(sum.counters[H5D_FASTEST_RANK], 0);
	assert_int_equal(sum.counters[H5D_FASTEST_RANK_BYTES], 10);
	assert_int_equal(sum.counters[H5D_SLOWEST_RANK], 1);
	assert_int_equal(sum.counters[H5D_SLOWEST_RANK_BYTES], 20);
	assert_true(sum.fcounters[H5D_F_FASTEST_RANK_TIME] == 0);
	assert_true(sum.fcounters[H5D_F_SLOWEST_RANK_TIME] == 3);
}

static void macros_of_the_headers(void **state)
{
#define X(counter) #counter,
	static const char *const names[] = {POSIX_F_COUNTERS};
#undef X
	unsigned char bytes[16];

	(void)state;
	for (int i = 0; i < 16; i++)
		bytes[i] = (unsigned char)i;
	assert_int_equal(sizeof(names) / sizeof(names[0]), POSIX_F_NUM_INDICES + 1);
	assert_string_equal(names[POSIX_F_READ_TIME], "POSIX_F_READ_TIME");
	assert_string_equal(names[POSIX_F_NUM_INDICES], "POSIX_F_NUM_INDICES");
	assert_int_equal(DARSHAN_POSIX_VER, darshan_module_versions[DARSHAN_POSIX_MOD]);
	assert_int_equal(DXT_MPIIO_VER, 2 + DARSHAN_DXT_THREADS);
	DARSHAN_BSWAP128(bytes);
	for (int i = 0; i < 16; i++)
		assert_int_equal(bytes[i], 15 - i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_lie_where_darshan_looks),
		cmocka_unit_test(a_region_starts_over_after_its_end),
		cmocka_unit_test(modules_without_a_name),
		cmocka_unit_test(mounts_are_put_last_first),
		cmocka_unit_test(functions_that_tools_call),
		cmocka_unit_test(diffs),
		cmocka_unit_test(rows_of_modules_without_mounts),
		cmocka_unit_test(traces_as_rows),
		cmocka_unit_test(datasets_know_their_slowest_rank),
		cmocka_unit_test(macros_of_the_headers),
	};
	int fd = mkstemp(path);

	if (fd < 0)
		return 1;
	close(fd);
	unlink(path);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
