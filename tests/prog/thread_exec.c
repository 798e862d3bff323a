// SPDX-License-Identifier: BSD-3-Clause
// exec from a thread that is not the leader, with others in the middle of I/O.
#include "prog.h"

#include <pthread.h>

static char *self;

static void *idle(void *arg)
{
	pause();
	return NULL;
}

static void *execs(void *arg)
{
	char *words[] = {self, "after", NULL};
	int fd = prog_open("before", O_WRONLY | O_CREAT);

	EXACT(write(fd, "thread", 6), 6);
	dup2(fd, 9);
	execv(self, words);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t;

	if (argc > 1) {
		int fd = prog_open("after", O_WRONLY | O_CREAT);

		EXACT(write(fd, "image two", 9), 9);
		EXACT(write(9, "inherited", 9), 9);
		return 0;
	}
	self = argv[0];
	pthread_create(&t, NULL, idle, NULL);
	pthread_create(&t, NULL, execs, NULL);
	pthread_join(t, NULL);
	return 4;
}
