/* SPDX-License-Identifier: BSD-3-Clause */
/* Totals of a node from files of /proc and /sys (tests/data/node): sums, what counts once, what is not there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "util/publish/node_sample.h"

static struct scribe_node_sample read_below(const char *name)
{
	struct scribe_node_sample s;
	struct scribe_err err = {0};
	char root[512];

	snprintf(root, sizeof(root), SCRIBE_TEST_DATA "/node/%s", name);
	if (scribe_node_sample_read(root, &s, &err) < 0)
		fail_msg("%s", err.text);
	return s;
}

static void all_that_a_node_has(void **state)
{
	const struct scribe_node_sample s = read_below("new");

	assert_int_equal(s.value[SCRIBE_NODE_cpu_some_us], 157622151);
	assert_int_equal(s.value[SCRIBE_NODE_io_some_us], 116107319);
	assert_int_equal(s.value[SCRIBE_NODE_io_full_us], 75384464);
	assert_int_equal(s.value[SCRIBE_NODE_memory_some_us], 2897);
	assert_int_equal(s.value[SCRIBE_NODE_memory_full_us], 2468);
	/* sda, nvme0n1 and cciss/c0d0; not partitions, dm, md, loop, nor a path of the NVMe disk */
	assert_int_equal(s.value[SCRIBE_NODE_disk_read_bytes], (20480 + 560 + 8) * 512);
	assert_int_equal(s.value[SCRIBE_NODE_disk_written_bytes], (4096 + 240 + 8) * 512);
	assert_int_equal(s.value[SCRIBE_NODE_disk_io_us], (1200 + 18 + 2) * 1000);
	/* the super block that is mounted at two places counts once */
	assert_int_equal(s.value[SCRIBE_NODE_nfs_read_bytes], 7340032 + 4096);
	assert_int_equal(s.value[SCRIBE_NODE_nfs_written_bytes], 8392704);
	assert_int_equal(s.value[SCRIBE_NODE_nfs_operations], 1 + 40 + 9 + 12 + 3 + 2 + 1);
	assert_int_equal(s.value[SCRIBE_NODE_nfs_rtt_us], (1 + 120 + 900 + 18 + 6 + 4 + 7) * 1000);
	assert_int_equal(s.value[SCRIBE_NODE_lustre_read_bytes], 3145728);
	assert_int_equal(s.value[SCRIBE_NODE_lustre_written_bytes], 29360128 + 100);
	assert_int_equal(s.value[SCRIBE_NODE_lustre_opens], 13);
	assert_int_equal(s.value[SCRIBE_NODE_lustre_closes], 12);
}

static void old_lustre_alone_as_a_line(void **state)
{
	const struct scribe_node_sample s = read_below("old");
	struct scribe_err err = {0};
	struct scribe_out out;

	assert_int_equal(scribe_out_open_memory(&out, &err), 0);
	scribe_node_sample_put(&s, "n\"1", 1700000000000042, &out);
	scribe_out_bytes(&out, "", 1);
	assert_string_equal(out.buf, "{\"schema\":\"ioscribe_node\",\"ProducerName\":\"n\\\"1\","
				     "\"timestamp\":1700000000.000042,\"values\":{\"lustre_read_bytes\":81920,"
				     "\"lustre_written_bytes\":1536,\"lustre_opens\":6,\"lustre_closes\":6}}\n");
	scribe_out_close(&out);
}

static void write_file(const char *root, const char *name, const char *text)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

/* Sums stop at the largest number that a store has; lines that are cut or odd count nothing. */
static void odd_files(void **state)
{
	static const char *const files[] = {"proc/pressure/io", "proc/self/mountstats", "proc/self/mountinfo"};
	static const char *const folders[] = {"proc", "proc/pressure", "proc/self"};
	char root[] = "/tmp/node_sample.XXXXXX", path[512];
	struct scribe_node_sample s;
	struct scribe_err err = {0};

	assert_non_null(mkdtemp(root));
	assert_int_equal(scribe_node_sample_read(root, &s, &err), -SCRIBE_E_UNSUPPORTED);
	assert_non_null(strstr(err.text, "this node tells no totals"));
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, folders[i]);
		assert_int_equal(mkdir(path, 0755), 0);
	}
	write_file(root, files[0], "full avg10=0.00 avg60=0.00\nnone total=7\nsome total=5");
	write_file(root, files[1],
		   "device a:/x mounted on /x with fstype nfs4 statvers=1.1\n"
		   "\tbytes:\t1 1 1 1 9223372036854775807 1 1 1\n\tbytes:\t1 1 1 1 9 1 1 1\n\tbytes:\t1 1\n"
		   "\tREAD: 9 9 9 9 9 9 9 9\n\tper-op statistics\n\tREAD: 1 1\n\tREAD: 2 2 0 0 0 0 3 3 0\n"
		   "device a:/x mounted on /y with fstype nfsd\n\tbytes:\t1 1 1 1 1 1 1 1\ndevice\n");
	write_file(root, files[2], "\n36\n36 27 0:45 / /xy rw\n36 27 0:45 /\n");
	assert_int_equal(scribe_node_sample_read(root, &s, &err), 0);
	assert_int_equal(s.value[SCRIBE_NODE_io_some_us], 5);
	assert_int_equal(s.value[SCRIBE_NODE_io_full_us], -1);
	assert_int_equal(s.value[SCRIBE_NODE_nfs_read_bytes], INT64_MAX);
	assert_int_equal(s.value[SCRIBE_NODE_nfs_written_bytes], 2);
	assert_int_equal(s.value[SCRIBE_NODE_nfs_operations], 2);
	assert_int_equal(s.value[SCRIBE_NODE_nfs_rtt_us], 3000);
	assert_int_equal(s.value[SCRIBE_NODE_disk_io_us], -1);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, files[i]);
		unlink(path);
	}
	for (size_t i = sizeof(folders) / sizeof(folders[0]); i-- > 0;) {
		snprintf(path, sizeof(path), "%s/%s", root, folders[i]);
		rmdir(path);
	}
	assert_int_equal(rmdir(root), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_that_a_node_has),
		cmocka_unit_test(old_lustre_alone_as_a_line),
		cmocka_unit_test(odd_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
