/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Binds names to their oldest glibc version, so that this library also loads on older systems (containers).
 * Nothing elsewhere than on glibc/x86-64.
 */
#ifndef RUNTIME_CLIENT_PROCESS_COMPAT_H
#define RUNTIME_CLIENT_PROCESS_COMPAT_H

#include <features.h>

#if defined(__GLIBC__) && defined(__x86_64__) && defined(SCRIBE_PRELOAD)
__asm__(".symver dlsym, dlsym@GLIBC_2.2.5");
__asm__(".symver dlopen, dlopen@GLIBC_2.2.5");
__asm__(".symver dlclose, dlclose@GLIBC_2.2.5");
__asm__(".symver dlerror, dlerror@GLIBC_2.2.5");
__asm__(".symver dladdr, dladdr@GLIBC_2.2.5");
#endif

#endif
