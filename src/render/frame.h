/*
 * frame.h - what stands around the papers in both parts of a digest.
 *
 * The digest's own templates know the reader; they hold two places,
 * `{{{papers}}}` and `{{{titles}}}`, each alone on a line, where the papers'
 * fragments go.  All digests of one date share their frame but for some values: so
 * it is rendered once a date, and brought to the numbers and the first title
 * of a digest once for all who have the same.  What is left is the reader.
 */
#ifndef PAPERBOY_RENDER_FRAME_H
#define PAPERBOY_RENDER_FRAME_H

#include <glib.h>
#include <stdbool.h>

#include "base/auto.h"
#include "render/pattern.h"
#include "render/template.h"
#include "render/words.h"

/* Every name that a digest's view may have; ends with NULL. */
extern const char *const frame_names[];

/* What differs from digest to digest of one date. */
enum frame_value {
	FRAME_RECIPIENT,
	FRAME_STOP_URL,
	FRAME_SUBJECT,
	FRAME_COUNT_NEW,
	FRAME_COUNT_PAPERS,
	FRAME_FIRST_TITLE,
	FRAME_PREHEADER,
	FRAME_REST,
	FRAME_COVERAGE,
	FRAME_VALUES
};

/* Of these a frame has holes; the subject only where it names the reader. */
#define FRAME_OPEN_VALUES (FRAME_SUBJECT + 1)

/* All are borrowed for the frames' life. */
struct frame_settings {
	const struct template *subject;
	const struct template *text;
	const struct template *html;
	const struct words *words;
	const char *list_name;  /* any text */
	const char *owner;      /* an address */
	const char *change_url; /* a mailto link to it */
};

struct frame_part {
	struct pattern *head;   /* before the papers */
	struct pattern *middle; /* between papers and titles */
	struct pattern *tail;   /* behind the titles; empty where they have no place */
};

struct frame {
	struct pattern *subject; /* with a hole for the reader, or NULL: it is known */
	char *known_subject;     /* one line */
	char *subject_field;     /* that as a field of the header */
	struct frame_part text;
	struct frame_part html;
};

/* What a frame is chosen by. */
struct frame_heading {
	const char *date;        /* YYYY-MM-DD */
	const char *first_title; /* any text */
	const char *coverage;    /* any text, or NULL */
	unsigned total;          /* papers */
	unsigned shown;          /* of them */
	bool has_titles;         /* there is a place for titles */
	unsigned titles_start;   /* the number of the first one, or 0 */
	bool is_note;            /* there is nothing new, and the title is empty */
};

struct frames;

/** Allocate frames for one thread; a few hundred are kept. */
struct frames *frames_new(const struct frame_settings *settings);
void frames_free(struct frames *frames);
PB_DEFINE_AUTO(frames, frames_free);

/**
 * Get the frame of a digest.
 *
 * @return borrowed until the next call; NULL with PB_ERROR_INPUT for no date, or where
 *         a place is missing, comes twice, does not stand alone, or titles come
 *         before papers
 */
const struct frame *
frames_get(struct frames *frames, const struct frame_heading *heading, GError **error);

/**
 * Get room for one part of a message, empty.
 *
 * @return borrowed until it is asked for again
 */
struct filling *frames_get_filling(struct frames *frames, bool is_html);

/** Format a subject that names the reader. @return owned by the caller */
char *frame_format_subject(const struct pattern *subject, const char *const *values);

#endif
