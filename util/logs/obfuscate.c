// SPDX-License-Identifier: BSD-3-Clause
/*
 * Keyed hashes for `ioscribe convert`, equal to those of darshan-convert (Bob Jenkins' lookup3, 32 bits). They do not
 * protect values that a reader with the key can guess.
 */
#include "util/logs/obfuscate.h"

#include <stdio.h>
#include <string.h>

#include "util/text/print_record.h"

static uint32_t turn(uint32_t v, int n)
{
	return v << n | v >> (32 - n);
}

/* Little endian on every machine; missing bytes are 0. */
static uint32_t word(const unsigned char *p, size_t n)
{
	uint32_t v = 0;

	for (size_t i = 0; i < n && i < 4; i++)
		v |= (uint32_t)p[i] << 8 * i;
	return v;
}

/* From "lookup3.c, by Bob Jenkins, May 2006", public domain. */
static void mix(uint32_t v[3])
{
	static const int turns[6] = {4, 6, 8, 16, 19, 4};

	for (int i = 0; i < 6; i++) {
		uint32_t *a = &v[i % 3], *b = &v[(i + 1) % 3], *c = &v[(i + 2) % 3];

		*a -= *c;
		*a ^= turn(*c, turns[i]);
		*c += *b;
	}
}

/* From lookup3. */
static void final_mix(uint32_t v[3])
{
	static const int turns[7] = {14, 11, 25, 16, 4, 14, 24};

	for (int i = 0; i < 7; i++) {
		uint32_t *to = &v[(i + 2) % 3], *from = &v[(i + 1) % 3];

		*to ^= *from;
		*to -= turn(*from, turns[i]);
	}
}

uint32_t scribe_obfuscate_hash(const void *bytes, size_t n, uint32_t key)
{
	const unsigned char *p = bytes;
	uint32_t start = 0xdeadbeef + (uint32_t)n + key;
	uint32_t v[3] = {start, start, start};

	for (; n > 12; n -= 12, p += 12) {
		for (int i = 0; i < 3; i++)
			v[i] += word(p + 4 * i, 4);
		mix(v);
	}
	if (n == 0)
		return v[2];
	for (size_t i = 0; i < 3 && 4 * i < n; i++)
		v[i] += word(p + 4 * i, n - 4 * i);
	final_mix(v);
	return v[2];
}

void scribe_obfuscate_jobid(struct scribe_log_job *job, uint32_t key)
{
	if (job->jobid) /* 0 means no job id */
		job->jobid = scribe_obfuscate_hash(&job->jobid, sizeof(job->jobid), key);
}

void scribe_obfuscate_uid(struct scribe_log_job *job, uint32_t key)
{
	job->uid = scribe_obfuscate_hash(&job->uid, sizeof(job->uid), key);
}

void scribe_obfuscate_exe(const char *exe, uint32_t key, char *to, size_t cap)
{
	snprintf(to, cap, "%u", scribe_obfuscate_hash(exe, strlen(exe), key));
}

const char *scribe_obfuscate_name(const struct scribe_log *log, const char *name, size_t len, uint32_t key, char *to,
				  size_t cap)
{
	static const char *const kept[] = {"<STDIN>", "<STDOUT>", "<STDERR>", "heatmap:"};
	struct scribe_mount mount;
	uint32_t hash = scribe_obfuscate_hash(name, len, key);

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		if (!strncmp(kept[i], name, strlen(kept[i])))
			return NULL;
	/* As in darshan-convert the mount point stays readable; streams and heatmaps keep their names. */
	mount = scribe_print_mount_of(log->mounts, log->nmounts, name);
	if (strcmp(mount.path, "UNKNOWN"))
		snprintf(to, cap, "%s/%u", mount.path, hash);
	else
		snprintf(to, cap, "%u", hash);
	return to;
}

void scribe_obfuscate_process(struct scribe_process_record *p, uint32_t key, int uid, int exe, int names)
{
	uint32_t hash;

	if (uid)
		p->uid = scribe_obfuscate_hash(&p->uid, sizeof(p->uid), key);
	if (exe) {
		hash = scribe_obfuscate_hash(p->exe, strnlen(p->exe, sizeof(p->exe)), key);
		memset(p->exe, 0, sizeof(p->exe));
		snprintf(p->exe, sizeof(p->exe), "%u", hash);
	}
	if (names) {
		hash = scribe_obfuscate_hash(p->host, strnlen(p->host, sizeof(p->host)), key);
		memset(p->host, 0, sizeof(p->host));
		snprintf(p->host, sizeof(p->host), "%u", hash);
	}
}
