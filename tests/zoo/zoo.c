// SPDX-License-Identifier: BSD-3-Clause
// Writes 100 times 1000 bytes to half.RANK, says a word on both outputs, waits
// until all ranks have come so far, and ends in the way named.
//   zoo ENDING; in the environment: ZOO_PIDS, ZOO_CGROUP (a folder each)
// With -DZOO_MPI an MPI program. zoo.py and zoo.go do the same.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef ZOO_MPI
#include <mpi.h>
#endif

static char self[PATH_MAX];
static int rank, size = 1;

static void nap(int ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000L};

	while (nanosleep(&t, &t) < 0 && errno == EINTR)
		;
}

static int number(const char *name, int otherwise)
{
	return getenv(name) ? atoi(getenv(name)) : otherwise;
}

static void must(long rc, const char *what)
{
	if (rc >= 0)
		return;
	perror(what);
	_exit(99);
}

/* Write `text` to FOLDER/NAME, where the environment names the folder. */
static void put(const char *folder, const char *name, const char *text)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", getenv(folder), name);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	must(fd, path);
	must(write(fd, text, strlen(text)), path);
	close(fd);
}

/* Whoever may outlive the test says so: the test kills it by this name. */
static void note_pid(pid_t pid)
{
	char name[32];

	snprintf(name, sizeof(name), "%d", pid);
	put("ZOO_PIDS", name, name);
}

static void add(const char *file, size_t bytes)
{
	static char zeros[4096];
	int fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	must(fd, file);
	must(write(fd, zeros, bytes), file);
	close(fd);
}

/* Leave the outputs and all else to whoever waits for their end. */
static void detach(void)
{
	int null = open("/dev/null", O_RDWR);

	dup2(null, 0);
	dup2(null, 1);
	dup2(null, 2);
	for (int fd = 3; fd < 256; fd++)
		close(fd);
}

/* All ranks come to here before one goes on. */
static void meet(const char *where)
{
	char name[64];

	snprintf(name, sizeof(name), "%s.%d", where, rank);
	add(name, 1);
	for (int r = 0; r < size; r++) {
		snprintf(name, sizeof(name), "%s.%d", where, r);
		while (access(name, F_OK) < 0)
			nap(10);
	}
}

static void begin(void)
{
	char name[64], buf[1000] = {0};
	int fd;

	snprintf(name, sizeof(name), "half.%d", rank);
	fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	must(fd, name);
	for (int i = 0; i < 100; i++)
		must(write(fd, buf, sizeof(buf)), name);
	must(pread(fd, buf, 500, 0), name);
	snprintf(name, sizeof(name), "out of %d\n", rank);
	must(write(1, name, strlen(name)), "stdout");
	snprintf(name, sizeof(name), "err of %d\n", rank);
	must(write(2, name, strlen(name)), "stderr");
	meet("come");
	/* the launcher takes the words before it hears of an end */
	nap(size > 1 ? 100 : 0);
}

static void run_self(const char *ending)
{
	execl(self, self, ending, (char *)NULL);
	must(-1, self);
}

static void *exec_in_thread(void *arg)
{
	run_self("after");
	return arg;
}

/* Stopped, and killed by another while it is. */
static void stopped(void)
{
	pid_t parent = getpid();
	char path[64], line[256];

	if (fork() == 0) {
		detach();
		snprintf(path, sizeof(path), "/proc/%d/stat", parent);
		for (;;) {
			int fd = open(path, O_RDONLY);
			ssize_t n = read(fd, line, sizeof(line) - 1);

			close(fd);
			line[n > 0 ? n : 0] = 0;
			if (strstr(line, ") T "))
				break;
			nap(10);
		}
		kill(parent, SIGKILL);
		_exit(0);
	}
	raise(SIGSTOP);
	for (;;)
		pause();
}

static void leave_child(int forever, int twice)
{
	char ready[32];
	pid_t pid;

	snprintf(ready, sizeof(ready), "ready.%d", rank);
	pid = fork();
	must(pid, "fork");
	if (pid == 0) {
		detach();
		if (twice) {
			setsid();
			if (fork())
				_exit(0);
		}
		note_pid(getpid());
		add(ready, 1);
		if (forever)
			for (;;)
				pause();
		nap(300);
		add("late", 1000);
		_exit(0);
	}
	if (twice)
		waitpid(pid, NULL, 0);
	while (access(ready, F_OK) < 0)
		nap(10);
}

static void frozen(void)
{
	char pid_text[32], path[PATH_MAX], line[256] = "";
	pid_t pid = fork();

	must(pid, "fork");
	if (pid == 0) {
		detach();
		note_pid(getpid()); /* it holds nothing any more that a launcher waits for */
		for (;;)
			pause();
	}
	snprintf(path, sizeof(path), "%s/%d", getenv("ZOO_PIDS"), pid);
	while (access(path, F_OK) < 0)
		nap(10);
	snprintf(pid_text, sizeof(pid_text), "%d", pid);
	put("ZOO_CGROUP", "cgroup.procs", pid_text);
	put("ZOO_CGROUP", "cgroup.freeze", "1");
	snprintf(path, sizeof(path), "%s/cgroup.events", getenv("ZOO_CGROUP"));
	while (!strstr(line, "frozen 1")) {
		int fd = open(path, O_RDONLY);
		ssize_t n = read(fd, line, sizeof(line) - 1);

		close(fd);
		line[n > 0 ? n : 0] = 0;
		nap(10);
	}
}

static int deep(int level)
{
	int status;
	pid_t pid;

	add("deep", 1000);
	if (level == 0)
		return 13;
	pid = fork();
	must(pid, "fork");
	if (pid == 0)
		_exit(deep(level - 1));
	must(waitpid(pid, &status, 0), "waitpid");
	return WEXITSTATUS(status);
}

static void limit(int what, rlim_t most)
{
	struct rlimit l = {most, most};

	must(setrlimit(what, &l), "setrlimit");
}

static int no_memory(void)
{
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (!f || fscanf(f, "%ld", &pages) != 1)
		return 99;
	limit(RLIMIT_AS, (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (64u << 20));
	for (int i = 0; i < 64; i++) {
		volatile char *p = malloc(16u << 20);

		if (!p) {
			fputs("no memory\n", stderr);
			return 9;
		}
		*p = 1;
	}
	return 98;
}

static int no_descriptors(void)
{
	limit(RLIMIT_NOFILE, 64);
	for (int i = 0; i < 100; i++)
		if (open("/dev/null", O_RDONLY) < 0) {
			perror("open");
			return 10;
		}
	return 98;
}

static int too_big(void)
{
	int fd = open("big", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	static char buf[65536];

	must(fd, "big");
	limit(RLIMIT_FSIZE, 200000);
	for (int i = 0; i < 8; i++)
		if (write(fd, buf, sizeof(buf)) < 0) {
			perror("write");
			return 14;
		}
	return 98;
}

static void eat(void)
{
	char pid_text[32];

	snprintf(pid_text, sizeof(pid_text), "%d", getpid());
	put("ZOO_CGROUP", "cgroup.procs", pid_text);
	for (;;) {
		char *p = malloc(1 << 20);

		must(p ? 0 : -1, "malloc");
		memset(p, 1, 1 << 20);
	}
}

static int killed_other(void)
{
	int status;
	pid_t pid;

	if (size > 1) {
		if (rank == 1)
			raise(SIGKILL);
		nap(60000); /* the launcher ends it */
		return 98;
	}
	pid = fork();
	must(pid, "fork");
	if (pid == 0)
		raise(SIGKILL);
	must(waitpid(pid, &status, 0), "waitpid");
	return WIFSIGNALED(status) ? 12 : 98;
}

static int end(const char *how)
{
	pthread_t thread;

	if (!strcmp(how, "exit0"))
		return 0;
	if (!strcmp(how, "exit7"))
		return 7;
	if (!strcmp(how, "_exit"))
		_exit(5);
	if (!strcmp(how, "raw"))
		syscall(SYS_exit_group, 6);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "segv"))
		kill(getpid(), SIGSEGV);
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(how, "term"))
		kill(getpid(), SIGTERM);
	if (!strcmp(how, "stopped"))
		stopped();
	if (!strcmp(how, "timeout"))
		must(execlp("timeout", "timeout", "-s", "KILL", "0.3", self, "hang", (char *)NULL), "timeout");
	if (!strcmp(how, "oom"))
		eat();
	if (!strcmp(how, "as"))
		return no_memory();
	if (!strcmp(how, "nofile"))
		return no_descriptors();
	if (!strcmp(how, "fsize"))
		return too_big();
	if (!strcmp(how, "grandchild"))
		leave_child(0, 0);
	else if (!strcmp(how, "daemon"))
		leave_child(0, 1);
	else if (!strcmp(how, "forever"))
		leave_child(1, 0);
	else if (!strcmp(how, "frozen"))
		frozen();
	if (!strcmp(how, "closed")) {
		close(1);
		close(2);
		return write(1, "x", 1) < 0 ? 3 : 98;
	}
	if (!strcmp(how, "thread_exec")) {
		pthread_create(&thread, NULL, exec_in_thread, NULL);
		for (;;)
			pause();
	}
	if (!strcmp(how, "deep"))
		return deep(12);
	if (!strcmp(how, "one_killed"))
		return killed_other();
	return 0;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	struct rlimit no_core = {0, 0};
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int code;

	rank = number("PMI_RANK", 0);
	size = number("PMI_SIZE", 1);
	must(n, "readlink");
	setrlimit(RLIMIT_CORE, &no_core);
	if (!strcmp(how, "hang"))
		nap(60000);
	if (!strcmp(how, "after")) {
		add("after", 1000);
		meet("after_come");
		return 11;
	}
#ifdef ZOO_MPI
	MPI_Init(&argc, &argv);
#endif
	begin();
	code = end(how);
#ifdef ZOO_MPI
	if (!strcmp(how, "no_finalize"))
		return code;
	MPI_Finalize();
#endif
	return code;
}
