// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI-IO beside another tool's uprobes: mpiio_probed WHEN FILE LIBRARY [OFFSETS]. Prints the places of the
 * library that are probed when the file has been opened, "hits OFFSET N" of its own events, and how many writes
 * it did. Expected: tests/uprobes/mpiio_others.bats.
 */
#include <mpi.h>
#include <time.h>

#include "uprobe_event.h"

static MPI_File fh;
static long writes;

static void write_some(int n)
{
	for (int i = 0; i < n; i++, writes++)
		must(MPI_File_write_at(fh, 8 * writes, "another", 8, MPI_BYTE, MPI_STATUS_IGNORE) == MPI_SUCCESS,
		     "write");
}

/* Bytes of the library's code that are a breakpoint in memory and something else in the file: how many. */
static long places(const char *library, int print)
{
	unsigned long from, to, offset;
	static char data[4096], line[4200], name[4096], kind[8];
	FILE *maps = fopen("/proc/self/maps", "r"), *f;
	long n = 0;

	must(maps != NULL, "maps");
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %4095s", &from, &to, kind, &offset, name) != 5 ||
		    kind[2] != 'x' || strcmp(name, library) != 0)
			continue;
		f = fopen(name, "r");
		must(f && fseek(f, (long)offset, SEEK_SET) == 0, name);
		for (unsigned long at = from; at < to; at += sizeof(data)) {
			size_t got = fread(data, 1, sizeof(data), f);

			for (size_t i = 0; i < got; i++) {
				if (((unsigned char *)at)[i] != 0xcc || (unsigned char)data[i] == 0xcc)
					continue;
				n++;
				if (print)
					printf("place %lu\n", offset + (at - from) + i);
			}
		}
		fclose(f);
	}
	fclose(maps);
	return n;
}

/* Calls until our own probes of data calls are gone; 10 s at most. */
static void until_gone(const char *library)
{
	long before = places(library, 0);
	time_t end = time(NULL) + 10;

	write_some(1);
	while (before && places(library, 0) > before / 2 && time(NULL) < end) {
		usleep(1000);
		write_some(1);
	}
}

int main(int argc, char **argv)
{
	static struct uprobe_events e;
	const char *when = argv[1];

	must(argc >= 4, "usage");
	MPI_Init(&argc, &argv);
	must(MPI_File_open(MPI_COMM_SELF, argv[2], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh) ==
		     MPI_SUCCESS, "open");
	places(argv[3], 1);
	if (argc > 4)
		uprobe_events_read(&e, argv[4]);
	if (!strcmp(when, "after"))
		until_gone(argv[3]);
	if (argc > 4)
		uprobe_events_open(&e, argv[3], 0);
	/* longer than it takes to be told that the probes may go */
	write_some(100);
	usleep(300000);
	write_some(200);
	if (argc > 4)
		uprobe_events_print(&e, stdout);
	MPI_File_close(&fh);
	MPI_Finalize();
	printf("writes %ld\n", writes);
	return 0;
}
