// SPDX-License-Identifier: BSD-3-Clause
/*
 * ELF files by libelf. The file may be hostile: sizes are bounded, offsets checked. struct scribe_elf owns
 * mapping and tables. Runs in helpers, not in the daemon. Must not know: probes, BPF.
 */
#include "uprobes/elf/elf.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#ifdef __x86_64__
#define OUR_MACHINE EM_X86_64
#else
#define OUR_MACHINE EM_AARCH64
#endif

/* Bounds against files made to exhaust memory or time. */
#define SYMBOLS_MAX  4000000u
#define SEGMENTS_MAX 256u
#define TABLE_MAX    (16u << 20) /* bytes of a symbol table */
#define SMALL_MAX    4096u       /* of other sections */
#define NAME_MOST    256u        /* longer than any name in use */

/* `bytes`: in the file. */
struct segment {
	uint64_t vaddr, offset, bytes;
	bool exec;
};

struct symbol {
	const char *name;
	uint64_t vaddr, bytes;
	bool hidden_version;
};

struct scribe_elf {
	Elf *elf;
	char *image; /* the file */
	size_t bytes;
	struct segment *segment;
	size_t nsegments;
	struct symbol *symbol;
	size_t nsymbols, capacity;
	bool program;  /* names an interpreter */
	bool launches; /* imports such functions */
	const char *rpath;
};

static int by_name(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	/* The default version first: scribe_elf_find returns the first. */
	return order ? order : (int)x->hidden_version - (int)y->hidden_version;
}

static int add_symbol(struct scribe_elf *e, const char *name, const GElf_Sym *s, bool old)
{
	if (e->nsymbols == e->capacity) {
		size_t capacity = e->capacity ? e->capacity * 2 : 1024;
		struct symbol *more = capacity > SYMBOLS_MAX ? NULL : realloc(e->symbol, capacity * sizeof(*more));

		if (!more)
			return -ENOMEM;
		e->symbol = more;
		e->capacity = capacity;
	}
	e->symbol[e->nsymbols++] = (struct symbol){name, s->st_value, s->st_size, old};
	return 0;
}

static bool speaks(const GElf_Sym *s)
{
	int type = GELF_ST_TYPE(s->st_info), bind = GELF_ST_BIND(s->st_info);

	if (s->st_shndx == SHN_UNDEF || !s->st_value)
		return false;
	return (type == STT_FUNC || type == STT_OBJECT || type == STT_GNU_IFUNC) &&
	       (bind == STB_GLOBAL || bind == STB_WEAK || bind == STB_LOCAL);
}

/* Functions that bring in files that are not linked. */
static bool is_launcher(const char *name)
{
	static const char *const launchers[] = {
		"execl",
		"execle",
		"execlp",
		"execv",
		"execve",
		"execveat",
		"execvp",
		"execvpe",
		"fexecve",
		"posix_spawn",
		"posix_spawnp",
		"system",
		"popen",
		"wordexp",
		"dlopen",
		"dlmopen",
		"syscall",
		"_dl_open",
		"__libc_dlopen_mode",
	};

	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++)
		if (!strcmp(launchers[i], name))
			return true;
	return false;
}

static Elf_Data *versions(Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr h;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &h) && h.sh_type == SHT_GNU_versym && h.sh_size <= TABLE_MAX)
			return elf_getdata(scn, NULL);
	return NULL;
}

/* -ENOMEM also for too many symbols. */
static int read_symbols(struct scribe_elf *e, Elf_Scn *scn, const GElf_Shdr *h)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	Elf_Data *vers = h->sh_type == SHT_DYNSYM ? versions(e->elf) : NULL;
	size_t n = h->sh_entsize ? h->sh_size / h->sh_entsize : 0;

	for (size_t i = 0; data && i < n && i < SYMBOLS_MAX; i++) {
		GElf_Versym v = 0;
		const char *name;
		GElf_Sym s;
		int rc;

		if (!gelf_getsym(data, (int)i, &s))
			continue;
		name = elf_strptr(e->elf, h->sh_link, s.st_name);
		if (!name || !*name || strnlen(name, NAME_MOST) == NAME_MOST)
			continue;
		if (s.st_shndx == SHN_UNDEF && h->sh_type == SHT_DYNSYM && is_launcher(name))
			e->launches = true;
		if (!speaks(&s))
			continue;
		if (vers)
			gelf_getversym(vers, (int)i, &v);
		rc = add_symbol(e, name, &s, (v & 0x8000) != 0);
		if (rc)
			return rc;
	}
	return 0;
}

static int read_segments(struct scribe_elf *e)
{
	size_t n;

	if (elf_getphdrnum(e->elf, &n) || n > SEGMENTS_MAX)
		return -ENOEXEC;
	e->segment = calloc(n + 1, sizeof(*e->segment));
	if (!e->segment)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr p;

		if (!gelf_getphdr(e->elf, (int)i, &p))
			return -ENOEXEC;
		e->program |= p.p_type == PT_INTERP;
		/* Segments must lie within the file, so that later offsets need no check. */
		if (p.p_type != PT_LOAD || p.p_offset > e->bytes || p.p_filesz > e->bytes - p.p_offset)
			continue;
		e->segment[e->nsegments++] =
			(struct segment){p.p_vaddr, p.p_offset, p.p_filesz, (p.p_flags & PF_X) != 0};
	}
	return 0;
}

/* -ENOEXEC: inconsistent headers. */
static int read_all(struct scribe_elf *e)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr h;
	int rc = read_segments(e);

	while (rc == 0 && (scn = elf_nextscn(e->elf, scn))) {
		if (!gelf_getshdr(scn, &h))
			return -ENOEXEC;
		/* static programs have only the full table */
		if ((h.sh_type == SHT_DYNSYM || h.sh_type == SHT_SYMTAB) && h.sh_size <= TABLE_MAX)
			rc = read_symbols(e, scn, &h);
	}
	if (rc == 0 && e->nsymbols)
		qsort(e->symbol, e->nsymbols, sizeof(*e->symbol), by_name);
	return rc;
}

static int map_file(struct scribe_elf *e, int fd)
{
	struct stat st;
	void *image;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_size <= 0)
		return -ENOEXEC;
	/* Shared: the kernel writes breakpoints of probed files into private mappings, also into this one. */
	image = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (image == MAP_FAILED)
		return -errno;
	e->image = image;
	e->bytes = (size_t)st.st_size;
	return 0;
}

/* 64-bit shared libraries and programs of this machine. */
int scribe_elf_open(int fd, const char *label, struct scribe_elf **ret_elf, struct scribe_err *err)
{
	struct scribe_elf *e = calloc(1, sizeof(*e));
	GElf_Ehdr h;
	int rc;

	elf_version(EV_CURRENT);
	if (!e)
		return scribe_err_set(err, -ENOMEM, "out of memory");
	rc = map_file(e, fd);
	if (rc == 0) {
		rc = -ENOEXEC;
		e->elf = elf_memory(e->image, e->bytes);
		if (e->elf && elf_kind(e->elf) == ELF_K_ELF && gelf_getehdr(e->elf, &h) &&
		    gelf_getclass(e->elf) == ELFCLASS64 && h.e_machine == OUR_MACHINE &&
		    (h.e_type == ET_DYN || h.e_type == ET_EXEC))
			rc = read_all(e);
	}
	if (rc) {
		scribe_elf_free(e);
		return scribe_err_set(err, rc, "%s: %s", label,
				      rc == -ENOEXEC ? "not a program or library of this machine" : strerror(-rc));
	}
	*ret_elf = e;
	return 0;
}

struct scribe_elf *scribe_elf_free(struct scribe_elf *e)
{
	if (!e)
		return NULL;
	if (e->elf)
		elf_end(e->elf);
	if (e->image)
		munmap(e->image, e->bytes);
	free(e->segment);
	free(e->symbol);
	free(e);
	return NULL;
}

static size_t lower_bound(const struct scribe_elf *e, const char *name)
{
	size_t low = 0, high = e->nsymbols;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (strcmp(e->symbol[mid].name, name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

bool scribe_elf_find(const struct scribe_elf *e, const char *name, struct scribe_elf_symbol *ret_symbol)
{
	size_t at = lower_bound(e, name);

	/* name@VERSION in a symbol table does not match */
	if (at >= e->nsymbols || strcmp(e->symbol[at].name, name) != 0)
		return false;
	ret_symbol->vaddr = e->symbol[at].vaddr;
	ret_symbol->bytes = e->symbol[at].bytes;
	return true;
}

static bool offset_in(const struct scribe_elf *e, bool exec, uint64_t vaddr, uint64_t *ret_offset)
{
	for (size_t i = 0; i < e->nsegments; i++) {
		const struct segment *s = &e->segment[i];

		if (s->exec == exec && vaddr >= s->vaddr && vaddr - s->vaddr < s->bytes) {
			*ret_offset = vaddr - s->vaddr + s->offset;
			return true;
		}
	}
	return false;
}

bool scribe_elf_offset(const struct scribe_elf *e, uint64_t vaddr, uint64_t *ret_offset)
{
	return offset_in(e, true, vaddr, ret_offset);
}

bool scribe_elf_data_offset(const struct scribe_elf *e, uint64_t vaddr, uint64_t *ret_offset)
{
	return offset_in(e, false, vaddr, ret_offset);
}

bool scribe_elf_code_piece(const struct scribe_elf *e, uint32_t piece, uint64_t *ret_offset, uint64_t *ret_bytes)
{
	for (size_t i = 0; i < e->nsegments; i++) {
		if (!e->segment[i].exec || piece--)
			continue;
		*ret_offset = e->segment[i].offset;
		*ret_bytes = e->segment[i].bytes;
		return true;
	}
	return false;
}

bool scribe_elf_code_bias(const struct scribe_elf *e, uint64_t *ret_bias)
{
	for (size_t i = 0; i < e->nsegments; i++)
		if (e->segment[i].exec) {
			*ret_bias = e->segment[i].vaddr - e->segment[i].offset;
			return true;
		}
	return false;
}

const unsigned char *scribe_elf_code(const struct scribe_elf *e, uint64_t vaddr, size_t *ret_n)
{
	for (size_t i = 0; i < e->nsegments; i++) {
		const struct segment *s = &e->segment[i];

		if (vaddr >= s->vaddr && vaddr - s->vaddr < s->bytes) {
			*ret_n = (size_t)(s->bytes - (vaddr - s->vaddr));
			return (const unsigned char *)e->image + s->offset + (vaddr - s->vaddr);
		}
	}
	return NULL;
}

/* Strings of dynamic entries with tag `a` or `b`. */
static void dynamic_strings(const struct scribe_elf *e, int64_t a, int64_t b, void (*fn)(void *ctx, const char *text),
			    void *ctx)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr h;

	while ((scn = elf_nextscn(e->elf, scn))) {
		Elf_Data *data;
		GElf_Dyn d;

		if (!gelf_getshdr(scn, &h) || h.sh_type != SHT_DYNAMIC || h.sh_size > SMALL_MAX ||
		    !(data = elf_getdata(scn, NULL)))
			continue;
		for (int i = 0; gelf_getdyn(data, i, &d) && d.d_tag != DT_NULL; i++) {
			const char *text;

			if (d.d_tag != a && d.d_tag != b)
				continue;
			text = elf_strptr(e->elf, h.sh_link, d.d_un.d_val);
			if (text)
				fn(ctx, text);
		}
	}
}

void scribe_elf_needed(const struct scribe_elf *e, void (*fn)(void *ctx, const char *name), void *ctx)
{
	dynamic_strings(e, DT_NEEDED, DT_NEEDED, fn, ctx);
}

static void keep_text(void *ctx, const char *text)
{
	*(const char **)ctx = text;
}

/* The last one, or "". */
const char *scribe_elf_rpath(const struct scribe_elf *e)
{
	const char *text = "";

	dynamic_strings(e, DT_RPATH, DT_RUNPATH, keep_text, &text);
	return text;
}

bool scribe_elf_launches(const struct scribe_elf *e)
{
	return e->launches;
}

static void needs_one(void *ctx, const char *name)
{
	(void)name;
	*(bool *)ctx = true;
}

bool scribe_elf_is_program(const struct scribe_elf *e)
{
	bool needs = false;

	scribe_elf_needed(e, needs_one, &needs);
	return e->program || !needs;
}
