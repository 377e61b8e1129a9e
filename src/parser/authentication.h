/*
 * authentication.h - parse Authentication-Results fields (RFC 8601).
 *
 * Whether to trust them is decided elsewhere (service/inbound/autoreply_policy.h).
 */
#pragma once

#include <glib.h>

/**
 * Append one field as records: its raw value, authserv-id and results.
 *
 * @param value  one sanitized line
 * @param left   in/out: number of results that may still be appended
 */
void authentication_append(GVariantBuilder *out, const char *value, unsigned *left);
