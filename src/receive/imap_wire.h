/*
 * imap_wire.h - an IMAP connection as libetpan may see it: bounded in bytes and in
 * time.
 *
 * Between stream and libetpan: whole lines are judged (imap_line.h) and handed over one
 * by one, so that libetpan never holds a byte of the next one; how many messages there
 * are is counted on the way.  The first thing wrong closes the wire for good.
 */
#ifndef PAPERBOY_RECEIVE_IMAP_WIRE_H
#define PAPERBOY_RECEIVE_IMAP_WIRE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include <libetpan/mailstream_types.h>

#include "base/cleanup.h"
#include "net/stream.h"
#include "receive/imap_line.h"

struct imap_wire;

/** @param stream  taken */
struct imap_wire *imap_wire_new(struct stream *stream);
void imap_wire_free(struct imap_wire *wire);
PB_DEFINE_AUTO(imap_wire, imap_wire_free);

/**
 * Make what libetpan reads from and writes to.  It does not close the wire, which has
 * to live longer.
 */
mailstream_low *imap_wire_new_plain(struct imap_wire *wire);

/**
 * Begin a command: all of its answer has to be there within wait_ms, and to be
 * at most BOUNDS_IMAP_ANSWER_BYTES.
 *
 * @param may_have_letter  whether one literal may come
 */
void imap_wire_begin(struct imap_wire *wire, unsigned wait_ms, bool may_have_message);

/** Nothing is read or written any more. */
void imap_wire_close(struct imap_wire *wire);

/** Why the wire has closed; NULL when it has not, or was told to. @return borrowed */
const GError *imap_wire_get_problem(const struct imap_wire *wire);

/** Messages in the selected folder, as far as the server has told. */
uint32_t imap_wire_get_exists(const struct imap_wire *wire);

/** Whether messages were added since it was last asked. */
bool imap_wire_take_untagged(struct imap_wire *wire);

/* Without libetpan, for IDLE. */

/** Write a text. @return false with PB_ERROR_TEMPORARY */
bool imap_wire_write(struct imap_wire *wire, const char *text, GError **error);

/**
 * Read a line and what it tells; the wire closes on an error, but not when time is up.
 *
 * @param deadline     of this line, as those of stream.h; the command's counts too
 * @param is_time_up   set when false: the deadline passed with no line begun
 * @return false with PB_ERROR_TEMPORARY
 */
bool imap_wire_read_line(struct imap_wire *wire, int64_t deadline,
    struct imap_line *line, bool *is_time_up, GError **error);

#endif
