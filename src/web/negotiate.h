/*
 * negotiate.h - what the fields of a request ask for: language, cached tag, origin.
 */
#pragma once

#include <glib.h>
#include <stdbool.h>

/**
 * Choose a language (RFC 9110 section 12.5.4).  Only the primary subtag is compared.
 *
 * @param accept  value of Accept-Language, or NULL
 * @param has     whether there are pages in a language
 * @return the acceptable one with the highest weight, the first of equals; "" if there
 *         is none; owned by the caller
 */
char *negotiate_language(const char *accept,
    bool (*has)(const void *data, const char *code), const void *data);

/**
 * Read the first entity tag of If-None-Match.
 *
 * @return without quotes and W/; "" if there is none of ours; owned by the caller
 */
char *negotiate_tag(const char *if_none_match);

/** The origin (RFC 6454) of a URL: its scheme and host. @return owned by the caller */
char *negotiate_get_origin(const char *url);

/**
 * Check that a form was posted by a page of ours, as far as the browser says so.
 *
 * Our referrer policy makes Origin "null" in our own posts, so that value tells
 * nothing.
 *
 * @param own     our origin
 * @param origin  value of Origin, or NULL
 * @param site    value of Sec-Fetch-Site, or NULL
 */
bool negotiate_is_same_origin(const char *own, const char *origin, const char *site);
