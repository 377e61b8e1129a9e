/*
 * msg.h - translatable messages: an id and its arguments.
 *
 * The English texts are in msg_table.h; the log and the command line use them.
 * A catalog (render/catalog.h) maps the names of the ids to texts of other languages,
 * so that a reply is in the language of its recipient, regardless of the layer that
 * created the message.
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
	char **args; /* name, value, ...; NULL-terminated */
	char *text;  /* English */
};

/** @param ...  names and values, both strings, NULL-terminated */
struct msg *msg_new(enum msg_id id, ...) G_GNUC_NULL_TERMINATED;
struct msg *msg_new_valist(enum msg_id id, va_list args);
struct msg *msg_ref(struct msg *msg);
void msg_unref(struct msg *msg);
PB_DEFINE_AUTO(msg, msg_unref);

/**
 * Format a message.
 *
 * @param texts  texts of a language, indexed by enum msg_id; NULL for English
 * @return a new string
 */
char *msg_format(const struct msg *msg, const char *const *texts);

const char *msg_get_english(enum msg_id id);

/** Format the catalog key of an id: "msg.zone_unknown". @return a new string */
char *msg_format_name(enum msg_id id);

/**
 * Replace each {name} by its value.  Unknown names are left unchanged; values are not
 * expanded.
 *
 * @param args  name, value, ...; NULL-terminated
 * @return a new string
 */
char *msg_fill(const char *text, const char *const *args);

#define MSG_INT_BYTES 24

/** Format a number as an argument, in a buffer with the scope of the caller's block. */
#define MSG_INT(number) msg_write_int((char[MSG_INT_BYTES]){0}, number)
const char *msg_write_int(char buffer[MSG_INT_BYTES], int64_t number);

#endif
