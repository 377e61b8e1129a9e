/*
 * web_url.h - check of web.url, for all programs that read it.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

/**
 * Check that a URL can be the base of links, to which "/u/TOKEN" is appended: scheme,
 * host and port, with TLS except on the same machine.
 *
 * @return false with PB_ERROR_INPUT if it cannot
 */
bool web_url_check(const char *url, GError **error);
