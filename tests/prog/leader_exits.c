// SPDX-License-Identifier: BSD-3-Clause
// The first thread leaves; the others go on with I/O; the last ends the process.
#include "prog.h"

#include <pthread.h>
#include <stdatomic.h>

static pthread_t leader;
static atomic_int gone;

static void *worker(void *arg)
{
	char name[32], buf[4096] = {0};
	int fd;

	if ((long)arg == 0) {
		pthread_join(leader, NULL);
		gone = 1;
	}
	while (!gone)
		usleep(1000);
	snprintf(name, sizeof(name), "worker%ld", (long)arg);
	fd = prog_open(name, O_RDWR | O_CREAT);
	for (int i = 0; i < 20; i++)
		EXACT(write(fd, buf, sizeof(buf)), sizeof(buf));
	EXACT(pread(fd, buf, 1000, 0), 1000);
	return NULL;
}

int main(void)
{
	pthread_t t;
	int fd = prog_open("leader", O_WRONLY | O_CREAT);

	leader = pthread_self();
	EXACT(write(fd, "leader", 6), 6);
	for (long i = 0; i < 3; i++)
		pthread_create(&t, NULL, worker, (void *)i);
	pthread_exit(NULL);
}
