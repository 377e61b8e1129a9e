/*
 * web_sample.h - sample replies of paperboyd for the web pages.
 */
#pragma once

#include "message/web_proto.h"

/* Owned. */
struct web_sample {
	/* "home-tried"; "largest-..." has as many and as long items as can be */
	char *name;
	char *path;
	enum web_page page;
	enum web_status status;
	char *values; /* in the text format of GVariant */
};

/** Load tests/lib/web_samples.ini. @return of struct web_sample * */
GPtrArray *web_sample_load(void);

/** @return owned by the caller */
struct web_reply *
web_sample_new_reply(const struct web_sample *sample, const char *language);
