// SPDX-License-Identifier: BSD-3-Clause
// 32-bit system calls from a 64-bit program: their numbers mean other calls.
// Exit status 38 (ENOSYS): this kernel takes none (built or booted without, or a host that runs 64-bit code only).
#include "prog.h"

#include <signal.h>
#include <sys/mman.h>

#ifdef __x86_64__
static long call32(long number, long a, long b, long c)
{
	long ret;

	__asm__ volatile("int $0x80" : "=a"(ret) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory");
	return ret;
}
#else
static long call32(long number, long a, long b, long c)
{
	return number == 4 ? write((int)a, (void *)b, (size_t)c) : read((int)a, (void *)b, (size_t)c);
}
#endif

static void none_here(int signal)
{
	(void)signal;
	_exit(38);
}

int main(void)
{
	int fd = prog_open("f32", O_RDWR | O_CREAT);
	char *low =
		mmap((void *)0x10000000, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	if (low == MAP_FAILED)
		return 3;
	signal(SIGSEGV, none_here); /* what the instruction is answered with there */
	for (int i = 0; i < 5; i++)
		EXACT(call32(4, fd, (long)low, 5), 5);
	for (int i = 0; i < 5; i++)
		EXACT(call32(3, fd, (long)low, 5), 0);
	EXACT(write(fd, low, 7), 7);
	return 0;
}
