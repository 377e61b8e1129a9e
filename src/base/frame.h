/*
 * frame.h - frames on a socket: a length of 4 bytes, little endian, and the data.
 *
 * Deadlines are values of g_get_monotonic_time(), us.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

/**
 * Receive a frame.
 *
 * @param maximum  of the data, bytes
 * @return the data; NULL with errno: EMSGSIZE for a length of 0 or above the maximum,
 *         ETIMEDOUT at the deadline, ECONNRESET if the peer has closed
 */
GBytes *frame_receive(int fd, gsize maximum, gint64 deadline_us);

/** Send a frame. @param frame  with its length @return false with errno */
bool frame_send(int fd, GBytes *frame, gint64 deadline_us);
