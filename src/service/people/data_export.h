/*
 * data_export.h - all that is kept about one person, for that person.
 */
#ifndef PAPERBOY_SERVICE_PEOPLE_DATA_EXPORT_H
#define PAPERBOY_SERVICE_PEOPLE_DATA_EXPORT_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/core/store.h"

/**
 * Write it down: the person, consent, choices, filters, digests, papers that were
 * had, the audit, mail and what was answered to it, tickets, letters that wait,
 * refusals, and whether the address is suppressed.  Times are UTC.
 *
 * @param key      the secret of the state folder
 * @param is_text  for a reader; else JSON (RFC 8259) for a program
 * @return UTF-8 that ends with a line end; NULL with PB_ERROR_NOT_FOUND
 */
char *data_export_format(struct store *store, GBytes *key, int64_t subscriber_id,
    bool is_text, int64_t now, GError **error);

#endif
