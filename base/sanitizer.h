/*
 * sanitizer - was this compiled for AddressSanitizer or ThreadSanitizer?
 *
 * Purpose: they reserve address space by the terabyte, slow everything down and stop threads from a
 * process of their own, so a few limits cannot hold in such a build. A product never is one.
 *
 * Threads: none. Memory: none.
 */
#ifndef STALLSYM_BASE_SANITIZER_H
#define STALLSYM_BASE_SANITIZER_H

#ifdef __has_feature /* clang */
#if __has_feature(address_sanitizer)
#define SANITIZER_ADDRESS 1
#elif __has_feature(thread_sanitizer)
#define SANITIZER_THREAD 1
#endif
#endif

#ifdef __SANITIZE_ADDRESS__ /* gcc */
#define SANITIZER_ADDRESS 1
#elif defined(__SANITIZE_THREAD__)
#define SANITIZER_THREAD 1
#endif

#ifndef SANITIZER_ADDRESS
#define SANITIZER_ADDRESS 0
#endif
#ifndef SANITIZER_THREAD
#define SANITIZER_THREAD 0
#endif
#define SANITIZED (SANITIZER_ADDRESS || SANITIZER_THREAD)

#endif
