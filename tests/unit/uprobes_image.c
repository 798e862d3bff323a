// SPDX-License-Identifier: BSD-3-Clause
/*
 * What is read out of a library's code: HDF5's offsets, from recorded functions of
 * Debian's 1.10.8 and of builds of 1.12.2 and 1.14.4 (gcc, x86-64) in a small ELF
 * file made here. What is not recognised must not be guessed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "uprobes/elf/library_offsets.h"

#ifdef __x86_64__

#define FUNCTIONS_MAX 16
#define CODE_AT       0x1000u /* offset and address of the first function */

struct function {
	const char *name;
	const unsigned char *code;
	size_t bytes;
};

#define FUNCTION(name, ...) \
	{ \
		name, (const unsigned char[]){__VA_ARGS__}, sizeof((const unsigned char[]){__VA_ARGS__}) \
	}

/* Stores 1, minor, release; the pieces between are of 1.10.8. */
#define LIBVERSION(minor, release) \
	FUNCTION("H5get_libversion", 0x4d, 0x85, 0xe4, 0x74, 0x08,          /* test %r12,%r12; je */ \
		 0x41, 0xc7, 0x04, 0x24, 0x01, 0x00, 0x00, 0x00,            /* movl $1,(%r12) */ \
		 0x48, 0x85, 0xed, 0x74, 0x07,                              /* test %rbp,%rbp; je */ \
		 0xc7, 0x45, 0x00, (minor), 0x00, 0x00, 0x00,               /* movl $minor,0(%rbp) */ \
		 0x48, 0x85, 0xdb, 0x74, 0x06,                              /* test %rbx,%rbx; je */ \
		 0xc7, 0x03, (release), 0x00, 0x00, 0x00, 0x31, 0xc0, 0xc3) /* movl $release,(%rbx) */
#define TYPE_SIZE \
	FUNCTION("H5T_get_size", 0x48, 0x8b, 0x47, 0x28, /* mov 0x28(%rdi),%rax */ \
		 0x48, 0x8b, 0x40, 0x10, 0xc3)           /* mov 0x10(%rax),%rax; ret */
#define NAMEOF \
	FUNCTION("H5D_nameof", 0x31, 0xd2, 0x48, 0x8d, 0x47, 0x18, /* xor; lea 0x18(%rdi),%rax */ \
		 0x48, 0x85, 0xff, 0x48, 0x0f, 0x44, 0xc2, 0xc3)
#define SELECT_TYPE \
	FUNCTION("H5S_get_select_type", 0x75, 0x08, 0x48, 0x8b, 0x47, 0x50, /* jne; mov 0x50(%rdi),%rax */ \
		 0x8b, 0x00, 0xc3)
#define NPOINTS \
	FUNCTION("H5S_get_select_npoints", 0x48, 0x8b, 0x87, 0x60, 0x01, 0x00, 0x00, /* mov 0x160(%rdi) */ \
		 0xc3)
#define NELEM FUNCTION("H5S_extent_nelem", 0x48, 0x8b, 0x47, 0x30, 0xc3) /* mov 0x30(%rdi),%rax */
#define SPACE \
	FUNCTION("H5D__get_space", 0x48, 0x8b, 0x43, 0x30, /* mov 0x30(%rbx),%rax */ \
		 0x83, 0xb8, 0xf8, 0x00, 0x00, 0x00, 0x03, /* cmpl $3,0xf8(%rax) */ \
		 0x74, 0x3a, 0x48, 0x8b, 0x78, 0x20,       /* je; mov 0x20(%rax),%rdi */ \
		 0xba, 0x01, 0x00, 0x00, 0x00)
#define REGULAR(offset) \
	FUNCTION("H5Sis_regular_hyperslab", 0x48, 0x8b, 0x83, (offset)&0xff, (offset) >> 8, 0x00, 0x00, 0x8b, 0x00, \
		 0x83, 0xf8, 0x01, 0x0f, 0x84, 0xd6, 0x00, 0x00, 0x00)                      /* mov offset(%rbx),%rax; \
											       cmp $1 */
#define TYPEOF FUNCTION("H5D_typeof", 0x48, 0x8b, 0x47, 0x30, 0x48, 0x8b, 0x40, 0x18, 0xc3) /* 0x30, 0x18 */
/* 1.12 and 1.14 copy the type: mov 0x30(%rbx),%rax; mov 0x18(%rax),%rdi; call */
#define GET_TYPE \
	FUNCTION("H5D__get_type", 0x85, 0xc0, 0x0f, 0x88, 0xe7, 0x00, 0x00, 0x00, 0x48, 0x8b, 0x43, 0x30, 0x48, 0x8b, \
		 0x78, 0x18, 0xe8, 0xf2, 0x39, 0xf7, 0xff)
/* 1.14 steps through an array: add $0x1,%r15; add $0x20,%rbp; add $bytes,%r14; call */
#define READ_MANY(bytes) \
	FUNCTION("H5D__read", 0x48, 0x8b, 0x7c, 0x24, 0x50, 0x31, 0xf6, 0x49, 0x83, 0xc7, 0x01, 0x48, 0x83, 0xc5, \
		 0x20, 0x49, 0x81, 0xc6, (bytes)&0xff, (bytes) >> 8, 0x00, 0x00, 0xe8, 0x64, 0xf7, 0xf6, 0xff)
#define COMMON TYPE_SIZE, NAMEOF, SELECT_TYPE, NPOINTS, NELEM, SPACE, REGULAR(0x168)

/* A library of these functions: an ELF header, one segment, dynamic symbols. */
static struct scribe_elf *library(const struct function *f, size_t n)
{
	enum { DYNSYM = 1, DYNSTR, SECTIONS };
	static unsigned char file[0x4000];
	Elf64_Ehdr *h = (Elf64_Ehdr *)file;
	Elf64_Phdr *p = (Elf64_Phdr *)(file + sizeof(*h));
	Elf64_Shdr *s = (Elf64_Shdr *)(file + 0x200);
	Elf64_Sym *sym = (Elf64_Sym *)(file + 0x400);
	char *names = (char *)file + 0x800;
	struct scribe_elf *elf = NULL;
	struct scribe_err err = {0};
	size_t code = CODE_AT, name = 1;
	int fd = memfd_create("library", 0);

	memset(file, 0, sizeof(file));
	assert_true(fd >= 0 && n < FUNCTIONS_MAX);
	for (size_t i = 0; i < n; i++) {
		sym[i + 1] = (Elf64_Sym){.st_name = (uint32_t)name,
					 .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
					 .st_shndx = 1,
					 .st_value = code,
					 .st_size = f[i].bytes};
		strcpy(names + name, f[i].name);
		name += strlen(f[i].name) + 1;
		memcpy(file + code, f[i].code, f[i].bytes);
		code += 0x100;
	}
	memcpy(h->e_ident, ELFMAG, SELFMAG);
	h->e_ident[EI_CLASS] = ELFCLASS64;
	h->e_ident[EI_DATA] = ELFDATA2LSB;
	h->e_ident[EI_VERSION] = EV_CURRENT;
	h->e_type = ET_DYN;
	h->e_machine = EM_X86_64;
	h->e_version = EV_CURRENT;
	h->e_ehsize = sizeof(*h);
	h->e_phoff = sizeof(*h);
	h->e_phentsize = sizeof(*p);
	h->e_phnum = 1;
	h->e_shoff = 0x200;
	h->e_shentsize = sizeof(*s);
	h->e_shnum = SECTIONS;
	*p = (Elf64_Phdr){.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = sizeof(file), .p_memsz = sizeof(file)};
	s[DYNSYM] = (Elf64_Shdr){.sh_type = SHT_DYNSYM,
				 .sh_offset = 0x400,
				 .sh_size = (n + 1) * sizeof(*sym),
				 .sh_link = DYNSTR,
				 .sh_entsize = sizeof(*sym)};
	s[DYNSTR] = (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = 0x800, .sh_size = name};
	assert_int_equal(write(fd, file, sizeof(file)), sizeof(file));
	assert_int_equal(scribe_elf_open(fd, "library", &elf, &err), 0);
	close(fd);
	return elf;
}

static struct scribe_library_offsets read_image(const struct function *f, size_t n)
{
	struct scribe_elf *elf = library(f, n);
	struct scribe_library_offsets im;

	scribe_library_offsets_read(elf, SCRIBE_LAYER_HDF5, &im);
	scribe_elf_free(elf);
	return im;
}

#define READ(...) \
	read_image((const struct function[]){__VA_ARGS__}, \
		   sizeof((const struct function[]){__VA_ARGS__}) / sizeof(struct function))

static void assert_offsets(const struct scribe_library_offsets *im)
{
	assert_int_equal(im->h5d_path_at, 0x18);
	assert_int_equal(im->h5d_shared_at, 0x30);
	assert_int_equal(im->h5d_type_at, 0x18);
	assert_int_equal(im->h5d_space_at, 0x20);
	assert_int_equal(im->h5d_layout_at, 0xf8);
	assert_int_equal(im->h5d_chunk_at, 0x110);
	assert_int_equal(im->h5s_nelem_at, 0x30);
	assert_int_equal(im->h5s_rank_at, 0x38);
	assert_int_equal(im->h5s_select_at, 0x50);
	assert_int_equal(im->h5s_npoints_at, 0x160);
	assert_int_equal(im->h5s_hslab_at, 0x168);
	assert_int_equal(im->h5t_shared_at, 0x28);
	assert_int_equal(im->h5t_size_at, 0x10);
}

static void assert_refused(struct scribe_library_offsets im)
{
	static const struct scribe_library_offsets none;

	assert_memory_equal(&im, &none, sizeof(im));
}

static void versions(void **state)
{
	struct scribe_library_offsets im = READ(LIBVERSION(10, 8), TYPEOF, COMMON);

	(void)state;
	assert_offsets(&im);
	assert_int_equal(im.h5d_many_bytes, 0);
	im = READ(LIBVERSION(12, 2), GET_TYPE, COMMON);
	assert_offsets(&im);
	assert_int_equal(im.h5d_many_bytes, 0);
	im = READ(LIBVERSION(14, 4), GET_TYPE, READ_MANY(0x130), COMMON);
	assert_offsets(&im);
	assert_int_equal(im.h5d_many_bytes, 0x130);
	assert_int_equal(im.h5d_many_space_at, 0xb0);
	im = READ(LIBVERSION(14, 0), GET_TYPE, READ_MANY(0x140), COMMON);
	assert_int_equal(im.h5d_many_bytes, 0x140);
}

/* The release is no minor version: 1.8.12, 1.8.14; 1.16.10 */
static void other_versions_refused(void **state)
{
	(void)state;
	assert_refused(READ(LIBVERSION(8, 12), TYPEOF, COMMON));
	assert_refused(READ(LIBVERSION(8, 14), TYPEOF, READ_MANY(0x130), COMMON));
	assert_refused(READ(LIBVERSION(16, 10), TYPEOF, COMMON));
	assert_refused(READ(TYPEOF, COMMON));
	/* major 2: movl $2,(%rdi); movl $10,(%rsi); movl $1,(%rdx) */
	assert_refused(READ(FUNCTION("H5get_libversion", 0xc7, 0x07, 2, 0, 0, 0, 0xc7, 0x06, 10, 0, 0, 0, 0xc7, 0x02, 1,
				     0, 0, 0, 0xc3),
			    TYPEOF, COMMON));
	/* numbers of its own on the stack are none that it tells: movl $1,-8(%rbp); movl $10,8(%rsp) */
	assert_refused(READ(
		FUNCTION("H5get_libversion", 0xc7, 0x45, 0xf8, 1, 0, 0, 0, 0xc7, 0x44, 0x24, 0x08, 10, 0, 0, 0, 0xc3),
		TYPEOF, COMMON));
	/* cut off in the middle of the second number */
	assert_refused(
		READ(FUNCTION("H5get_libversion", 0xc7, 0x07, 1, 0, 0, 0, 0xc7, 0x06, 10, 0, 0), TYPEOF, COMMON));
}

/* movl $1,(%rdi); movl $10,(%rsi), as clang and gcc without frames write it */
static void version_by_arguments(void **state)
{
	struct scribe_library_offsets im =
		READ(FUNCTION("H5get_libversion", 0x48, 0x85, 0xff, 0x74, 0x06, 0xc7, 0x07, 1, 0, 0, 0, 0x48, 0x85,
			      0xf6, 0x74, 0x06, 0xc7, 0x06, 10, 0, 0, 0, 0xc7, 0x02, 0, 0, 0, 0, 0xc3),
		     TYPEOF, COMMON);

	(void)state;
	assert_offsets(&im);
}

/* 1.14 whose array has elements of another size than those known */
static void unknown_step_refused(void **state)
{
	(void)state;
	assert_refused(READ(LIBVERSION(14, 9), GET_TYPE, READ_MANY(0x150), COMMON));
	assert_refused(READ(LIBVERSION(14, 4), GET_TYPE, COMMON));
}

/* Each function that is needed, once missing, once of unknown code (only ret), once cut to its first byte. */
static void each_is_needed(void **state)
{
	static const unsigned char ret[] = {0xc3};
	struct function all[] = {LIBVERSION(10, 8), TYPEOF, COMMON}, some[sizeof(all) / sizeof(all[0])];
	size_t n = sizeof(all) / sizeof(all[0]);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		memcpy(some, all, sizeof(all));
		some[i] = some[n - 1];
		assert_refused(read_image(some, n - 1));
		memcpy(some, all, sizeof(all));
		some[i].code = ret;
		some[i].bytes = sizeof(ret);
		assert_refused(read_image(some, n));
		some[i].code = all[i].code;
		some[i].bytes = 1;
		assert_refused(read_image(some, n));
	}
}

/* The library's own test of a hyperslab loads from elsewhere: the number of points would be misread, too. */
static void hyperslab_elsewhere_refused(void **state)
{
	(void)state;
	assert_refused(
		READ(LIBVERSION(10, 8), TYPEOF, TYPE_SIZE, NAMEOF, SELECT_TYPE, NPOINTS, NELEM, SPACE, REGULAR(0x170)));
}

/* Where the kind of the layout cannot be found, chunks are unknown, not guessed; the rest stands. */
static void chunks_may_be_unknown(void **state)
{
	struct scribe_library_offsets im =
		READ(LIBVERSION(10, 8), TYPEOF, TYPE_SIZE, NAMEOF, SELECT_TYPE, NPOINTS, NELEM, REGULAR(0x168),
		     FUNCTION("H5D__get_space", 0x48, 0x8b, 0x43, 0x30, 0x48, 0x8b, 0x78, 0x20, 0xc3));

	(void)state;
	assert_int_equal(im.h5d_space_at, 0x20);
	assert_int_equal(im.h5d_layout_at, 0);
	assert_int_equal(im.h5d_chunk_at, 0);
	assert_int_equal(im.h5s_npoints_at, 0x160);
}

/* HDF5's variable for "was started, once": set by H5dont_atexit (of 1.10.8). One that closing resets will not do. */
static void init_state(void **state)
{
	const struct function set[] = {FUNCTION("H5dont_atexit", 0x80, 0x3d, 0x0d, 0xd5, 0x37, 0x00, 0x00, 0x75, 0x0f,
						0xc6, 0x05, 0x04, 0xd5, 0x37, 0x00, 0x01, 0x31, 0xc0, 0xc3)},
			      neither[] = {FUNCTION("H5_libinit_g", 0), FUNCTION("H5dont_atexit", 0x31, 0xc0, 0xc3)};
	struct scribe_elf *elf = library(set, 1);
	struct scribe_init_state b;

	(void)state;
	scribe_library_offsets_init_state(elf, SCRIBE_LAYER_HDF5, &b);
	scribe_elf_free(elf);
	assert_int_equal(b.vaddr, CODE_AT + 0x37d514);
	assert_int_equal(b.bytes, 1);
	elf = library(neither, 2);
	scribe_library_offsets_init_state(elf, SCRIBE_LAYER_HDF5, &b);
	scribe_elf_free(elf);
	assert_int_equal(b.vaddr, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(versions),
		cmocka_unit_test(other_versions_refused),
		cmocka_unit_test(version_by_arguments),
		cmocka_unit_test(unknown_step_refused),
		cmocka_unit_test(each_is_needed),
		cmocka_unit_test(hyperslab_elsewhere_refused),
		cmocka_unit_test(chunks_may_be_unknown),
		cmocka_unit_test(init_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#else
int main(void)
{
	return 0; /* the code is of one machine, as the reader is */
}
#endif
