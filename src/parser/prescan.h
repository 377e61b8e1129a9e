/*
 * prescan.h - structural limits, checked before the MIME parser runs.
 *
 * libetpan recurses: deep nesting can crash it or keep it busy for minutes. The scan is
 * a single pass without recursion or allocation. Anything that libetpan might treat as
 * structure is counted, even where RFC 2046 does not, so that no other interpretation
 * exceeds the limits.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

/**
 * Convert line ends to LF: from CR LF, CR CR LF (made by gateways) and, in bodies, CR.
 * A first line "From " is removed.
 *
 * A bare CR in the header is refused: it would start a field that the mail server,
 * which removes forged fields, did not see.
 *
 * @param size_out  set on success only
 * @return NUL-terminated, owned by the caller; NULL with PB_ERROR_LIMIT naming the
 *         limit
 */
char *prescan_normalize(const char *raw, size_t size, size_t *size_out, GError **error);

/**
 * Check a normalized message against the limits of base/bounds.h.
 *
 * @return false with PB_ERROR_LIMIT naming the limit
 */
bool prescan_check(const char *text, size_t size, GError **error);
