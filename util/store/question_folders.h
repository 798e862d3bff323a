/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UTIL_STORE_QUESTION_FOLDERS_H
#define UTIL_STORE_QUESTION_FOLDERS_H

#include <stddef.h>

#include "logfmt/base/err.h"

#define SCRIBE_QUESTION_FOLDERS 8192

/* Appends to the list, initially "". 0 or -E2BIG. */
int scribe_question_folder_add(char *folders, size_t cap, const char *folder, struct scribe_err *err);
int scribe_question_folders(char *folders, size_t cap, struct scribe_err *err);

#endif
