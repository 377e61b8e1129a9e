/*
 * consent.h - what an answer to a confirmation says: yes, no, or nothing of it.
 */
#ifndef PAPERBOY_SERVICE_CONSENT_H
#define PAPERBOY_SERVICE_CONSENT_H

#include "model/letter.h"

enum consent {
	CONSENT_YES,       /* clearly */
	CONSENT_NO,        /* clearly */
	CONSENT_AUTOMATIC, /* nobody has read it: an absence, by its subject */
	CONSENT_ANY,       /* somebody wrote something else */
};

/**
 * Judge an answer by its first words, and by its subject.
 *
 * A no is looked for first: who says both has not agreed.
 *
 * @param token  what a line `confirm TOKEN` has to name
 */
enum consent consent_judge(const struct letter *letter, const char *token);

#endif
