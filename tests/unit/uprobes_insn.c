// SPDX-License-Identifier: BSD-3-Clause
/* Where to probe: the decoder against beginnings of real functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "uprobes/elf/insn.h"

#define BASE 0x1000u

struct code {
	const unsigned char *bytes;
	size_t n;
};

static const unsigned char *code_of(const void *ctx, uint64_t vaddr, size_t *ret_n)
{
	const struct code *c = ctx;

	if (vaddr < BASE || vaddr - BASE >= c->n)
		return NULL;
	*ret_n = c->n - (size_t)(vaddr - BASE);
	return c->bytes + (vaddr - BASE);
}

static struct scribe_insn_address choose(const unsigned char *bytes, size_t n, unsigned wanted)
{
	struct code c = {bytes, n};
	struct scribe_insn_address place;

	scribe_insn_choose(code_of, &c, BASE, wanted, &place);
	return place;
}

#define CHOOSE(bytes, wanted) choose(bytes, sizeof(bytes), wanted)

static void push_first(void **state)
{
	static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5};             /* push %rbp */
	static const unsigned char high[] = {0x41, 0x57, 0x41, 0x56, 0x31, 0xc0}; /* push %r15 */
	struct scribe_insn_address p = CHOOSE(code, 7);

	(void)state;
	assert_true(p.emulated);
	assert_int_equal(p.vaddr, BASE);
	assert_int_equal(p.reg[0], SCRIBE_REG_DI);
	assert_int_equal(p.reg[2], SCRIBE_REG_DX);
	p = CHOOSE(high, 1);
	assert_true(p.emulated);
	assert_int_equal(p.vaddr, BASE);
}

/* glibc 2.36 fopen: mov $1,%edx; jmp */
static void argument_not_wanted_is_lost(void **state)
{
	static const unsigned char code[] = {0xba, 1, 0, 0, 0, 0xe9, 0x06, 0xff, 0xff, 0xff};
	struct scribe_insn_address p = CHOOSE(code, 3);

	(void)state;
	assert_true(p.emulated);
	assert_int_equal(p.vaddr, BASE + 5);
	assert_int_equal(p.reg[2], SCRIBE_REG_NONE);
	/* wanted: then only the entry will do, single-stepped */
	p = CHOOSE(code, 4);
	assert_false(p.emulated);
	assert_int_equal(p.vaddr, BASE);
	assert_int_equal(p.reg[2], SCRIBE_REG_DX);
}

/* mov %rdi,%rax; mov $0,%edi; nop: the argument is in another register */
static void argument_followed(void **state)
{
	static const unsigned char code[] = {0x48, 0x89, 0xf8, 0xbf, 0, 0, 0, 0, 0x90};
	struct scribe_insn_address p = CHOOSE(code, 1);

	(void)state;
	assert_true(p.emulated);
	assert_int_equal(p.vaddr, BASE + 8);
	assert_int_equal(p.reg[0], SCRIBE_REG_AX);
}

/* MPICH 4.0.2 PMPI_File_write_at: hands everything to a hidden function */
static void wrapper(void **state)
{
	static const unsigned char code[] = {
		0x48, 0x83, 0xec, 0x08,                   /* sub $8,%rsp */
		0x48, 0x8d, 0x05, 0xb5, 0xaa, 0x3d, 0x00, /* lea …(%rip),%rax */
		0x41, 0x51,                               /* push %r9 */
		0x45, 0x89, 0xc1,                         /* mov %r8d,%r9d */
		0x41, 0x89, 0xc8,                         /* mov %ecx,%r8d */
		0x48, 0x89, 0xd1,                         /* mov %rdx,%rcx */
		0x50,                                     /* push %rax */
		0xba, 0x64, 0x00, 0x00, 0x00,             /* mov $0x64,%edx */
		0xe8, 0x05, 0x00, 0x00, 0x00,             /* call +5 */
		0x48, 0x83, 0xc4, 0x18, 0xc3,             /* add $0x18,%rsp; ret */
		0x41, 0x57, 0x41, 0x56,                   /* the function: push %r15 */
	};
	struct scribe_insn_address p = CHOOSE(code, 1 | 8 | 16);

	(void)state;
	assert_true(p.emulated);
	assert_true(p.other);
	assert_int_equal(p.vaddr, BASE + 38);
	assert_int_equal(p.reg[0], SCRIBE_REG_DI);
	assert_int_equal(p.reg[3], SCRIBE_REG_R8); /* count */
	assert_int_equal(p.reg[4], SCRIBE_REG_R9); /* datatype */
}

/* No place behind the first push or a moved stack: a return probe there would be wrong. */
static void never_behind_a_moved_stack(void **state)
{
	static const unsigned char code[] = {0x48, 0x83, 0xec, 0x18, 0x55, 0x90, 0x74, 0x00, 0xc3};
	struct scribe_insn_address p = CHOOSE(code, 1);

	(void)state;
	assert_false(p.emulated);
	assert_int_equal(p.vaddr, BASE);
}

/* test %rdi,%rdi; je: the branch itself is emulated */
static void branch(void **state)
{
	static const unsigned char code[] = {0x48, 0x85, 0xff, 0x0f, 0x84, 0xa7, 0, 0, 0, 0x55};
	struct scribe_insn_address p = CHOOSE(code, 1);

	(void)state;
	assert_true(p.emulated);
	assert_int_equal(p.vaddr, BASE + 3);
}

/* Unknown or cut code: the entry. */
static void unknown(void **state)
{
	static const unsigned char endbr[] = {0xf3, 0x0f, 0x1e, 0xfa, 0x55};
	static const unsigned char odd[] = {0xc4, 0xe2, 0x79, 0x18, 0x00};
	static const unsigned char cut[] = {0x48, 0x8b};
	struct scribe_insn_address p = CHOOSE(endbr, 1);

	(void)state;
	assert_true(p.emulated);
	assert_int_equal(p.vaddr, BASE + 4);
	p = CHOOSE(odd, 1);
	assert_false(p.emulated);
	p = CHOOSE(cut, 1);
	assert_false(p.emulated);
	assert_int_equal(p.vaddr, BASE);
}

/* A loop's head would be passed once a turn: the entry, single-stepped. */
static void never_in_a_loop(void **state)
{
	static const unsigned char code[] = {
		0x31, 0xc0,             /* xor %eax,%eax */
		0x48, 0x83, 0xc0, 0x01, /* add $1,%rax */
		0x80, 0x3c, 0x07, 0x00, /* cmpb $0,(%rdi,%rax) */
		0x75, 0xf6,             /* jne back to the add */
		0x55,                   /* push %rbp */
	};
	struct scribe_insn_address p = CHOOSE(code, 1);

	(void)state;
	assert_false(p.emulated);
	assert_int_equal(p.vaddr, BASE);
}

/* Writes that no operand in the text names: cpuid loses %rcx and %rdx, xchg both of its own. */
static void hidden_writes(void **state)
{
	static const unsigned char cpuid[] = {0x0f, 0xa2, 0x90};
	static const unsigned char xchg[] = {0x48, 0x87, 0xfe, 0x90};
	static const unsigned char narrow[] = {0x66, 0x89, 0xf8, 0x31, 0xff, 0x90}; /* mov %di,%ax */
	struct scribe_insn_address p = CHOOSE(cpuid, 3);

	(void)state;
	assert_true(p.emulated);
	assert_int_equal(p.vaddr, BASE + 2);
	assert_int_equal(p.reg[2], SCRIBE_REG_NONE);
	assert_int_equal(p.reg[3], SCRIBE_REG_NONE);
	assert_false(CHOOSE(cpuid, 4).emulated);
	assert_false(CHOOSE(xchg, 1).emulated);
	assert_false(CHOOSE(xchg, 2).emulated);
	assert_true(CHOOSE(xchg, 4).emulated);
	assert_false(CHOOSE(narrow, 1).emulated);
}

/* What a decoder of few instructions does not know (AVX, BMI): followed all the same. */
static void every_instruction(void **state)
{
	static const unsigned char code[] = {
		0xc5, 0xf9, 0xef, 0xc0,       /* vpxor %xmm0,%xmm0,%xmm0 */
		0xc4, 0xe2, 0xc8, 0xf2, 0xd7, /* andn %rdi,%rsi,%rdx */
		0x55,                         /* push %rbp */
	};
	struct scribe_insn_address p = CHOOSE(code, 3);

	(void)state;
	assert_true(p.emulated);
	assert_int_equal(p.vaddr, BASE + 9);
	assert_int_equal(p.reg[2], SCRIBE_REG_NONE);
	assert_false(CHOOSE(code, 4).emulated);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(push_first),
		cmocka_unit_test(argument_not_wanted_is_lost),
		cmocka_unit_test(argument_followed),
		cmocka_unit_test(wrapper),
		cmocka_unit_test(never_behind_a_moved_stack),
		cmocka_unit_test(branch),
		cmocka_unit_test(unknown),
		cmocka_unit_test(never_in_a_loop),
		cmocka_unit_test(hidden_writes),
		cmocka_unit_test(every_instruction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
