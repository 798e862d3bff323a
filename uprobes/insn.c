// SPDX-License-Identifier: BSD-3-Clause
/*
 * A linear decoder of the beginnings of x86-64 functions, which follows the
 * arguments through register moves. It stops at whatever it does not know.
 */
#include "uprobes/insn.h"

#include <string.h>

#define STEPS  24
#define NO_ARG 0xff

struct insn {
	size_t length;
	size_t opcode_at;
	uint8_t rex;
	uint8_t op; /* opcode */
	bool two;   /* after 0f */
	bool modrm;
	uint8_t mod, reg, rm; /* reg, rm: with REX bits when they are registers */
	int64_t relative;     /* jmp, call */
};

/* Bytes of ModRM, SIB and displacement; 0: not enough. */
static size_t modrm_bytes(const unsigned char *c, size_t n)
{
	size_t bytes = 1;
	unsigned mod, rm;

	if (!n)
		return 0;
	mod = c[0] >> 6;
	rm = c[0] & 7;
	if (mod != 3 && rm == 4) {
		if (n < 2)
			return 0;
		bytes++;
		if (mod == 0 && (c[1] & 7) == 5)
			bytes += 4;
	}
	if (mod == 0 && rm == 5)
		bytes += 4;
	else if (mod == 1)
		bytes += 1;
	else if (mod == 2)
		bytes += 4;
	return bytes <= n ? bytes : 0;
}

/* Has the opcode a ModRM byte, and how many immediate bytes? -1: not known here. */
static int one_byte(uint8_t op, uint8_t ext, bool wide, bool small, bool *ret_modrm)
{
	*ret_modrm = true;
	if (op < 0x40 && (op & 7) < 4)
		return 0;
	if (op >= 0x84 && op <= 0x8b)
		return 0;
	switch (op) {
	case 0x63:
	case 0x8d:
	case 0xd0:
	case 0xd1:
	case 0xd2:
	case 0xd3:
	case 0xfe:
	case 0xff:
		return 0;
	case 0x6b:
	case 0x80:
	case 0x83:
	case 0xc0:
	case 0xc1:
	case 0xc6:
		return 1;
	case 0x69:
	case 0x81:
	case 0xc7:
		return small ? 2 : 4;
	case 0xf6:
		return ext < 2 ? 1 : 0;
	case 0xf7:
		return ext < 2 ? (small ? 2 : 4) : 0;
	}
	*ret_modrm = false;
	if (op < 0x40 && (op & 7) == 4)
		return 1;
	if (op < 0x40 && (op & 7) == 5)
		return small ? 2 : 4;
	if (op >= 0xb8 && op <= 0xbf)
		return wide ? 8 : small ? 2 : 4;
	if (op >= 0xb0 && op <= 0xb7)
		return 1;
	if ((op >= 0x50 && op <= 0x5f) || op == 0x90 || op == 0xc3 || op == 0xc9 || op == 0x99)
		return 0;
	if ((op >= 0x70 && op <= 0x7f) || op == 0xeb || op == 0x6a || op == 0xa8)
		return 1;
	if (op == 0xe8 || op == 0xe9 || op == 0x68 || op == 0xa9)
		return 4;
	return -1;
}

static int two_bytes(uint8_t op, bool *ret_modrm)
{
	static const uint8_t plain[] = {0x10, 0x11, 0x12, 0x13, 0x14, 0x16, 0x17, 0x1e,
					0x1f, 0x28, 0x29, 0x57, 0x6c, 0x6e, 0x6f, 0x7e,
					0x7f, 0xaf, 0xb6, 0xb7, 0xbe, 0xbf, 0xd6, 0xef};

	*ret_modrm = true;
	if ((op >= 0x40 && op <= 0x4f) || (op >= 0x90 && op <= 0x9f))
		return 0;
	for (size_t i = 0; i < sizeof(plain); i++)
		if (plain[i] == op)
			return 0;
	if (op == 0xba)
		return 1;
	*ret_modrm = false;
	return op >= 0x80 && op <= 0x8f ? 4 : -1;
}

static int64_t read_signed(const unsigned char *c, size_t n)
{
	int32_t v;

	if (n == 1)
		return (int8_t)c[0];
	memcpy(&v, c, 4);
	return v;
}

static bool decode(const unsigned char *c, size_t n, struct insn *in)
{
	bool small = false;
	size_t at = 0;
	int imm;

	memset(in, 0, sizeof(*in));
	while (at < n && at < 4 && (c[at] == 0x66 || c[at] == 0xf2 || c[at] == 0xf3 || c[at] == 0x64)) {
		small |= c[at] == 0x66;
		at++;
	}
	if (at < n && (c[at] & 0xf0) == 0x40)
		in->rex = c[at++];
	in->two = at + 1 < n && c[at] == 0x0f;
	at += in->two;
	if (at >= n)
		return false;
	in->opcode_at = at;
	in->op = c[at++];
	imm = in->two ? two_bytes(in->op, &in->modrm)
		      : one_byte(in->op, at < n ? (c[at] >> 3) & 7 : 0, in->rex & 8, small, &in->modrm);
	if (imm < 0)
		return false;
	if (in->modrm) {
		size_t bytes = modrm_bytes(c + at, n - at);

		if (!bytes)
			return false;
		in->mod = c[at] >> 6;
		in->reg = (uint8_t)(((c[at] >> 3) & 7) | (in->rex & 4) << 1);
		in->rm = (uint8_t)((c[at] & 7) | (in->rex & 1) << 3);
		at += bytes;
	}
	if (at + (size_t)imm > n)
		return false;
	if (imm == 1 || imm == 4)
		in->relative = read_signed(c + at, (size_t)imm);
	in->length = at + (size_t)imm;
	return true;
}

size_t scribe_insn_length(const unsigned char *code, size_t n)
{
	struct insn in;

	return decode(code, n, &in) ? in.length : 0;
}

/* arch/x86/kernel/uprobes.c: branch_setup_xol_ops, push_setup_xol_ops. */
static bool emulated(const struct insn *in)
{
	if (in->two)
		return in->op >= 0x80 && in->op <= 0x8f && in->opcode_at == 1;
	if (in->op >= 0x50 && in->op <= 0x57)
		return in->opcode_at == 0 || (in->opcode_at == 1 && in->rex == 0x41);
	if (in->opcode_at != 0)
		return false;
	return in->op == 0x90 || in->op == 0xe8 || in->op == 0xe9 || in->op == 0xeb ||
	       (in->op >= 0x70 && in->op <= 0x7f);
}

/* Which argument each register holds. */
struct flow {
	uint8_t holds[16];
	bool stack_moved;
};

static void flow_begin(struct flow *f)
{
	static const uint8_t args[SCRIBE_SITE_ARGS] = {SCRIBE_REG_DI, SCRIBE_REG_SI, SCRIBE_REG_DX,
						       SCRIBE_REG_CX, SCRIBE_REG_R8, SCRIBE_REG_R9};

	memset(f->holds, NO_ARG, sizeof(f->holds));
	for (uint8_t i = 0; i < SCRIBE_SITE_ARGS; i++)
		f->holds[args[i]] = i;
	f->stack_moved = false;
}

/* The registers of the arguments; false when a wanted one is lost. */
static bool flow_regs(const struct flow *f, unsigned wanted, uint8_t reg[SCRIBE_SITE_ARGS])
{
	memset(reg, SCRIBE_REG_NONE, SCRIBE_SITE_ARGS);
	for (uint8_t r = 0; r < 16; r++)
		if (f->holds[r] != NO_ARG && reg[f->holds[r]] == SCRIBE_REG_NONE)
			reg[f->holds[r]] = r;
	for (unsigned i = 0; i < SCRIBE_SITE_ARGS; i++)
		if ((wanted & 1u << i) && reg[i] == SCRIBE_REG_NONE)
			return false;
	return true;
}

/* A write to a register; false: to the stack pointer. */
static bool writes(struct flow *f, uint8_t reg, uint8_t value)
{
	if (reg == SCRIBE_REG_SP)
		return false;
	f->holds[reg] = value;
	return true;
}

static bool step_two(struct flow *f, const struct insn *in)
{
	if ((in->op >= 0x40 && in->op <= 0x4f) || in->op == 0xaf ||
	    (in->op >= 0xb6 && in->op <= 0xbf && in->op != 0xba))
		return writes(f, in->reg, NO_ARG);
	if (((in->op >= 0x90 && in->op <= 0x9f) || in->op == 0x7e || in->op == 0xba) && in->mod == 3)
		return writes(f, in->rm, NO_ARG);
	return in->op < 0x80 || in->op > 0x8f;
}

/* What an instruction that is no branch does to the registers; false: stop here. */
static bool step(struct flow *f, const struct insn *in)
{
	uint8_t ext = in->reg & 7;

	/* arguments of the function called, on the stack */
	if (!in->two && f->stack_moved &&
	    ((in->op >= 0x50 && in->op <= 0x57) || in->op == 0x68 || in->op == 0x6a))
		return true;
	if (in->two)
		return step_two(f, in);
	if ((in->op == 0x83 || in->op == 0x81) && in->mod == 3 && in->rm == SCRIBE_REG_SP && ext == 5) {
		f->stack_moved = true;
		return true;
	}
	if (in->op >= 0x38 && in->op <= 0x3d)
		return true;
	if (in->op < 0x40 && (in->op & 7) < 4)
		return in->op & 2 ? writes(f, in->reg, NO_ARG) : in->mod != 3 || writes(f, in->rm, NO_ARG);
	if (in->op < 0x40)
		return writes(f, SCRIBE_REG_AX, NO_ARG);
	if (in->op >= 0xb0 && in->op <= 0xbf)
		return writes(f, (uint8_t)((in->op & 7) | (in->rex & 1) << 3), NO_ARG);
	switch (in->op) {
	case 0x84:
	case 0x85:
	case 0xa8:
	case 0xa9:
	case 0x90:
		return true;
	case 0x89:
		return in->mod != 3 || writes(f, in->rm, f->holds[in->reg]);
	case 0x88:
		return in->mod != 3 || writes(f, in->rm, NO_ARG);
	case 0x8b:
	case 0x63:
		return writes(f, in->reg, in->mod == 3 ? f->holds[in->rm] : NO_ARG);
	case 0x8a:
	case 0x8d:
	case 0x69:
	case 0x6b:
		return writes(f, in->reg, NO_ARG);
	case 0x80:
	case 0x81:
	case 0x83:
		return ext == 7 || in->mod != 3 || writes(f, in->rm, NO_ARG);
	case 0xc0:
	case 0xc1:
	case 0xc6:
	case 0xc7:
	case 0xd0:
	case 0xd1:
		return in->mod != 3 || writes(f, in->rm, NO_ARG);
	case 0xf6:
	case 0xf7:
		return ext < 2;
	default:
		return false;
	}
}

/*
 * From `vaddr` on. True: a cheap place was found. When everything is handed to
 * one function, *ret_target is its address and `f` says what goes where.
 */
static bool walk(scribe_insn_code code, const void *ctx, uint64_t vaddr, unsigned wanted, struct flow *f,
		 struct scribe_insn_place *p, uint64_t *ret_target)
{
	for (int i = 0; i < STEPS; i++) {
		size_t n;
		const unsigned char *c = code(ctx, vaddr, &n);
		struct insn in;

		if (!c || !decode(c, n < 16 ? n : 16, &in))
			return false;
		if (emulated(&in) && !f->stack_moved && flow_regs(f, wanted, p->reg)) {
			p->vaddr = vaddr;
			p->cheap = true;
			return true;
		}
		if (!in.two && (in.op == 0xe8 || in.op == 0xe9)) {
			*ret_target = vaddr + in.length + (uint64_t)in.relative;
			return false;
		}
		if (!step(f, &in))
			return false;
		vaddr += in.length;
	}
	return false;
}

void scribe_insn_choose(scribe_insn_code code, const void *ctx, uint64_t vaddr, unsigned wanted,
			struct scribe_insn_place *p)
{
	struct scribe_insn_place inner;
	uint64_t target = 0;
	struct flow f;

	flow_begin(&f);
	memset(p, 0, sizeof(*p));
	if (walk(code, ctx, vaddr, wanted, &f, p, &target))
		return;
	if (target && f.stack_moved) {
		f.stack_moved = false;
		memset(&inner, 0, sizeof(inner));
		if (walk(code, ctx, target, wanted, &f, &inner, &target)) {
			*p = inner;
			p->other = true;
			return;
		}
	}
	scribe_insn_entry(vaddr, p);
}

void scribe_insn_entry(uint64_t vaddr, struct scribe_insn_place *p)
{
	struct flow f;

	memset(p, 0, sizeof(*p));
	flow_begin(&f);
	flow_regs(&f, 0, p->reg);
	p->vaddr = vaddr;
}

long scribe_insn_match(const unsigned char *code, size_t n, const int16_t *pattern, size_t length)
{
	for (size_t at = 0; at + length <= n; at++) {
		size_t i = 0;

		while (i < length && (pattern[i] < 0 || code[at + i] == (unsigned char)pattern[i]))
			i++;
		if (i == length)
			return (long)at;
	}
	return -1;
}
