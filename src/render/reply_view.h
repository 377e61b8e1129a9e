/*
 * reply_view.h - the view of a reply for the template reply.html.
 */
#pragma once

#include "render/view.h"

/* Names that the template may use. */
extern const char *const reply_names[];

/**
 * Make the view of a text: paragraphs are joined; lines of commands and results stay
 * lines; a line that is only a link becomes a button, quoted lines a quote.
 *
 * @param text  blocks of lines, with blank lines between them
 */
struct view *
reply_view_new(const char *language, const char *subject, const char *text);
