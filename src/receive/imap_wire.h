/*
 * imap_wire.h - an IMAP connection for libetpan, limited in size and time.
 *
 * Sits between the stream and libetpan: checks whole lines (imap_line.h) and passes
 * them on one by one, so that libetpan never buffers part of the next one; counts the
 * messages in the folder. The first error closes the wire for good.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include <libetpan/mailstream_types.h>

#include "base/cleanup.h"
#include "net/stream.h"
#include "receive/imap_line.h"

struct imap_wire;

/** @param stream  takes it */
struct imap_wire *imap_wire_new(struct stream *stream);
void imap_wire_free(struct imap_wire *wire);
PB_DEFINE_AUTO(imap_wire, imap_wire_free);

/** Create libetpan's end. It does not close the wire, which must outlive it. */
mailstream_low *imap_wire_new_plain(struct imap_wire *wire);

/**
 * Start a command: its complete response must arrive within wait_ms and be at most
 * BOUNDS_IMAP_ANSWER_BYTES, not counting the literal.
 *
 * @param may_have_message  whether one literal is allowed
 */
void imap_wire_begin(struct imap_wire *wire, unsigned wait_ms, bool may_have_message);

/** Stop all reading and writing. */
void imap_wire_close(struct imap_wire *wire);

/**
 * The error that closed the wire; NULL if open, or closed by imap_wire_close().
 * Borrowed.
 */
const GError *imap_wire_get_problem(const struct imap_wire *wire);

/** Number of messages in the selected folder (EXISTS, EXPUNGE). */
uint32_t imap_wire_get_exists(const struct imap_wire *wire);

/** Whether messages were added, or removed by others, since the last call. */
bool imap_wire_take_untagged(struct imap_wire *wire);

/** Count removed messages as our own, or again as those of others. */
void imap_wire_set_removing(struct imap_wire *wire, bool is_removing);

/* For IDLE, without libetpan. */

bool imap_wire_write(struct imap_wire *wire, const char *text, GError **error);

/**
 * Read and parse a line; an error closes the wire, but not a timeout.
 *
 * @param deadline    for this line, as in stream.h; the command's applies too
 * @param is_time_up  set on failure: the deadline passed before a line began
 * @return false with PB_ERROR_TEMPORARY
 */
bool imap_wire_read_line(struct imap_wire *wire, int64_t deadline,
    struct imap_line *line, bool *is_time_up, GError **error);
