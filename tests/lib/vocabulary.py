#!/usr/bin/env python3
"""vocabulary.py - check names and comments against the vocabulary of the project.

Identifiers use standard terms of mail, search and systems programming.  The tables
below list the terms that were replaced, each with the term to use instead.
check_tree(top) returns the findings as {directory: [text]}.
"""

import io
import keyword
import os
import re
import sys
import tokenize

import layers

DIRECTORIES = ("src", "tests", "bench", "fuzz", "man", "etc")

# Words that no identifier contains, with the term to use.
WORDS = {
    "announcement": "listing",
    "arrange": "order",
    "assembly": "factory",
    "bed": "daemon_fixture",
    "begun": "started",
    "bulletin": "feed",
    "cadence": "frequency",
    "crowd": "batch",
    "desk": "command_fixture",
    "dialogue": "transaction",
    "dispatch": "system_mail",
    "door": "autoreply_policy",
    "dossier": "data_export",
    "draw": "random",
    "drawn": "random",
    "edition": "digest",
    "editions": "digests",
    "facts": "doc_values",
    "farewell": "pending_erasure",
    "filing": "filter_index",
    "folder": "directory",
    "folders": "directories",
    "front": "handler",
    "guest": "requester",
    "guests": "requesters",
    "house": "own_addresses",
    "hurry": "shutdown",
    "inert": "sanitize",
    "inlet": "receiver",
    "inlets": "receivers",
    "intake": "inbox_process",
    "judge": "classify",
    "judged": "classified",
    "judgement": "verdict",
    "kept": "stored",
    "lab": "store_fixture",
    "letter": "inmail",
    "letters": "inmails",
    "masthead": "sender",
    "meant": "suggestion",
    "memo": "source_backoff",
    "mend": "repair",
    "mended": "repaired",
    "moment": "now",
    "moments": "times",
    "octet": "byte",
    "octets": "bytes",
    "office": "inbound_fixture",
    "outlet": "transport",
    "parcel": "delivery_job",
    "phrasebook": "catalog",
    "poke": "wake",
    "post": "mailer",
    "press": "scheduler",
    "proof": "mail_token",
    "pulse": "heartbeat",
    "pulses": "heartbeats",
    "rehearsal": "dry_run",
    "rhythm": "schedule",
    "rhythms": "schedules",
    "road": "tls_mode",
    "roads": "receivers",
    "roster": "subscriber_csv",
    "selfcheck": "mail_check",
    "selfmail": "probe_mail",
    "shelf": "paper_cache",
    "showing": "match_page",
    "silence": "coverage",
    "silences": "coverages",
    "spoken": "natural_time",
    "standing": "status_line",
    "stranger": "unknown_sender",
    "strangers": "unknown_senders",
    "survey": "source_status",
    "sweep": "poll_once",
    "tell": "report",
    "teller": "source",
    "tellers": "sources",
    "tells": "reports",
    "ticket": "confirmation",
    "tickets": "confirmations",
    "told": "reported",
    "trunk": "shared_prefix",
    "twin": "duplicate",
    "twins": "duplicates",
    "upkeep": "maintenance",
    "visit": "foreach",
    "visitor": "callback",
    "voice": "locale",
    "voices": "locales",
    "weigh": "check",
    "wish": "option",
    "wishes": "options",
}

# Patterns of whole identifiers that were replaced, with the term to use.
NAMES = {
    r"(?:\w+_)?look(?:ed_at|_s)?": "run, last_run_at",
    r"past": "history, previous",
    r"allowance\w*": "rate_log",
    r"mailbox__\w+": "receive__*",
    # base
    r"nearest_\w+": "edit_distance_*",
    r"fingerprint_of": "fnv1a_hash",
    r"token_maker\w*": "token_signer*",
    r"token_hash_text": "token_hash_string",
    r"tex_find_mark": "tex_find_accent",
    r"text_is_dropped": "text_is_stripped_char",
    r"file_fail": "file_set_error",
    # model
    r"identity_\w+": "paper_id_*",
    r"(?:paper_)?appearance": "paper_listing",
    r"paper_find_wanted_day": "paper_find_matching_day",
    r"digest_shown": "digest_detail",
    r"preference_quiet": "preference_empty",
    r"subscriber_get_since": "subscriber_get_joined",
    # config
    r"lines_(?:locate|origin)": "source_map_*",
    r"numbers_find_large": "check_int_overflow",
    r"plain_load": "text_file_load",
    r"setting_note": "setting_origin",
    r"settings_is_(?:untouched|wrong)": "settings_is_default, settings_has_error",
    # query
    r"bulk_\w+": "batch_eval_*",
    r"candidates_lexicon": "term_frequencies",
    r"passage(?:_\w+)?": "text_field",
    r"document_plain": "indexed_doc_*",
    r"advice_\w+": "lint_*",
    r"query_problem\w*": "query_error",
    r"short_form\w*": "acronym",
    r"plural_fold": "stem_plural",
    r"near_is_\w+": "proximity_is_*",
    r"query_settlement": "query_finality",
    r"query_document_settle": "query_document_finalize",
    r"query_truth": "query_verdict",
    r"query_is_changing": "query_is_time_dependent",
    r"field_wait": "field_availability",
    r"parser_begins_operand": "parser_at_operand",
    r"refuse_missing": "error_missing",
    r"read_small": "read_int",
    r"terms_(?:choose|rarity)": "terms_select_required, document_frequency",
    r"phrase_measure_signs": "phrase_count_wildcards",
    # store
    r"people_\w+": "subscribers_*",
    r"waiting_(?:hold|list|release|count\w*)": "outbox_hold, outbox_release",
    r"outbox_(?:end|choice|recover)": "outbox_status, outbox_filter, outbox_mark_in_doubt",
    r"(?:\w+_)?pull_in": "retry_now",
    r"(?:\w+_)?put_off": "postpone",
    r"(?:\w+_)?let_go": "remove",
    r"(?:\w+_)?take_back": "requeue",
    r"(?:\w+_)?is_wanted": "is_due, matches",
    r"archive_(?:learn|form)": "archive_index, archive_acronym",
    r"paper_(?:names|news)\w*": "paper_aliases, paper_diff",
    r"store_(?:let_others|load_version)": "store_yield, get_data_version",
    r"sql_(?:start|change|run)": "sql_bind, sql_exec_count, sql_exec",
    r"backup_(?:fold|past|asked|made|hold_next|forget_key)": "see src/store/core/backup.h",
    r"match_(?:found|waiting)": "match, match_pending",
    # net, sources
    r"http_wait\w*": "http_retry_after",
    r"stream_(?:fault|failure)": "stream_error_kind, stream_error",
    r"newsfeed\w*": "feed",
    r"days_due": "fetch_days_due",
    r"source_fetch_now": "source_poll",
    r"take_unchanged": "set_not_modified",
    # message, parser
    r"message_(?:run|fixed|fields|file)": "compose_*",
    r"extension_(?:base|form|fill)": "subaddress_*",
    r"command_lines\w*": "command_text",
    r"encoding_count_foreign": "encoding_count_non_ascii",
    r"append_value": "append_folded",
    r"quote_(?:cut|words)": "quote_strip, quote_patterns",
    # receive
    r"imap_(?:round|mark|mark_keeper)": "imap_poll, imap_cursor, imap_cursor_store",
    r"imap_session_give_up_keywords": "disable_keywords",
    r"take_news|new_low": "take_untagged, new_plain",
    r"mailbox_(?:rise|rest|serve)": "receiver_wake, receiver_pause, receiver_run",
    # transport
    r"meaning_(?:find|find_silence)": "classify_reply, classify_timeout",
    r"pace_\w+": "token_bucket_*",
    r"transport_(?:feed|class)": "job_queue, transport_ops",
    r"backoff_case": "backoff_policy",
    # render
    r"frame_\w+": "page_*",
    r"piece_\w+": "chunk_*",
    r"fragment_\w+": "entry_block_*",
    r"list_runs": "list_spans",
    r"phrases_\w+": "catalog_*",
    r"words_say": "locale_format_*",
    r"render(?:er_get)?_key": "cache_key",
    # service, daemon
    r"limits_(?:case|forgive)": "rate_case, rate_limit_refund",
    r"match_get_(?:settlement|due)": "match_get_finality, match_get_recheck_time",
    r"hints_\w+": "query_stats_*",
    r"why_(?:decide|inquiry|truth_name)": "why_rules, why_context, verdict_name",
    r"hand_out|try_now": "start_due, reset_breakers",
    r"senders_\w+": "connection_pool_*",
    r"domains_\w+": "domain_throttle_*",
    r"handle_nothing|load_waited": "noop_handler, load_oldest_age",
    r"recovery_\w+": "backup_service_*",
    r"forget_\w+": "erase_*",
    r"profile_wake": "profile_end_pause",
    r"answer_(?:say|echo|gap)": "reply_text_add*",
    r"command_(?:trust|purpose|close|person)": "command_auth, _mode, _finish, _account",
    r"run_pending": "run_confirmed",
    r"daemon_word\w*|control_word": "control_command",
    r"snapshot_(?:offer|put_back)": "config_snapshot_publish, _reject",
}

# Names of settings, events and commands that were replaced; looked for in all text.
TEXTS = re.compile(
    r"\b(?:limits\.(?:stranger_day|answers_day|help_day|owner_day|confirm_again_h"
    r"|confirmations_(?:hour|month|domain_hour))|mailbox\.(?:disk_floor_mb|reader"
    r"|imap_\w+|lmtp_\w+|maildir|recipient_header)|smtp\.stop_wait_s"
    r"|delivery\.give_up_h|arxiv\.gap_s|paperboyctl (?:letter|ticket)|paperboy-letter"
    r"|thread-hangs|config-wrong|config-in-force|source-well|relay-(?:well|fails|login)"
    r"|mailbox-(?:fails|well)|press-failed|post-(?:done|failed)|editions-made"
    r"|archive-mended|backup-unnoted|zone-gone|owner-alerted|outbox-dropped"
    r"|letter-(?:failed|handled|quarantined|refused|silent|stored)|upkeep-done"
    r"|intake-(?:done|failed))\b"
)

# Identifiers that contain such a word and stay, each with the reason.
ALLOWED = {
    r"G_SUBPROCESS_FLAGS_STD(?:OUT|ERR)_SILENCE": "GLib",
    r"CURLOPT_POST\w*|do_POST|HTTP_POST|(?:is|on|parse)_post": "HTTP POST",
    r"has_ticket_number": "help desks number tickets",
    r"ascii_letters|\w*_three_letters_\w*": "letters of the alphabet",
    r"octet_length": "PostgreSQL",
    r"mailimap_\w+|MAILIMAP_\w+": "libetpan",
    r"\w*imap_\w*folder\w*": "IMAP mailboxes are folders",
    r"cadence": "an option of paperboyctl and a column of the CSV file",
}
ALLOWED_NAME = re.compile("|".join(ALLOWED))
# Files about IMAP, where a folder is a term of the protocol.
IMAP_FILE = re.compile(r"imap|receive|peers")

OPENING = re.compile(r"(?:What|Who|Whoever|Those|That of|So many)\b")
C_NAME = re.compile(r"[A-Za-z_]\w*")
NAME_PATTERN = re.compile("|".join(f"(?P<n{number}>{pattern})"
                                   for number, pattern in enumerate(NAMES)))
PART = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def problem_of(name, path):
    """The term that a name should use instead, or None."""
    if ALLOWED_NAME.fullmatch(name):
        return None
    for part in PART.findall(name):
        word = part.lower()
        if word in WORDS:
            if not (word.startswith("folder") and IMAP_FILE.search(path)):
                return WORDS[word]
    match = NAME_PATTERN.fullmatch(name.lower())
    if match:
        return list(NAMES.values())[int(match.lastgroup[1:])]
    return None


def c_words(text):
    """(names, comments) of a C file, each with its line."""
    comments = []

    def keep(match):
        if match["block"] or match["line"]:
            comments.append((layers.line_of(text, match.start()), match[0]))
        return layers.blanked(match[0])

    shielded = layers.INCLUDE.sub(lambda match: layers.blanked(match[0]), text)
    code = layers.PIECE.sub(keep, shielded)
    names = [(layers.line_of(code, match.start()), match[0])
             for match in C_NAME.finditer(code)]
    return names, comments


def python_words(text):
    """(names, comments) of a Python file, each with its line; docstrings count."""
    names, comments = [], []
    last = None
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        line = token.start[0]
        if token.type == tokenize.NAME and not keyword.iskeyword(token.string):
            names.append((line, token.string))
        elif token.type == tokenize.COMMENT:
            if not (comments and last == line - 1):
                comments.append((line, token.string))
            last = line
        elif token.type == tokenize.STRING and token.string.startswith('"""'):
            comments.append((line, token.string))
    return names, comments


def plain_words(text):
    """Nothing: of other text only TEXTS are looked for."""
    return [], []


def sql_words(text):
    """(names, comments) of an SQL file, each with its line."""
    comments = [(layers.line_of(text, match.start()), match[0])
                for match in re.finditer(r"--[^\n]*", text)]
    code = re.sub(r"--[^\n]*|'[^']*'", lambda match: layers.blanked(match[0]), text)
    names = [(layers.line_of(code, match.start()), match[0])
             for match in C_NAME.finditer(code)]
    return names, comments


READERS = {".c": c_words, ".h": c_words, ".py": python_words, ".sql": sql_words,
           ".in": plain_words, ".conf": plain_words}


def check_text(path, text):
    """Findings of one file: (line, text); a name is reported where it is first used."""
    names, comments = READERS[os.path.splitext(path)[1]](text)
    found, seen = [], set()
    for line, name in names:
        if name not in seen:
            seen.add(name)
            better = problem_of(name, path)
            if better:
                found.append((line, f"'{name}': use the term '{better}'"))
    for line, comment in comments:
        opening = OPENING.match(re.sub(r"^[/*#\"\s-]+", "", comment))
        if opening:
            found.append((line, f"the comment begins with '{opening[0]}'"))
    for match in TEXTS.finditer("" if path.endswith(("vocabulary.py", "test_layers.py")) else text):
        found.append((layers.line_of(text, match.start()), f"'{match[0]}' was renamed"))
    return sorted(found)


def code_files(top):
    """All C, Python and SQL files of the directories, relative to top."""
    found = []
    for start in DIRECTORIES:
        for directory, below, names in os.walk(os.path.join(top, start)):
            below[:] = sorted(name for name in below if not name.startswith("."))
            for name in sorted(names):
                if os.path.splitext(name)[1] in READERS:
                    path = os.path.join(directory, name)
                    found.append(os.path.relpath(path, top))
    return found


def check_tree(top):
    """Findings below top: {directory: ["path:line: text"]}."""
    findings = {}
    for path in code_files(top):
        with open(os.path.join(top, path), encoding="utf-8") as file:
            text = file.read()
        for line, problem in check_text(path, text):
            findings.setdefault(os.path.dirname(path), []).append(
                f"{path}:{line}: {problem}")
    return findings


def main(argv):
    findings = check_tree(argv[1] if len(argv) > 1 else ".")
    for directory in sorted(findings):
        print("\n".join(findings[directory]))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
