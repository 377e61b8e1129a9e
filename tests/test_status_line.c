/*
 * test_status_line.c - the STATUS= line that systemctl status shows.
 */
#include "daemon/status_line.h"

#include "lib/store_fixture.h"
#include "lib/unit.h"

TEST(shows_activity_relay_next_digest_and_queue)
{
	int64_t now = store_fixture_time("2026-11-21T07:00:00Z");
	const struct {
		struct status_line status_line;
		const char *line;
	} rows[] = {
	    {{.next_digest_at = -1}, "idle"},
	    {{.activity = "sending", .next_digest_at = -1, .waiting = 1},
	        "sending; 1 message queued"},
	    {{.next_digest_at = now + 86400 + 1800, .waiting = 12},
	        "idle; next digest 2026-11-22 07:30 UTC; 12 messages queued"},
	    {{.next_digest_at = -1,
	         .relay = {.is_away = true, .since = now, .retry_at = now + 60}},
	        "idle; relay unavailable since 2026-11-21 07:00 UTC, next attempt "
	        "2026-11-21 07:01 UTC"},
	    {{.next_digest_at = -1,
	         .relay = {.is_away = true,
	             .is_auth_failed = true,
	             .since = now,
	             .retry_at = now + 1800}},
	        "idle; relay rejects our login since 2026-11-21 07:00 UTC, next "
	        "attempt "
	        "2026-11-21 07:30 UTC"},
	    {{.next_digest_at = -1,
	         .relay = {.paused = 2, .domain = (char *)"a.example"}},
	        "idle; a.example and others reject our mail by policy"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *line = status_line_format(&rows[i].status_line);

		g_assert_cmpstr(line, ==, rows[i].line);
	}
}

UNIT_MAIN
