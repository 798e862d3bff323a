// SPDX-License-Identifier: BSD-3-Clause
// Many threads at once, each with so many rounds on a file that all share and on
// one of its own: the totals are known before.
//   kernels_threads THREADS ROUNDS
// A round: pwrite of 16 and pread of 8 bytes on "shared", write of 32 on "own.T".
#include "prog.h"

#include <pthread.h>

enum { MOST = 256 };

static int shared;
static long rounds;

static void *worker(void *arg)
{
	long me = (long)arg;
	char name[32], buf[32] = {0};
	int own;

	snprintf(name, sizeof(name), "own.%ld", me);
	own = prog_open(name, O_WRONLY | O_CREAT);
	for (long i = 0; i < rounds; i++) {
		EXACT(pwrite(shared, buf, 16, (me * rounds + i) * 16), 16);
		EXACT(pread(shared, buf, 8, (me * rounds + i) * 16), 8);
		EXACT(write(own, buf, 32), 32);
	}
	MUST(close(own));
	return NULL;
}

int main(int argc, char **argv)
{
	long threads = argc > 2 ? atol(argv[1]) : 0;
	pthread_t t[MOST];

	if (threads < 1 || threads > MOST)
		return 2;
	rounds = atol(argv[2]);
	shared = prog_open("shared", O_RDWR | O_CREAT);
	for (long i = 0; i < threads; i++)
		if (pthread_create(&t[i], NULL, worker, (void *)i))
			return 3;
	for (long i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	return 0;
}
