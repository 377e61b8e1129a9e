/*
 * visible.h - functions that a module of configure --with-postgresql=module calls, and
 * its own.  src/store/Makefile.inc lists the former.
 */
#pragma once

#define PB_EXPORT __attribute__((visibility("default")))
