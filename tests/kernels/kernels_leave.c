// SPDX-License-Identifier: BSD-3-Clause
// link: static
// Ends a guest with an exit code: qemu's device isa-debug-exit makes it CODE * 2 + 1.
#include <stdlib.h>
#if defined(__x86_64__)
#include <sys/io.h>
#endif

int main(int argc, char **argv)
{
	int code = argc > 1 ? atoi(argv[1]) : 0;

#if defined(__x86_64__)
	if (iopl(3) == 0)
		outb((unsigned char)code, 0xf4);
#endif
	return code;
}
