/*
 * visible.h - functions that a module of configure --with-postgresql=module calls, and
 * its own.  src/store/Makefile.inc lists the former.
 */
#ifndef PAPERBOY_BASE_VISIBLE_H
#define PAPERBOY_BASE_VISIBLE_H

#define PB_EXPORT __attribute__((visibility("default")))

#endif
