/*
 * owner_report.h - a weekly mail to the operator: what happened, and what needs a
 * decision.
 */
#pragma once

#include "service/health/alerts.h"

/**
 * Queue the mail if mail.owner_report is set and it is due: on Mondays from 6:00 UTC,
 * first after a whole week.
 */
bool owner_report_run(const struct alerts *alerts, int64_t now, GError **error);
