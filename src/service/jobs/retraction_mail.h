/*
 * retraction_mail.h - a mail about the retraction of a watched paper, at once, to those
 * who asked for one (set retractions mail).
 *
 * Each retraction comes once: in such a mail, or in a digest.
 */
#pragma once

#include "service/jobs/checkup.h"

/**
 * Send the mails; each is one commit.
 *
 * @param job  as for the monthly reports
 */
bool retraction_mail_run(const struct checkup *job, GError **error);
