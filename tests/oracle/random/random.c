// SPDX-License-Identifier: BSD-3-Clause
/*
 * A program of random operations: random_ops SEED OPERATIONS FOLDER [LEFT-OUT]
 * Each operation depends on the seed, its number and what is there; one that would be none is passed over.
 * Prints what it has done, as "NAME<TAB>COUNTER<TAB>VALUE", and on stderr, with RANDOM_PRINT set, each
 * operation as C. LEFT-OUT: numbers of operations that are not done, with commas. What the calls return must
 * be what the account says: exit status 9 when it is not.
 */
#include <sys/mman.h>

#include "tests/oracle/random/world.h"

struct world *w;
int memory;
char base[200], outside[64], buffer[20000];
char **args;
uint64_t dice;
bool print;
int from_fd[FDS], known[DESCS];
bool on_exec[FDS];

static unsigned depth; /* of threads and children in which operations are made */

static bool left_out(unsigned i)
{
	const char *at = args[4];

	while (at && *at) {
		if (strtoul(at, NULL, 10) == i)
			return true;
		at = strchr(at, ',');
		at = at ? at + 1 : NULL;
	}
	return false;
}

static void one_operation(void)
{
	static bool (*const often[])(void) = {do_open,  do_open,    do_close,   do_dup,     do_pass,      do_data,
					      do_data,  do_data,    do_data,    do_batch,   do_copy,      do_on_fd,
					      do_on_fd, do_on_path, do_on_path, do_on_path, do_two_names, do_stream,
					      do_close, do_open,    do_chain,   do_on_link};
	unsigned kind;

	dice = w->seed * 1000003 + w->now;
	if (left_out(w->now++))
		return;
	say("\t/* %u */", w->now - 1);
	kind = below(100);
	if (kind < 80) {
		often[below(sizeof(often) / sizeof(often[0]))]();
		return;
	}
	if (kind < 86)
		do_folder();
	else if (kind < 88)
		do_link();
	else if (kind < 90)
		do_close_range();
	else if (kind < 92)
		do_take();
	else if (kind < 93)
		do_mount();
	else if (kind < 94)
		do_root();
	else if (kind < 95)
		do_exec(depth == 0);
	else if (kind < 96)
		do_carry();
	else if (depth < 2 && kind < 98) {
		depth++;
		if (kind == 96)
			do_thread();
		else
			do_signal();
		depth--;
	} else if (depth < 2) {
		depth++;
		do_fork();
		depth--;
	}
}

void some_operations(unsigned n)
{
	for (unsigned i = 0; i < n && w->now < w->ops; i++)
		one_operation();
}

static const char *name_text(int name)
{
	static char room[300];

	if (name < IN_ROOT)
		snprintf(room, sizeof(room), "%s/d%d/f%d", base, name / FILES, name % FILES);
	else if (name < 2 * IN_ROOT)
		snprintf(room, sizeof(room), "/d%d/f%d", (name - IN_ROOT) / FILES, name % FILES);
	else if (name < 2 * IN_ROOT + FOLDERS)
		snprintf(room, sizeof(room), "%s/d%d", base, name - 2 * IN_ROOT);
	else if (name >= carried_name(CARRIED, 0))
		snprintf(room, sizeof(room),
			 (const char *[]){"%s/e%d", "%s/d%d/s"}[(name - carried_name(CARRIED, 0)) / FOLDERS], base,
			 (name - carried_name(CARRIED, 0)) % FOLDERS);
	else
		snprintf(room, sizeof(room), "%s/%c%d", base, name - 2 * IN_ROOT - FOLDERS < LINKS ? 'l' : 'n',
			 (name - 2 * IN_ROOT - FOLDERS) % LINKS);
	return room;
}

static void tell(void)
{
	static const char *const counters[] = {
#define X(name) #name,
		COUNTERS(X)
#undef X
	};

	for (int n = 0; n < NAMES; n++) { /* all programs are one rank */
		w->count[n][POSIX_EXT_RANKS_READ] = w->count[n][POSIX_READS] > 0;
		w->count[n][POSIX_EXT_RANKS_WROTE] = w->count[n][POSIX_WRITES] > 0;
		for (int c = 0; c < COUNTERS_N; c++)
			if (w->count[n][c])
				printf("%s\t%s\t%llu\n", name_text(n), counters[c], (unsigned long long)w->count[n][c]);
	}
}

static void begin(void)
{
	memory = (int)MUST(memfd_create("account", 0));
	MUST(ftruncate(memory, sizeof(*w)));
	w = mmap(NULL, sizeof(*w), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	if (w == MAP_FAILED)
		_exit(3);
	w->seed = strtoull(args[1], NULL, 10);
	w->ops = (uint32_t)strtoul(args[2], NULL, 10);
	memset(w->link, -1, sizeof(w->link));
	memset(w->file, -1, sizeof(w->file));
	memset(w->fd, -1, sizeof(w->fd));
	memset(w->known, -1, sizeof(w->known));
	MUST(symlink(base, outside));
}

static void go_on(const char *of)
{
	memory = atoi(of);
	w = mmap(NULL, sizeof(*w), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	if (w == MAP_FAILED)
		_exit(3);
}

int main(int argc, char **argv)
{
	const char *of = getenv("RANDOM_MEMORY");

	if (argc < 4) {
		fprintf(stderr, "usage: random_ops SEED OPERATIONS FOLDER [LEFT-OUT]\n");
		return 2;
	}
	args = argv;
	print = getenv("RANDOM_PRINT") != NULL;
	snprintf(base, sizeof(base), "%s", argv[3]);
	snprintf(outside, sizeof(outside), "/var/tmp/ioscribe-random-%d", (int)getpid());
	MUST(chdir(base));
	if (of)
		go_on(of);
	else
		begin();
	for (int i = 0; i < FDS; i++)
		from_fd[i] = w->fd[i];
	memcpy(known, w->known, sizeof(known));
	some_operations(w->ops);
	tell();
	MUST(unlink(outside));
	return 0;
}
