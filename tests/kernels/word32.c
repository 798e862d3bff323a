// SPDX-License-Identifier: BSD-3-Clause
/* A program of 32 bits, without any library: prints the environment that it is executed with. */
__asm__(".globl _start\n"
	"_start:\n"
	"	mov %esp, %eax\n"
	"	push %eax\n"
	"	call print\n");

static long call(long number, long a, long b, long c)
{
	long ret;

	__asm__ volatile("int $0x80" : "=a"(ret) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory");
	return ret;
}

__attribute__((used)) void print(const long *stack)
{
	for (char *const *env = (char *const *)(stack + 1 + stack[0] + 1); *env; env++) {
		long n = 0;

		while ((*env)[n])
			n++;
		call(4, 1, (long)*env, n);
		call(4, 1, (long)"\n", 1);
	}
	call(1, 0, 0, 0);
}
