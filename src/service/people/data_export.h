/*
 * data_export.h - all data about a subscriber, on request (GDPR article 15).
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

/**
 * Format everything listed in personal_data.h, and whether the address is suppressed.
 *
 * @param key  keys of the state directory, to find the suppression
 * @param is_text  plain text; else JSON (RFC 8259)
 * @return UTF-8 ending with a newline; NULL with PB_ERROR_NOT_FOUND
 */
char *data_export_format(struct store *store, GBytes *key, int64_t subscriber_id,
    bool is_text, int64_t now, GError **error);
