/*
 * web_policy.h - the Content-Security-Policy of a page.
 */
#ifndef PAPERBOY_WEB_WEB_POLICY_H
#define PAPERBOY_WEB_WEB_POLICY_H

/**
 * Format a policy (CSP Level 3) that allows nothing but forms to this site, images in
 * data: URLs, and the page's own styles, by their hashes.
 *
 * Style attributes need 'unsafe-hashes'; it is left out of pages without any.
 *
 * @param html  double quotes around attributes, & < > " ' of texts escaped
 * @return owned by the caller
 */
char *web_policy_format(const char *html);

#endif
