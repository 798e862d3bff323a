/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the library programs and the attacher share: probe sites, what is known
 * of a library's structures. Structures, enumerations and constants only.
 */
#ifndef UPROBES_WIRE_H
#define UPROBES_WIRE_H

#include "bpf/wire.h"

#define SCRIBE_SITES_MAX     8192u
#define SCRIBE_LIBRARY_OFFSETS_MAX    256u
#define SCRIBE_LIBRARY_OFFSETS_OPENMPI                                                                       \
	(SCRIBE_LIBRARY_OFFSETS_MAX - 1) /* Open MPI's once more, for those that call it */
#define SCRIBE_SITE_ARGS     6
#define SCRIBE_HANDLES_MAX   65536u
#define SCRIBE_ACCESS_PATTERNS_MAX    65536u

/* Layers a thread can be in at once, one above the other. */
enum scribe_layer {
	SCRIBE_LAYER_STDIO,
	SCRIBE_LAYER_MPIIO,
	SCRIBE_LAYER_HDF5,
	SCRIBE_LAYER_PNETCDF,
	SCRIBE_LAYERS
};

/*
 * Cookies of probes: of an entry the index of its site, of a return this and the layer. Of entries
 * that are many places of one trace event this and the event's number: the site is found by
 * the number and the end of the address, which is the same in every process.
 */
#define SCRIBE_COOKIE_RETURN (1ull << 32)
#define SCRIBE_COOKIE_PLACES (1ull << 33)
#define SCRIBE_PLACE_STEP    4096u

/* What a probed function is to the handlers. */
enum scribe_fn {
	SCRIBE_FN_NONE = 0,
	/* stdio; arguments: see the table */
	SCRIBE_FN_STREAM_OPEN,   /* fopen, freopen, tmpfile: returns FILE *, opens inside */
	SCRIBE_FN_STREAM_FDOPEN, /* fd: returns FILE * */
	SCRIBE_FN_STREAM_FLUSH,  /* FILE * */
	SCRIBE_FN_STREAM_MESSAGE, /* writes to standard error where no preloaded library sees it */
	/* MPI-IO */
	SCRIBE_FN_MPI_OPEN,      /* comm, name, amode, info, MPI_File *; inside: int * (processes), .., any hints, .. */
	SCRIBE_FN_MPI_CLOSE,     /* *MPI_File */
	SCRIBE_FN_MPI_DATA,      /* MPI_File, count, datatype; offset, where it has one;
				    inside: MPI_File, s64 * (bytes, or -1), direction | counter << 8, offset or -1 */
	SCRIBE_FN_MPI_SYNC,      /* MPI_File */
	SCRIBE_FN_MPI_VIEW,      /* MPI_File, info, displacement, etype, file type, representation; inside: .., hints */
	SCRIBE_FN_MPI_TYPE_SIZE, /* inside others: datatype, size * */
	SCRIBE_FN_MPI_COMM_SIZE, /* inside others: comm, int * */
	SCRIBE_FN_MPI_INSIDE,    /* of our own library: MPI_File, memory, place, use, a word of the thread */
	/* HDF5 */
	SCRIBE_FN_H5_FILE_OPEN,  /* H5Fopen, H5Fcreate: name; returns hid */
	SCRIBE_FN_H5_FILE_CLOSE, /* hid, may be of another thing; returns 0, or references that are left */
	SCRIBE_FN_H5_FILE_FLUSH, /* hid */
	SCRIBE_FN_H5_SET_OPEN,   /* H5D_open, H5D__create: returns H5D_t * */
	SCRIBE_FN_H5_SET_CLOSE,  /* H5D_t * */
	SCRIBE_FN_H5_SET_DATA,   /* H5D_t *, file space; 1.14: number of datasets, -, what describes them */
	SCRIBE_FN_H5_SET_FLUSH,  /* hid */
	SCRIBE_FN_H5_SET_CHUNK,  /* H5D_t *, bytes of one stored chunk (reading: told from inside) */
	SCRIBE_FN_H5_DEPRECATED, /* around an open */
	SCRIBE_FN_H5_BLOCK_READ, /* inside others: kind of memory, bytes */
	SCRIBE_FN_H5_FILE_MADE,  /* inside an open: returns H5F_t * */
	SCRIBE_FN_H5_FILE_MEANT, /* inside a flush: H5F_t * */
	/* PnetCDF */
	SCRIBE_FN_NC_OPEN,     /* path, int *ncid */
	SCRIBE_FN_NC_CLOSE,    /* ncid */
	SCRIBE_FN_NC_META,     /* ncid */
	SCRIBE_FN_NC_WAIT,     /* ncid */
	SCRIBE_FN_NC_VAR_OPEN, /* ncid, name, int *varid */
	SCRIBE_FN_NC_DATA,     /* ncid, varid, number or file type, count or counts, stride */
	SCRIBE_FN_NC_MANY,     /* ncid: several variables, each told from inside */
	SCRIBE_FN_NC_POST,     /* inside others: variable (its number comes first), count, stride */
};

enum scribe_reg {
	SCRIBE_REG_AX,
	SCRIBE_REG_CX,
	SCRIBE_REG_DX,
	SCRIBE_REG_BX,
	SCRIBE_REG_SP,
	SCRIBE_REG_BP,
	SCRIBE_REG_SI,
	SCRIBE_REG_DI,
	SCRIBE_REG_R8,
	SCRIBE_REG_R9,
	SCRIBE_REG_R10,
	SCRIBE_REG_R11,
	SCRIBE_REG_R12,
	SCRIBE_REG_R13,
	SCRIBE_REG_R14,
	SCRIBE_REG_R15,
	SCRIBE_REG_NONE = 0xff, /* this argument is not used */
};

#define SCRIBE_COUNT_NONE 0xffu

/* Which part of a variable a PnetCDF call names. */
enum scribe_nc_form {
	SCRIBE_NC_VAR,
	SCRIBE_NC_VAR1,
	SCRIBE_NC_VARA,
	SCRIBE_NC_VARS,
	SCRIBE_NC_VARM,
	SCRIBE_NC_VARN,
	SCRIBE_NC_VARD,
};

enum scribe_site_flags {
	SCRIBE_SITE_RETURNS = 1u << 0, /* handled at return too */
	SCRIBE_SITE_WIDE = 1u << 2,    /* its count has 64 bits */
	SCRIBE_SITE_INNER = 1u << 4,   /* only tells something to the call around it */
	SCRIBE_SITE_AROUND = 1u << 7,  /* only tells something to the call inside it */
	SCRIBE_SITE_INDEP = 1u << 8,   /* PnetCDF: an independent read or write */
};

/* One probed place. Its index is the cookie of the probe at its entry. */
struct scribe_site {
	scribe_u8 fn;       /* enum scribe_fn */
	scribe_u8 layer;    /* enum scribe_layer */
	scribe_u16 flags;   /* enum scribe_site_flags */
	scribe_u8 op;       /* data: SCRIBE_OP_READ or SCRIBE_OP_WRITE */
	scribe_u8 count_at; /* the module's counter that goes up by one, SCRIBE_COUNT_NONE */
	scribe_u8 deref;    /* bit i: argument i is where the value stands, read at entry */
	scribe_u8 implied;  /* PnetCDF: enum scribe_nc_form */
	scribe_u8 reg[SCRIBE_SITE_ARGS]; /* enum scribe_reg of each argument at this place */
	scribe_u16 image;                /* index of its library */
	scribe_u64 vaddr;                /* of the place: instruction pointer - vaddr is the load address */
};

/* In scribe_call.beneath beside the layers: a collective MPI-IO call. */
#define SCRIBE_BENEATH_COLLECTIVE 8

enum scribe_flavour {
	SCRIBE_FLAVOUR_NONE,
	SCRIBE_FLAVOUR_MPICH,
	SCRIBE_FLAVOUR_OPENMPI,
	SCRIBE_FLAVOUR_INSIDE, /* functions of our own library that MPI's calls pass */
};

struct scribe_handle {
	scribe_u32 slot;
	scribe_u32 generation;
	scribe_u64 opened_ns; /* of a dataset without a record: start of its open, `generation` is its duration */
	scribe_u64 note;      /* what the layer remembers of it */
	scribe_u64 moved[2];  /* PnetCDF: bytes written and read when it was asked last; MPI-IO: enum scribe_view */
};

/* In scribe_handle.moved: an offset counts elements of so many bytes from there; 0 bytes: not known. */
enum scribe_view { SCRIBE_VIEW_BEGIN, SCRIBE_VIEW_ELEMENT };

/* What was read from a library's file: offsets in its structures; 0 unknown. */
struct scribe_library_offsets {
	scribe_u32 flavour;       /* enum scribe_flavour */
	scribe_u32 fileno_at;     /* FILE: the descriptor */
	scribe_u32 group_at;      /* Open MPI communicator: its group */
	scribe_u32 group_size_at; /* and the group's number of processes */
	scribe_u32 type_size_at;  /* Open MPI datatype: bytes */
	scribe_u32 h5d_path_at;   /* H5D_t: path (reference to a string) */
	scribe_u32 h5d_shared_at; /* H5D_t: shared part */
	scribe_u32 h5d_space_at, h5d_type_at, h5d_layout_at, h5d_chunk_at; /* in the shared part */
	scribe_u32 h5s_rank_at, h5s_nelem_at, h5s_select_at, h5s_npoints_at, h5s_hslab_at; /* H5S_t */
	scribe_u32 h5t_shared_at, h5t_size_at;
	scribe_u32 h5d_many_bytes; /* 1.14: of one dataset of a call on several, 0: calls are on one */
	scribe_u32 h5d_many_space_at; /* there: the file's space */
	scribe_u32 h5_mpi_unseen;     /* 1: it can use MPI-IO, which is not probed; read: it can */
	/* PnetCDF: table of open files by ncid (vaddr), what its entries point to */
	scribe_u64 nc_files_at, nc_driver_at;    /* vaddr: table, the driver whose fields follow */
	scribe_u32 nc_vars_at, nc_type_at;       /* file: variables; variable: type */
	scribe_u32 nc_own_at, nc_own_driver_at;  /* file: the driver's own structure, its driver */
	scribe_u32 nc_names_at, nc_name_at;      /* driver's: its variables; a variable's name */
	scribe_u32 nc_records_at, nc_written_at; /* driver's: records; bytes written, then read */
	scribe_u64 stderr_at;                    /* stdio: vaddr of standard error */
	scribe_u64 info_null_at;                 /* vaddr of a pointer to Open MPI's MPI_INFO_NULL */
};

#endif
