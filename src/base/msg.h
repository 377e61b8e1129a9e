/*
 * msg.h - what the program says to people: an id and its arguments.
 *
 * The English texts are those of msg_table.h; the log and the command line use them.
 * A catalog (render/catalog.h) has the texts of other languages under the names of the
 * ids, so that a reply is written in the language of its reader, wherever in the
 * program its words come from.
 */
#ifndef PAPERBOY_BASE_MSG_H
#define PAPERBOY_BASE_MSG_H

#include <glib.h>
#include <stdint.h>

#include "base/cleanup.h"

enum msg_id {
	MSG_NONE,
#define MSG(id, text) MSG_##id,
#include "base/msg_table.h"
#undef MSG
	MSG_COUNT
};

/* Immutable and reference-counted. */
struct msg {
	enum msg_id id;
	char **args; /* name, value, ...; NULL at the end */
	char *text;  /* in English */
};

/** @param ...  names and values, both strings, ended by NULL */
struct msg *msg_new(enum msg_id id, ...) G_GNUC_NULL_TERMINATED;
struct msg *msg_new_valist(enum msg_id id, va_list args);
struct msg *msg_ref(struct msg *msg);
void msg_unref(struct msg *msg);
PB_DEFINE_AUTO(msg, msg_unref);

/**
 * Format a message.
 *
 * @param texts  of a language, by enum msg_id; NULL is English
 * @return a new string
 */
char *msg_format(const struct msg *msg, const char *const *texts);

/** Get one of the English texts. */
const char *msg_get_english(enum msg_id id);

/** Format the name of an id in a catalog: "msg.zone_unknown". @return a new string */
char *msg_format_name(enum msg_id id);

/**
 * Replace each {name} by its value.  One without a value stays; values are not
 * searched.
 *
 * @param args  name, value, ...; NULL at the end
 * @return a new string
 */
char *msg_fill(const char *text, const char *const *args);

#define MSG_INT_BYTES 24

/** A number as an argument, in the memory of the caller's block. */
#define MSG_INT(number) msg_write_int((char[MSG_INT_BYTES]){0}, number)
const char *msg_write_int(char buffer[MSG_INT_BYTES], int64_t number);

#endif
