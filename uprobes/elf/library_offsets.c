// SPDX-License-Identifier: BSD-3-Clause
/*
 * Decodes offsets in libraries' structures from accessor functions (x86-64), by byte patterns. Pure functions
 * on an ELF file; runs in the study helper. Must not know: BPF, probes.
 */
#include "uprobes/elf/library_offsets.h"

#include <string.h>

#include "uprobes/elf/insn.h"

/* per function */
#define CODE_MAX 1024
#define ANY      (-1)
#define COUNT(a) (sizeof(a) / sizeof(a[0]))

static const unsigned char *code_of(const struct scribe_elf *elf, const char *function, size_t *ret_n)
{
	struct scribe_elf_symbol s;
	const unsigned char *code;

	if (!scribe_elf_find(elf, function, &s))
		return NULL;
	code = scribe_elf_code(elf, s.vaddr, ret_n);
	if (code && s.bytes && *ret_n > s.bytes)
		*ret_n = (size_t)s.bytes;
	if (code && *ret_n > CODE_MAX)
		*ret_n = CODE_MAX;
	return code;
}

/* Offset of the match, or -1. */
static long find(const struct scribe_elf *elf, const char *function, const int16_t *pattern, size_t length,
		 const unsigned char **ret_at)
{
	size_t n;
	const unsigned char *code = code_of(elf, function, &n);
	long at = code ? scribe_insn_match(code, n, pattern, length) : -1;

	if (code)
		*ret_at = at < 0 ? NULL : code + at;
	return at;
}

/* Target of the RIP-relative operand (offset `operand`) of the matched instruction of `bytes`. 0: no match. */
static uint64_t target(const struct scribe_elf *elf, const char *function, const int16_t *pattern, size_t length,
		       int operand, int bytes)
{
	struct scribe_elf_symbol s;
	const unsigned char *at;
	const long offset = find(elf, function, pattern, length, &at);
	int32_t away;

	if (offset < 0 || !scribe_elf_find(elf, function, &s))
		return 0;
	memcpy(&away, at + operand, sizeof(away));
	return s.vaddr + (uint64_t)(offset + bytes) + (uint64_t)(int64_t)away;
}

static uint32_t disp32(const unsigned char *at)
{
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	/* No structure is that large: a match by chance. */
	return v < 65536 ? v : 0;
}

/* fileno: mov disp8(%rdi),%eax; test %eax,%eax */
static uint32_t fileno_offset(const struct scribe_elf *elf)
{
	static const int16_t pattern[] = {0x8b, 0x47, ANY, 0x85, 0xc0};
	const unsigned char *at;

	return find(elf, "fileno", pattern, COUNT(pattern), &at) < 0 ? 0 : at[2];
}

static uint64_t address_of(const struct scribe_elf *elf, const char *name)
{
	struct scribe_elf_symbol s;

	return scribe_elf_find(elf, name, &s) ? s.vaddr : 0;
}

/* PMPI_Comm_size: mov disp32(%reg),%rax; mov disp8(%rax),%eax; mov %eax,... */
static void openmpi_group(const struct scribe_elf *elf, struct scribe_library_offsets *im)
{
	static const int16_t pattern[] = {0x48, 0x8b, ANY, ANY, ANY, 0, 0, 0x8b, 0x40, ANY, 0x89};
	const unsigned char *at;

	if (find(elf, "PMPI_Comm_size", pattern, COUNT(pattern), &at) < 0 || (at[2] & 0xf8) != 0x80)
		return;
	im->group_at = disp32(at + 3);
	im->group_size_at = at[9];
}

/* PMPI_Type_size: mov disp8(%reg),%rax shortly before the comparison with INT_MAX */
static uint32_t openmpi_type_size(const struct scribe_elf *elf)
{
	static const int16_t limit[] = {0x48, 0x3d, 0xff, 0xff, 0xff, 0x7f}, load[] = {0x48, 0x8b, ANY, ANY};
	const unsigned char *at;
	long before = find(elf, "PMPI_Type_size", limit, COUNT(limit), &at);

	for (long back = 4; back <= 16 && back <= before; back++) {
		const unsigned char *c = at - back;

		if (scribe_insn_match(c, 4, load, COUNT(load)) == 0 && (c[2] & 0xc0) == 0x40 && (c[2] & 7) != 4)
			return c[3];
	}
	return 0;
}

/* mov disp8(%rdi),%rax; mov disp8(%rax),%rax */
static void two_steps(const struct scribe_elf *elf, const char *function, uint32_t *ret_first, uint32_t *ret_second)
{
	static const int16_t pattern[] = {0x48, 0x8b, 0x47, ANY, 0x48, 0x8b, 0x40, ANY};
	const unsigned char *at;

	if (find(elf, function, pattern, COUNT(pattern), &at) < 0)
		return;
	*ret_first = at[3];
	*ret_second = at[7];
}

/* Next number below 256 stored by movl $number,(reg); -1: none. */
static int next_stored(const unsigned char *code, size_t n, size_t *at)
{
	for (; *at + 7 <= n; (*at)++) {
		const unsigned char *c = code + *at, *number = NULL;

		if (c[0] != 0xc7)
			continue;
		if (c[1] < 4 || c[1] == 6 || c[1] == 7)
			number = c + 2;
		else if ((c[1] == 4 && c[2] == 0x24 && *at && (c[-1] & 0xf1) == 0x41) || /* (%r12) */
			 (c[1] == 0x45 && c[2] == 0))                                    /* 0(%rbp), 0(%r13) */
			number = c + 3;
		if (!number || number + 4 > code + n || number[1] || number[2] || number[3])
			continue;
		*at = (size_t)(number + 4 - code);
		return number[0];
	}
	return -1;
}

/* 10, 12 or 14 of HDF5 1.x, 0 for others. H5get_libversion stores 1, minor, release. */
static unsigned hdf5_minor(const struct scribe_elf *elf)
{
	size_t n, at = 0;
	const unsigned char *code = code_of(elf, "H5get_libversion", &n);
	int minor;

	if (!code || next_stored(code, n, &at) != 1)
		return 0;
	minor = next_stored(code, n, &at);
	return minor == 10 || minor == 12 || minor == 14 ? (unsigned)minor : 0;
}

/*
 * 1.14 takes an array of dataset descriptions, with a stride that differs by release: H5D__read adds it (add
 * imm32,reg), and it must be a known one.
 */
static bool read_hdf5_many(const struct scribe_elf *elf, struct scribe_library_offsets *im)
{
	static const uint16_t known[] = {0x130, 0x140};
	const unsigned char *at;

	for (size_t i = 0; i < COUNT(known); i++) {
		const int16_t step[] = {0x81, ANY, (int16_t)(known[i] & 0xff), (int16_t)(known[i] >> 8), 0, 0};

		if (find(elf, "H5D__read", step, COUNT(step), &at) < 0 || (at[1] & 0xf8) != 0xc0)
			continue;
		im->h5d_many_bytes = known[i];
		im->h5d_many_space_at = 0xb0;
		return true;
	}
	return false;
}

/* mov disp8(%reg),%rax; mov disp8(%rax),%rdi; call: copies the type from the shared part */
static void hdf5_type(const struct scribe_elf *elf, struct scribe_library_offsets *im)
{
	static const int16_t copied[] = {0x48, 0x8b, ANY, ANY, 0x48, 0x8b, 0x78, ANY, 0xe8};
	const unsigned char *at;

	two_steps(elf, "H5D_typeof", &im->h5d_shared_at, &im->h5d_type_at);
	if (im->h5d_shared_at || find(elf, "H5D__get_type", copied, COUNT(copied), &at) < 0 || (at[2] & 0xf8) != 0x40)
		return;
	im->h5d_shared_at = at[3];
	im->h5d_type_at = at[7];
}

/* HDF5 1.10, 1.12, 1.14; false: an offset is missing. */
static bool read_hdf5(const struct scribe_elf *elf, struct scribe_library_offsets *im)
{
	static const int16_t load8[] = {0x48, 0x8b, 0x47, ANY}, lea8[] = {0x48, 0x8d, 0x47, ANY},
			     load32[] = {0x48, 0x8b, 0x87, ANY, ANY, 0, 0}, space[] = {0x48, 0x8b, 0x78, ANY},
			     layout[] = {0x83, 0xb8, ANY, ANY, 0, 0, 3};
	int16_t hslab[] = {0x48, 0x8b, ANY, ANY, ANY, 0, 0};
	unsigned minor = hdf5_minor(elf);
	const unsigned char *at;

	if (!minor || (minor == 14 && !read_hdf5_many(elf, im)))
		return false;
	hdf5_type(elf, im);
	two_steps(elf, "H5T_get_size", &im->h5t_shared_at, &im->h5t_size_at);
	if (find(elf, "H5D_nameof", lea8, COUNT(lea8), &at) >= 0)
		im->h5d_path_at = at[3];
	if (find(elf, "H5D__get_space", space, COUNT(space), &at) >= 0)
		im->h5d_space_at = at[3];
	/* The layout's kind is compared with "virtual"; the chunk's shape follows at a fixed distance. */
	if (find(elf, "H5D__get_space", layout, COUNT(layout), &at) >= 0) {
		im->h5d_layout_at = disp32(at + 2);
		im->h5d_chunk_at = im->h5d_layout_at + 0x18;
	}
	if (find(elf, "H5S_get_select_type", load8, COUNT(load8), &at) >= 0)
		im->h5s_select_at = at[3];
	if (find(elf, "H5S_get_select_npoints", load32, COUNT(load32), &at) >= 0)
		im->h5s_npoints_at = disp32(at + 3);
	if (find(elf, "H5S_extent_nelem", load8, COUNT(load8), &at) >= 0) {
		im->h5s_nelem_at = at[3];
		im->h5s_rank_at = im->h5s_nelem_at + 8; /* next field, unsigned */
	}
	/*
	 * The hyperslab follows the number of points; the library's own check of it, inlined or not, must
	 * agree.
	 */
	hslab[3] = (int16_t)((im->h5s_npoints_at + 8) & 0xff);
	hslab[4] = (int16_t)((im->h5s_npoints_at + 8) >> 8);
	if (find(elf, "H5Sis_regular_hyperslab", hslab, COUNT(hslab), &at) >= 0 ||
	    find(elf, "H5S__hyper_is_regular", hslab, COUNT(hslab), &at) >= 0)
		im->h5s_hslab_at = im->h5s_npoints_at + 8;
	im->h5_mpi_unseen = address_of(elf, "H5Pset_fapl_mpio") != 0;
	return im->h5d_shared_at && im->h5t_size_at && im->h5d_path_at && im->h5d_space_at && im->h5s_select_at &&
	       im->h5s_npoints_at && im->h5s_nelem_at && im->h5s_hslab_at;
}

static void read_mpi(const struct scribe_elf *elf, struct scribe_library_offsets *im)
{
	struct scribe_elf_symbol s;

	if (scribe_elf_find(elf, "ioscribe_mpi_open", &s)) {
		/*
		 * Identified by symbols that only one implementation has. MPICH needs no offsets: nested calls
		 * give the sizes.
		 */
		im->flavour = SCRIBE_FLAVOUR_INSIDE;
	} else if (scribe_elf_find(elf, "ompi_mpi_comm_world", &s)) {
		im->flavour = SCRIBE_FLAVOUR_OPENMPI;
		im->type_size_at = openmpi_type_size(elf);
		im->info_null_at = address_of(elf, "ompi_mpi_info_null_addr");
		openmpi_group(elf, im);
	} else if (scribe_elf_find(elf, "MPI_Type_size_x", &s) || scribe_elf_find(elf, "PMPI_Type_size_x", &s)) {
		im->flavour = SCRIBE_FLAVOUR_MPICH;
	}
}

/* MPI_Initialized: loads the state, compares it with 0. */
static uint64_t mpich_state(const struct scribe_elf *elf)
{
	static const int16_t direct[] = {0x8b, 0x05, ANY, ANY, ANY, ANY, 0x85, 0xc0, 0x0f, 0x95},
			     by_address[] = {0x48, 0x8d, 0x05, ANY, ANY, ANY, ANY, 0x8b, 0x00, 0x85, 0xc0, 0x0f, 0x95};
	const uint64_t at = target(elf, "PMPI_Initialized", by_address, COUNT(by_address), 3, 7);

	return at ? at : target(elf, "PMPI_Initialized", direct, COUNT(direct), 2, 6);
}

/* Set by H5dont_atexit, or when the library starts, and not reset by H5close or MPI_Finalize as "initialized" is. */
static uint64_t hdf5_ever_started(const struct scribe_elf *elf)
{
	static const int16_t set[] = {0xc6, 0x05, ANY, ANY, ANY, ANY, 1};

	return target(elf, "H5dont_atexit", set, COUNT(set), 2, 7);
}

void scribe_library_offsets_init_state(const struct scribe_elf *elf, enum scribe_layer layer,
				       struct scribe_init_state *ret)
{
	struct scribe_elf_symbol s;

	memset(ret, 0, sizeof(*ret));
	if (layer == SCRIBE_LAYER_MPIIO && scribe_elf_find(elf, "ompi_mpi_state", &s))
		*ret = (struct scribe_init_state){s.vaddr, sizeof(int32_t), 2};
	else if (layer == SCRIBE_LAYER_MPIIO)
		*ret = (struct scribe_init_state){mpich_state(elf), sizeof(int32_t), 1};
	else if (layer == SCRIBE_LAYER_HDF5)
		*ret = (struct scribe_init_state){hdf5_ever_started(elf), 1, 1};
}

static bool is_pnetcdf_1_12(const struct scribe_elf *elf)
{
	static const int16_t load[] = {0x48, 0x8d, 0x05, ANY, ANY, ANY, ANY, 0xc3};
	const uint64_t at = target(elf, "ncmpi_inq_libvers", load, COUNT(load), 3, 7);
	size_t n;
	const unsigned char *text = at ? scribe_elf_code(elf, at, &n) : NULL;

	return text && n > 5 && !memcmp(text, "1.12.", 5);
}

/* Datatypes are those of the linked MPI library. */
static void needs_openmpi(void *ctx, const char *name)
{
	struct scribe_library_offsets *im = ctx;

	if (!strncmp(name, "libmpi.so", 9))
		im->flavour = SCRIBE_FLAVOUR_OPENMPI;
	else if (!strncmp(name, "libmpich", 8))
		im->flavour = SCRIBE_FLAVOUR_MPICH;
}

/* Bytes written, then read, follow the records; both must be loaded in the code. */
static uint32_t pnetcdf_written(const struct scribe_elf *elf, uint32_t records_at)
{
	int16_t load[] = {ANY, 0x8b, ANY, 0, 0, 0, 0};
	const unsigned char *at;

	for (uint32_t i = 1; i <= 2; i++) {
		load[3] = (int16_t)((records_at + 8 * i) & 0xff);
		load[4] = (int16_t)((records_at + 8 * i) >> 8);
		if (!records_at || find(elf, "ncmpio_inq_misc", load, COUNT(load), &at) < 0)
			return 0;
	}
	return records_at + 8;
}

/* PnetCDF 1.12; false: an offset is missing. */
static bool read_pnetcdf(const struct scribe_elf *elf, struct scribe_library_offsets *im)
{
	/* lea table(%rip),%rax; mov (%rax,%rdi,8),%rax */
	static const int16_t table[] = {0x48, 0x8d, 0x05, ANY, ANY, ANY, ANY, 0x48, 0x8b, 0x04, 0xf8},
			     driver[] = {0x48, 0x8d, 0x05, ANY, ANY, ANY, ANY, 0xc3},
			     /* load variables, times 3, times 8, load the type */
		vars[] = {0x48, 0x8b, ANY, ANY, 0x48, 0x8d, ANY, ANY, 0x48, 0x8d, ANY, ANY, 0x8b, ANY, ANY},
			     /* mov own(%rax),%rdi; mov driver(%rax),%rax */
		own[] = {0x48, 0x8b, 0x78, ANY, 0x48, 0x8b, 0x40, ANY},
			     /* mov array(%reg),%reg; copies a name from an element */
		names[] = {0x49, 0x8b, ANY, ANY, ANY, 0, 0},
			     name[] = {0x48, 0x85, 0xff, 0x74, ANY, 0x48, 0x8b, ANY, ANY},
			     records[] = {0x48, 0x8b, ANY, ANY, 0x48, 0x89, 0x03};
	const unsigned char *at;

	if (!is_pnetcdf_1_12(elf))
		return false;
	scribe_elf_needed(elf, needs_openmpi, im);
	im->nc_files_at = target(elf, "PNC_check_id", table, COUNT(table), 3, 7);
	im->nc_driver_at = target(elf, "ncmpio_inq_driver", driver, COUNT(driver), 3, 7);
	if (find(elf, "ncmpi_inq_vartype", vars, COUNT(vars), &at) >= 0 && (at[7] >> 6) == 1 && (at[11] >> 6) == 3) {
		im->nc_vars_at = at[3];
		im->nc_type_at = at[14];
	}
	if (find(elf, "ncmpi_inq_vardimid", own, COUNT(own), &at) >= 0) {
		im->nc_own_at = at[3];
		im->nc_own_driver_at = at[7];
	}
	if (find(elf, "ncmpio_inq_var", names, COUNT(names), &at) >= 0)
		im->nc_names_at = disp32(at + 3);
	if (find(elf, "ncmpio_inq_var", name, COUNT(name), &at) >= 0)
		im->nc_name_at = at[8];
	if (find(elf, "ncmpio_inq_dim", records, COUNT(records), &at) >= 0)
		im->nc_records_at = at[3];
	im->nc_written_at = pnetcdf_written(elf, im->nc_records_at);
	return im->nc_files_at && im->nc_driver_at && im->nc_vars_at && im->nc_type_at == 8 && im->nc_own_at &&
	       im->nc_own_driver_at && im->nc_names_at && im->nc_name_at && im->nc_records_at;
}

void scribe_library_offsets_read(const struct scribe_elf *elf, enum scribe_layer layer,
				 struct scribe_library_offsets *im)
{
	memset(im, 0, sizeof(*im));
	if (layer == SCRIBE_LAYER_MPIIO)
		read_mpi(elf, im);
	if (layer == SCRIBE_LAYER_HDF5 && !read_hdf5(elf, im))
		memset(im, 0, sizeof(*im));
	if (layer == SCRIBE_LAYER_PNETCDF && !read_pnetcdf(elf, im))
		memset(im, 0, sizeof(*im));
	if (layer == SCRIBE_LAYER_STDIO) {
		im->fileno_at = fileno_offset(elf);
		im->stderr_at = address_of(elf, "_IO_2_1_stderr_");
	}
}
