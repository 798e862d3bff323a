// SPDX-License-Identifier: BSD-3-Clause
/*
 * I/O totals of this node from the kernel's text files. Missing files are skipped. Must not know sinks, nor
 * when samples are due.
 */
#include "util/publish/node_sample.h"

#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "logfmt/base/client_totals.h"
#include "util/text/quoted.h"

#define SECTOR 512 /* unit of diskstats, independent of the disk */

static const char *const metrics[] = {
#define SCRIBE_X(name) #name,
	SCRIBE_NODE_METRICS(SCRIBE_X)
#undef SCRIBE_X
};

static void add(struct scribe_node_sample *s, enum scribe_node_metric m, uint64_t n, uint64_t times)
{
	uint64_t sum = s->value[m] < 0 ? 0 : (uint64_t)s->value[m];

	if (__builtin_mul_overflow(n, times, &n) || __builtin_add_overflow(sum, n, &sum) || sum > INT64_MAX)
		sum = INT64_MAX;
	s->value[m] = (int64_t)sum;
}

static FILE *open_below(const char *root, const char *name)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s%s", root, name) >= (int)sizeof(path))
		return NULL;
	return fopen(path, "re");
}

static void read_pressure(const char *root, const char *name, const char *word, enum scribe_node_metric m,
			  struct scribe_node_sample *s)
{
	FILE *f = open_below(root, name);
	char line[256];

	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		const char *total = strstr(line, " total=");

		if (total && !strncmp(line, word, strlen(word)))
			add(s, m, strtoull(total + strlen(" total="), NULL, 10), 1);
	}
	fclose(f);
}

static bool is_disk(const char *root, const char *name)
{
	char path[PATH_MAX], file[64];
	bool hidden = false;
	FILE *f;

	snprintf(file, sizeof(file), "%s", name);
	for (char *c = file; *c; c++)
		*c = *c == '/' ? '!' : *c;
	/* Physical disks have a device; partitions are not listed there, loop, ram, dm and md have none. */
	snprintf(path, sizeof(path), "%s/sys/block/%s/device", root, file);
	if (access(path, F_OK) < 0)
		return false;
	/* Paths of a multipath NVMe disk are hidden: their operations count with the disk. */
	snprintf(path, sizeof(path), "/sys/block/%s/hidden", file);
	f = open_below(root, path);
	if (f) {
		hidden = fgetc(f) == '1';
		fclose(f);
	}
	return !hidden;
}

/* Documentation/admin-guide/iostats.rst */
static void read_disks(const char *root, struct scribe_node_sample *s)
{
	FILE *f = open_below(root, "/proc/diskstats");
	char line[512], name[64];
	uint64_t read, written, ms;

	if (!f)
		return;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%*u %*u %63s %*u %*u %" SCNu64 " %*u %*u %*u %" SCNu64 " %*u %*u %" SCNu64, name,
			   &read, &written, &ms) != 4 ||
		    !is_disk(root, name))
			continue;
		add(s, SCRIBE_NODE_disk_read_bytes, read, SECTOR);
		add(s, SCRIBE_NODE_disk_written_bytes, written, SECTOR);
		add(s, SCRIBE_NODE_disk_io_us, ms, 1000);
	}
	fclose(f);
}

static void on_mount(void *ctx, const struct scribe_client_mount *m)
{
	static const struct {
		enum scribe_client_total total;
		enum scribe_node_metric metric;
	} kept[] = {
		{SCRIBE_CLIENT_BYTES_READ, SCRIBE_NODE_nfs_read_bytes},
		{SCRIBE_CLIENT_BYTES_WRITTEN, SCRIBE_NODE_nfs_written_bytes},
		{SCRIBE_CLIENT_REQUESTS, SCRIBE_NODE_nfs_operations},
		{SCRIBE_CLIENT_RTT_US, SCRIBE_NODE_nfs_rtt_us},
	};

	for (size_t i = 0; !m->again && i < sizeof(kept) / sizeof(kept[0]); i++)
		if (m->total[kept[i].total] >= 0)
			add(ctx, kept[i].metric, (uint64_t)m->total[kept[i].total], 1);
}

static void read_lustre_mount(const char *path, struct scribe_node_sample *s)
{
	FILE *f = fopen(path, "re");
	char line[256], name[64];
	uint64_t n, sum;

	if (!f)
		return;
	/* Lustre omits counters that are 0. */
	for (int m = SCRIBE_NODE_lustre_read_bytes; m <= SCRIBE_NODE_lustre_closes; m++)
		add(s, (enum scribe_node_metric)m, 0, 1);
	while (fgets(line, sizeof(line), f)) {
		const int found = sscanf(line, "%63s %" SCNu64 " samples [%*[a-z]] %*u %*u %" SCNu64, name, &n, &sum);

		if (found == 3 && !strcmp(name, "read_bytes"))
			add(s, SCRIBE_NODE_lustre_read_bytes, sum, 1);
		else if (found == 3 && !strcmp(name, "write_bytes"))
			add(s, SCRIBE_NODE_lustre_written_bytes, sum, 1);
		else if (found >= 2 && !strcmp(name, "open"))
			add(s, SCRIBE_NODE_lustre_opens, n, 1);
		else if (found >= 2 && !strcmp(name, "close"))
			add(s, SCRIBE_NODE_lustre_closes, n, 1);
	}
	fclose(f);
}

static void read_lustre(const char *root, struct scribe_node_sample *s)
{
	/* Lustre 2.12 moved them to debugfs, which only root can read. */
	static const char *const places[] = {"/sys/kernel/debug/lustre/llite/*/stats", "/proc/fs/lustre/llite/*/stats"};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]) && s->value[SCRIBE_NODE_lustre_opens] < 0; i++) {
		char pattern[PATH_MAX];
		glob_t found;

		if (snprintf(pattern, sizeof(pattern), "%s%s", root, places[i]) >= (int)sizeof(pattern) ||
		    glob(pattern, GLOB_NOSORT, NULL, &found))
			continue;
		for (size_t k = 0; k < found.gl_pathc; k++)
			read_lustre_mount(found.gl_pathv[k], s);
		globfree(&found);
	}
}

int scribe_node_sample_read(const char *root, struct scribe_node_sample *ret_sample, struct scribe_err *err)
{
	struct scribe_node_sample s;

	for (int i = 0; i < SCRIBE_NODE_NMETRICS; i++)
		s.value[i] = -1;
	read_pressure(root, "/proc/pressure/cpu", "some", SCRIBE_NODE_cpu_some_us, &s);
	read_pressure(root, "/proc/pressure/io", "some", SCRIBE_NODE_io_some_us, &s);
	read_pressure(root, "/proc/pressure/io", "full", SCRIBE_NODE_io_full_us, &s);
	read_pressure(root, "/proc/pressure/memory", "some", SCRIBE_NODE_memory_some_us, &s);
	read_pressure(root, "/proc/pressure/memory", "full", SCRIBE_NODE_memory_full_us, &s);
	read_disks(root, &s);
	scribe_client_nfs(root, "self", on_mount, &s);
	read_lustre(root, &s);
	for (int i = 0; i < SCRIBE_NODE_NMETRICS; i++)
		if (s.value[i] >= 0) {
			*ret_sample = s;
			return 0;
		}
	return scribe_err_set(err, -SCRIBE_E_UNSUPPORTED,
			      "this node tells no totals: no /proc/pressure, no disks, no mount of NFS or Lustre");
}

void scribe_node_sample_put(const struct scribe_node_sample *s, const char *node, int64_t time_us,
			    struct scribe_out *out)
{
	const char *comma = "";

	scribe_out_text(out, "{\"schema\":\"ioscribe_node\",\"ProducerName\":");
	scribe_json_string(out, node, strlen(node));
	scribe_out_printf(out, ",\"timestamp\":%" PRId64 ".%06" PRId64 ",\"values\":{", time_us / 1000000,
			  time_us % 1000000);
	for (int i = 0; i < SCRIBE_NODE_NMETRICS; i++)
		if (s->value[i] >= 0) {
			scribe_out_printf(out, "%s\"%s\":%" PRId64, comma, metrics[i], s->value[i]);
			comma = ",";
		}
	scribe_out_text(out, "}}\n");
}
