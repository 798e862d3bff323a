// SPDX-License-Identifier: BSD-3-Clause
/*
 * Messages as Darshan's connector for LDMS sends them: of JOBS jobs with RANKS ranks, each of which
 * opens, writes, reads and closes files of its own, on 16 nodes, in the order of their time.
 *   make_events COUNT [JOBS [RANKS [SEED]]]
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t state;

static uint64_t any(uint64_t below)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (state >> 33) % below;
}

static void put(uint64_t i, unsigned jobs, unsigned ranks)
{
	static const char *const ops[] = {"open", "write", "read", "write", "read", "write", "read", "close"};
	uint64_t job = i % jobs, rank = i / jobs % ranks, turn = i / jobs / ranks;
	uint64_t file = turn / 8 % 100, record = (job * 1000003 + rank * 1009 + file + 1) * 0x9e3779b97f4a7c15ULL;
	uint64_t us = 1700000000000000ULL + i * 3, start = i * 3, dur = 1 + any(turn % 64 ? 200 : 20000);
	const char *op = ops[turn % 8], *module = job % 3 == 2 ? "MPIIO" : "POSIX";
	int is_open = *op == 'o', is_data = *op == 'w' || *op == 'r';
	char exe[64] = "N/A", path[96] = "N/A";

	if (is_open) {
		snprintf(exe, sizeof(exe), "/apps/solver%" PRIu64, job % 2);
		snprintf(path, sizeof(path), "/scratch/job%" PRIu64 "/rank%" PRIu64 ".%" PRIu64, job, rank, file);
	}
	printf("{\"schema\":\"%s\", \"uid\":%" PRIu64 ", \"exe\":\"%s\",\"job_id\":%" PRIu64 ",\"rank\":%" PRIu64
	       ",\"ProducerName\":\"node%" PRIu64 "\",\"file\":\"%s\",\"record_id\":%" PRIu64
	       ",\"module\":\"%s\",\"type\":\"%s\",\"max_byte\":%" PRId64
	       ",\"switches\":%d,\"flushes\":-1,\"cnt\":%" PRIu64
	       ",\"op\":\"%s\",\"seg\":[{\"pt_sel\":-1,\"irreg_hslab\":-1,\"reg_hslab\":-1,\"ndims\":-1,"
	       "\"npoints\":-1,"
	       "\"off\":%" PRId64 ",\"len\":%" PRId64 ",\"start\":%" PRIu64 ".%06" PRIu64 ",\"dur\":%" PRIu64
	       ".%06" PRIu64 ",\"total\":%" PRIu64 ".%06" PRIu64 ",\"timestamp\":%" PRIu64 ".%06" PRIu64 "}]}\n",
	       is_open ? "darshan_data" : "N/A", 1000 + job % 3, exe, 5000 + job, rank, rank % 16, path, record, module,
	       is_open ? "MET" : "MOD", is_data ? (int64_t)(turn * 4096) : -1, is_data ? (int)(turn % 8) : -1,
	       turn / 8 + 1, op, is_data ? (int64_t)(turn * 4096) : -1, is_data ? (int64_t)(1 + any(65536)) : -1,
	       start / 1000000, start % 1000000, dur / 1000000, dur % 1000000, start / 2000000, start / 2 % 1000000,
	       (us + dur) / 1000000, (us + dur) % 1000000);
}

int main(int argc, char **argv)
{
	uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
	unsigned jobs = argc > 2 ? (unsigned)atoi(argv[2]) : 4, ranks = argc > 3 ? (unsigned)atoi(argv[3]) : 8;

	state = argc > 4 ? strtoull(argv[4], NULL, 10) : 1;
	if (!count || !jobs || !ranks)
		return 2;
	for (uint64_t i = 0; i < count; i++)
		put(i, jobs, ranks);
	return fflush(stdout) || ferror(stdout);
}
