/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_CMD_EXPORT_EXPORT_H
#define UTIL_CMD_EXPORT_EXPORT_H

int scribe_export_main(int argc, char **argv);

#endif
