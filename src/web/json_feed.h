/*
 * json_feed.h - a feed as JSON Feed 1.1 (https://www.jsonfeed.org/version/1.1/).
 */
#ifndef PAPERBOY_WEB_JSON_FEED_H
#define PAPERBOY_WEB_JSON_FEED_H

#include "render/view.h"

/** @param view  the values of WEB_PAGE_FEED, base, path, lang @return owned by the
 * caller */
char *json_feed_format(const struct view *view);

#endif
