/*
 * msg.h - translatable messages: an English text and its arguments.
 *
 * The log and the command line use the English text; a reply formats the message in the
 * language of its recipient, regardless of the layer that created it.
 */
#pragma once

#include <glib.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/po.h"

/* Immutable and reference-counted. */
struct msg {
	const char *source; /* N_(), NC_() or PL_(); static */
	int64_t count;      /* selects the form of a PL_(); -1 for others */
	char **args;        /* name, value, ...; NULL-terminated */
	char *text;         /* English */
};

/**
 * @param source  a static string: N_() or NC_(), with {name} for an argument
 * @param ...     names and values, both strings, NULL-terminated
 */
struct msg *msg_new(const char *source, ...) G_GNUC_NULL_TERMINATED;
struct msg *msg_new_valist(const char *source, va_list args);
/** Make a message of a PL_(), which has the argument {count}, too. */
struct msg *
msg_new_count(const char *source, int64_t count, ...) G_GNUC_NULL_TERMINATED;
struct msg *msg_ref(struct msg *msg);
void msg_unref(struct msg *msg);
PB_DEFINE_AUTO(msg, msg_unref);

/** Format a message. @param po  of the language; NULL: English @return a new string */
char *msg_format(const struct msg *msg, const struct po *po);

/**
 * Replace each {name} by its value.  Unknown names are left unchanged; values are not
 * expanded.
 *
 * @param args  name, value, ...; NULL-terminated
 * @return a new string
 */
char *msg_fill(const char *text, const char *const *args);

/** Get an argument. @return borrowed; NULL if there is none of the name */
const char *msg_get_arg(const struct msg *msg, const char *name);

#define MSG_INT_BYTES 24

/** Format a number as an argument, in a buffer with the scope of the caller's block. */
#define MSG_INT(number) msg_write_int((char[MSG_INT_BYTES]){0}, number)
const char *msg_write_int(char buffer[MSG_INT_BYTES], int64_t number);
