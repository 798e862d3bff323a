// SPDX-License-Identifier: BSD-3-Clause
/*
 * Follows the arguments of an x86-64 function through register moves up to the first branch, decoded by Zydis,
 * to find an instruction that the kernel emulates. Pure functions, in the study helper. Must not know: ELF,
 * BPF.
 */
#include "uprobes/elf/insn.h"

#include <string.h>

#include <Zydis/Zydis.h>

#define STEPS  24 /* instructions per function */
#define NO_ARG 0xff

struct insn {
	ZydisDecodedInstruction is;
	ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
};

static bool decode(const unsigned char *c, size_t n, struct insn *in)
{
	ZydisDecoder decoder;

	return ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) &&
	       ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, c, n, &in->is, in->operand));
}

/* As arch/x86/kernel/uprobes.c of Linux 5.15: branch_setup_xol_ops, push_setup_xol_ops. */
static bool emulated(const unsigned char *c, size_t length)
{
	if (c[0] == 0x0f)
		return (c[1] & 0xf0) == 0x80; /* near jcc */
	if (c[0] == 0x41)
		return length == 2 && (c[1] & 0xf8) == 0x50; /* push %r8 to %r15 */
	return (c[0] & 0xf8) == 0x50 || c[0] == 0x90 || c[0] == 0xe8 || c[0] == 0xe9 || c[0] == 0xeb ||
	       (c[0] & 0xf0) == 0x70;
}

/* As enum scribe_reg; -1: not part of a general register. */
static int general(ZydisRegister reg)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	return ZydisRegisterGetClass(whole) == ZYDIS_REGCLASS_GPR64 ? ZydisRegisterGetId(whole) : -1;
}

/* The argument in each register. `stack_moved`: stack space for a callee's arguments was taken. */
struct flow {
	uint8_t holds[16];
	bool stack_moved;
};

static void flow_begin(struct flow *f)
{
	static const uint8_t args[SCRIBE_POINT_ARGS] = {SCRIBE_REG_DI, SCRIBE_REG_SI, SCRIBE_REG_DX,
							SCRIBE_REG_CX, SCRIBE_REG_R8, SCRIBE_REG_R9};

	memset(f->holds, NO_ARG, sizeof(f->holds));
	for (uint8_t i = 0; i < SCRIBE_POINT_ARGS; i++)
		f->holds[args[i]] = i;
	f->stack_moved = false;
}

/* False: a needed argument is lost. */
static bool flow_regs(const struct flow *f, unsigned wanted, uint8_t reg[SCRIBE_POINT_ARGS])
{
	memset(reg, SCRIBE_REG_NONE, SCRIBE_POINT_ARGS);
	for (uint8_t r = 0; r < 16; r++)
		if (f->holds[r] != NO_ARG && reg[f->holds[r]] == SCRIBE_REG_NONE)
			reg[f->holds[r]] = r;
	for (unsigned i = 0; i < SCRIBE_POINT_ARGS; i++)
		if ((wanted & 1u << i) && reg[i] == SCRIBE_REG_NONE)
			return false;
	return true;
}

static bool is_branch(const struct insn *in)
{
	switch (in->is.meta.category) {
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_SYSCALL:
		return true;
	default:
		return false;
	}
}

/* Target of a relative branch; 0: none. */
static uint64_t branch_target(const struct insn *in, uint64_t vaddr)
{
	ZyanU64 target;

	if (!is_branch(in) || in->is.operand_count_visible != 1 ||
	    in->operand[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE || !in->operand[0].imm.is_relative ||
	    !ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&in->is, &in->operand[0], vaddr, &target)))
		return 0;
	return target;
}

/* sub $n,%rsp or add $-n,%rsp. */
static bool takes_stack(const struct insn *in)
{
	const ZydisDecodedOperand *to = &in->operand[0], *by = &in->operand[1];

	if (to->type != ZYDIS_OPERAND_TYPE_REGISTER || to->reg.value != ZYDIS_REGISTER_RSP ||
	    by->type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return false;
	return in->is.mnemonic == ZYDIS_MNEMONIC_SUB || (in->is.mnemonic == ZYDIS_MNEMONIC_ADD && by->imm.value.s < 0);
}

/* Argument copied between registers; NO_ARG: none. */
static uint8_t carried(const struct flow *f, const struct insn *in)
{
	const ZydisDecodedOperand *to = &in->operand[0], *from = &in->operand[1];

	if ((in->is.mnemonic != ZYDIS_MNEMONIC_MOV && in->is.mnemonic != ZYDIS_MNEMONIC_MOVSXD) ||
	    to->type != ZYDIS_OPERAND_TYPE_REGISTER || from->type != ZYDIS_OPERAND_TYPE_REGISTER || to->size < 32 ||
	    from->size < 32 || general(from->reg.value) < 0)
		return NO_ARG;
	return f->holds[general(from->reg.value)];
}

/* For non-branches; false: stop. */
static bool step(struct flow *f, const struct insn *in)
{
	uint8_t arg = carried(f, in);

	if (takes_stack(in)) {
		f->stack_moved = true;
		return true;
	}
	/* a callee's argument on the stack; otherwise the return address would not be on top */
	if (in->is.mnemonic == ZYDIS_MNEMONIC_PUSH)
		return f->stack_moved;
	for (unsigned i = 0; i < in->is.operand_count; i++) {
		const ZydisDecodedOperand *o = &in->operand[i];
		int reg;

		if (o->type != ZYDIS_OPERAND_TYPE_REGISTER || !(o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		reg = general(o->reg.value);
		if (reg == SCRIBE_REG_SP)
			return false;
		if (reg >= 0)
			f->holds[reg] = i == 0 ? arg : NO_ARG;
	}
	return true;
}

/* True: found. Otherwise *ret_target is the function that receives the arguments as in `f`, if any. */
static bool walk(scribe_insn_code code, const void *ctx, uint64_t begin, unsigned wanted, struct flow *f,
		 struct scribe_insn_address *p, uint64_t *ret_target)
{
	uint64_t vaddr = begin;

	for (int i = 0; i < STEPS; i++) {
		size_t n;
		const unsigned char *c = code(ctx, vaddr, &n);
		uint64_t target;
		struct insn in;

		if (!c || !decode(c, n, &in))
			return false;
		target = branch_target(&in, vaddr);
		/* backwards: a loop, which a call passes repeatedly */
		if (target >= begin && target <= vaddr)
			return false;
		if (emulated(c, in.is.length) && !f->stack_moved && flow_regs(f, wanted, p->reg)) {
			p->vaddr = vaddr;
			p->emulated = true;
			return true;
		}
		if (target && in.is.meta.category != ZYDIS_CATEGORY_COND_BR) {
			*ret_target = target;
			return false;
		}
		if (is_branch(&in) || !step(f, &in))
			return false;
		vaddr += in.is.length;
	}
	return false;
}

void scribe_insn_choose(scribe_insn_code code, const void *ctx, uint64_t vaddr, unsigned wanted,
			struct scribe_insn_address *p)
{
	struct scribe_insn_address inner;
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

void scribe_insn_entry(uint64_t vaddr, struct scribe_insn_address *p)
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
