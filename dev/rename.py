"""rename.py TREE - apply the maps of names to a checkout: files, directories,
identifiers, SQL tables, the layer check.  Then autoreconf, configure, make check.
"""
# FILES: "dir/base" -> "dir/base" (both .c and .h, and private data); relative to src/
FILES = {}
def mv(text, old_dir="", new_dir=""):
    for line in text.strip().splitlines():
        a, b = line.split()
        FILES[a] = b
mv("""
base/nearest base/edit_distance
base/fingerprint base/fnv1a
base/auto base/cleanup
model/letter model/inmail
model/rhythm model/schedule
model/spoken model/natural_time
model/identity model/paper_id
config/lines config/include
config/form config/recover
config/meant config/suggest
config/numbers config/overflow
config/plain config/text_file
config/reading config/settings_parse
query/bulk query/eval/batch_eval
query/evaluate query/eval/evaluate
query/candidates query/eval/fts_query
query/facts query/eval/doc_values
query/document query/eval/indexed_doc
query/hit query/eval/highlight
query/explain query/eval/explain
query/rank query/eval/rank
query/terms query/eval/terms
query/query.c query/parse/query.c
query/date query/parse/date
query/category query/parse/category
query/clause query/parse/clause
query/field query/parse/field
query/format query/parse/format
query/lex query/parse/lex
query/name query/parse/name
query/near query/parse/proximity
query/number query/parse/number
query/parse query/parse/parse
query/parser query/parse/parser
query/phrase query/text/phrase
query/problem query/query_error
query/tree query/parse/tree
query/value query/parse/value
query/advice query/parse/lint
query/passage query/text/text_field
query/short_form query/text/acronym
query/plural query/text/stem
query/tokens query/text/tokens
query/tokenizer query/tokenizer_ops
store/people store/subscriber/subscribers
store/editions store/mail/digests
store/letters store/mail/inbox
store/waiting store/mail/outbox_queue
store/outbox store/mail/outbox
store/outbox_letter store/mail/outbox_mail
store/filing store/paper/filter_index
store/matches store/paper/matches
store/shelf store/paper/paper_cache
store/kept store/subscriber/personal_data
store/erasure store/subscriber/erasure
store/allowance store/mail/rate_log
store/tickets store/subscriber/confirmations
store/suppression store/core/suppression
store/lists store/paper/source_lists
store/history store/paper/paper_history
store/archive store/paper/archive
store/archive_read store/paper/archive_read
store/paper_merge store/paper/paper_dedup
store/paper_names store/paper/paper_aliases
store/paper_news store/paper/paper_diff
store/paper_row store/paper/paper_row
store/papers store/paper/papers
store/papers_save store/paper/papers_save
store/audit store/core/audit
store/backup store/core/backup
store/check store/core/integrity
store/migrate store/core/migrate
store/sql store/core/sql
store/store store/core/store
store/tokenizer store/core/tokenizer
net/http_wait net/http_retry_after
sources/bulletin sources/feed_xml
sources/bulletin_told sources/feed_entry
sources/bulletin_words sources/feed_vocabulary
sources/bulletin_date sources/feed_date
sources/bulletin_charset sources/feed_charset
sources/newsfeed sources/feed
sources/days sources/fetch_days
mail/message message/compose
mail/inert message/sanitize
mail/extension message/subaddress
mail/letter_key message/dedup_key
mail/letter_wire message/parser_proto
mail/letter_parse message/parser_decode
mail/command_lines message/command_text
mail/address message/address
mail/encoding message/encoding
mail/header message/header
letter/people parser/address_fields
letter/fields parser/headers
letter/quote parser/quote_strip
letter/quote_words parser/quote_patterns
letter/reader parser/mime_parser
letter/report parser/dsn
letter/scan parser/prescan
letter/authentication parser/authentication
letter/charset parser/charset
letter/encoded_word parser/encoded_word
letter/flowed parser/flowed
letter/part parser/part
letter/sandbox parser/sandbox
letter/main parser/main
mailbox/mailbox receive/receiver
mailbox/incoming receive/maildir_in
mailbox/imap receive/imap
mailbox/imap_idle receive/imap_idle
mailbox/imap_letters receive/imap_fetch
mailbox/imap_line receive/imap_line
mailbox/imap_private receive/imap_private
mailbox/imap_round receive/imap_poll
mailbox/imap_session receive/imap_session
mailbox/imap_wire receive/imap_wire
mailbox/lmtp receive/lmtp_server
mailbox/lmtp_client receive/lmtp_client
mailbox/lmtp_envelope receive/lmtp_envelope
mailbox/lmtp_listen receive/lmtp_listen
mailbox/lmtp_session receive/lmtp_session
transport/meaning transport/classify
transport/dialogue transport/smtp_transaction
transport/pace transport/token_bucket
transport/lmtp transport/lmtp_client_transport
render/masthead render/sender
render/frame render/page
render/pattern render/compiled_template
render/piece render/chunk
render/fragment render/entry_block
render/fragment_key render/entry_block_key
render/fragment_view render/entry_block_view
render/layout render/assemble
render/phrases render/catalog
render/voice render/locale
render/voices render/locales
render/words render/locale_format
render/render_key render/cache_key
service/event service/log/event
service/log service/log/log
service/pulse service/log/heartbeat
service/lock service/state/lock
service/secret service/state/secret
service/house service/state/own_addresses
service/match service/match/match
service/crowd service/match/match_batch
service/showing service/match/match_page
service/percolator service/match/percolator
service/search service/match/search
service/hints service/match/query_stats
service/collect service/collect/collect
service/enrich service/collect/enrich
service/memo service/collect/source_backoff
service/silence service/collect/coverage
service/survey service/collect/source_status
service/subscribe service/people/subscribe
service/profile service/people/profile
service/filters service/people/filters
service/forget service/people/erase
service/dossier service/people/data_export
service/roster service/people/subscriber_csv
service/roster_read service/people/subscriber_csv_read
service/roster_filters service/people/subscriber_csv_filters
service/import service/people/import
service/export service/people/export
service/edition service/digest/digest_build
service/arrange service/digest/digest_order
service/press service/digest/digest_cache
service/schedule service/digest/clock_repair
service/backtest service/explain/backtest
service/why service/explain/why
service/why_decide service/explain/why_rules
service/why_work service/explain/why_private
service/post service/delivery/mailer
service/post_compose service/delivery/mailer_compose
service/post_record service/delivery/mailer_record
service/post_private service/delivery/mailer_private
service/senders service/delivery/connection_pool
service/domains service/delivery/domain_throttle
service/queue service/delivery/queue
service/proof service/delivery/mail_token
service/dispatch service/delivery/system_mail
service/command service/command/command
service/command_archive service/command/command_papers
service/command_close service/command/command_finish
service/command_filters service/command/command_filters
service/command_help service/command/command_help
service/command_line service/command/command_line
service/command_person service/command/command_account
service/command_reference service/command/command_filter_ref
service/command_reply service/command/command_reply
service/command_setting service/command/command_preference
service/command_settings service/command/command_preferences
service/command_table service/command/command_table
service/command_words service/command/command_tokens
service/command_work service/command/command_private
service/answer service/command/reply_text
service/intake service/inbound/inbox_process
service/reading service/inbound/parser_process
service/quarantine service/inbound/quarantine
service/door service/inbound/autoreply_policy
service/limits service/inbound/rate_limit
service/consent service/inbound/confirm_match
service/front service/inbound/handler
service/front_answer service/inbound/handler_reply
service/front_ticket service/inbound/handler_confirm
service/front_work service/inbound/request
service/selfmail service/inbound/probe_mail
service/assembly service/setup/factory
service/assembly_check service/setup/settings_check
service/startup service/setup/startup
service/imap_road service/setup/imap_setup
service/status service/health/status
service/metrics service/health/metrics
service/alerts service/health/alerts
service/doctor service/health/doctor
service/selfcheck service/health/mail_check
service/upkeep service/health/maintenance
service/recovery service/health/backup_service
daemon/stage daemon/pipeline
daemon/hurry daemon/shutdown
daemon/inlet daemon/receivers
daemon/standing daemon/status_line
daemon/snapshot daemon/config_snapshot
service/confirm_phrases service/inbound/confirm_phrases
service/key_change service/health/key_change
store/key_check store/core/key_check
service/generation service/state/generation
store/skipped store/mail/skipped
store/enumeration store/core/enumeration
store/row_count store/core/row_count
store/carry_over store/subscriber/carry_over
service/clock_watch service/state/clock_watch
service/request_match service/command/request_match
""")
# EXACT: identifier -> identifier (underscored or unique enough for everywhere)
# PREFIX: (old prefix, new prefix) for functions/types/macros; longest first.
EXACT = {}
def ex(t):
    for l in t.strip().splitlines():
        a, b = l.split(); EXACT[a] = b
ex("""
nearest_find edit_distance_find_closest
nearest_measure edit_distance_measure
nearest_measure_slips edit_distance_count_slips
LETTERS_A_SLIP CHARS_PER_SLIP
fingerprint_of fnv1a_hash
token_maker token_signer
token_maker_derive token_signer_derive
token_maker_free token_signer_free
token_maker_new token_signer_new
token_maker_sign token_signer_sign
token_maker_sign_named token_signer_sign_named
token_format_drawn token_format_random
token_hash_drawn token_hash_random
token_hash_text token_hash_string
TOKEN_DRAWN_BYTES TOKEN_RANDOM_BYTES
TOKEN_DRAWN_LENGTH TOKEN_RANDOM_LENGTH
tex_find_mark tex_find_accent
text_is_dropped text_is_stripped_char
file_fail file_set_error
file_sync_folder file_sync_directory
TEX_LETTER TEX_CHARACTER
letter_mailbox inmail_address
letter_mailbox_free inmail_address_free
letter_mailbox_new inmail_address_new
letter_result auth_result
letter_result_free auth_result_free
letter_result_new auth_result_new
letter_authentication auth_results
letter_authentication_free auth_results_free
letter_authentication_new auth_results_new
rhythm_cadence schedule_frequency
rhythm_parse_cadence schedule_parse_frequency
rhythm_cadence_name schedule_frequency_name
announcement listing_type
announcement_name listing_type_name
announcement_parse listing_type_parse
ANNOUNCEMENT_NEW LISTING_NEW
ANNOUNCEMENT_CROSS LISTING_CROSS
ANNOUNCEMENT_REPLACE LISTING_REPLACE
ANNOUNCEMENT_REPLACE_CROSS LISTING_REPLACE_CROSS
paper_teller paper_source_rank
PAPER_TELLER_ARXIV PAPER_SOURCE_RANK_ARXIV
PAPER_TELLER_FEED PAPER_SOURCE_RANK_FEED
PAPER_TELLER_HF PAPER_SOURCE_RANK_HF
appearance paper_listing
paper_add_appearance paper_add_listing
paper_find_wanted_day paper_find_matching_day
digest_look digest_style
digest_shown digest_detail
DIGEST_SHOWN_COUNT DIGEST_DETAIL_COUNT
DIGEST_SHOWN_FULL DIGEST_DETAIL_FULL
DIGEST_SHOWN_TITLE DIGEST_DETAIL_TITLE
preference_quiet preference_empty
PREFERENCE_QUIET PREFERENCE_EMPTY
PREFERENCE_QUIET_NOTE PREFERENCE_EMPTY_NOTE
PREFERENCE_QUIET_OFF PREFERENCE_EMPTY_OFF
subscriber_get_since subscriber_get_joined
lines_locate source_map_find
lines_origin source_map_origin
lines_add_problem source_map_add_problem
lines_find source_map_find_line
lines_free source_map_free
lines_load source_map_load
meant_find suggest_setting
meant_find_group suggest_group
meant_get_own_name suggest_get_own_name
numbers_find_large overflow_find
form_parse recover_parse
plain_load text_file_load
plain_clear text_file_clear
plain_is_same text_file_is_same
setting_note setting_origin
settings_is_untouched settings_is_default
settings_is_wrong settings_has_error
settings_visit settings_foreach
bulk_ask batch_eval_run
bulk_mask bitset
bulk_mask_count bitset_count
bulk_mask_find bitset_find
bulk_mask_is_empty bitset_is_empty
bulk_answer batch_result
bulk_add batch_eval_add
bulk_free batch_eval_free
bulk_new batch_eval_new
BULK_PAPERS BATCH_EVAL_PAPERS
candidates_lexicon term_frequencies
candidates_format fts_query_format
document_plain indexed_doc_word
advice_add lint_query
query_settlement query_finality
query_document_settle query_document_finalize
query_truth query_verdict
query_is_changing query_is_time_dependent
field_wait field_availability
parser_begins_operand parser_at_operand
parser_refuse_missing parser_error_missing
parser_read_small parser_read_int
terms_choose terms_select_required
terms_rarity document_frequency
phrase_measure_signs phrase_count_wildcards
near_is_call proximity_is_call
near_is_join proximity_is_infix
near_parse_call proximity_parse_call
near_parse_chain proximity_parse_chain
plural_fold stem_plural
short_form acronym
short_form_find acronym_find
short_form_free acronym_free
BOUNDS_SHORT_FORM_LETTERS BOUNDS_ACRONYM_CHARS
edition digest_record
edition_item digest_record_item
edition_item_free digest_record_item_free
edition_row digest_row
edition_row_free digest_row_free
edition_parse_reasons digests_parse_reasons
letters_fresh inbox_new
letters_row inbox_row
letters_row_free inbox_row_free
letters_save_begun inbox_mark_started
letters_save_done inbox_mark_done
letters_save_due inbox_retry_at
letters_save_failure inbox_save_failure
letters_save_quarantined inbox_save_quarantined
outbox_add_letter outbox_add_mail
outbox_letter outbox_mail
outbox_load_letter outbox_load_mail
outbox_end outbox_status
outbox_choice outbox_filter
outbox_pull_in outbox_retry_now
outbox_recover outbox_mark_in_doubt
waiting_hold outbox_hold
waiting_hold_slot outbox_hold_slot
waiting_release outbox_release
waiting_load outbox_load_message
waiting_load_digest outbox_load_digest
waiting_load_ids outbox_load_ids
waiting_load_oldest outbox_load_oldest
waiting_message outbox_message
waiting_message_free outbox_message_free
waiting_count_failed outbox_count_failed_since
waiting_count_held outbox_count_held
waiting_save_due outbox_save_due
filing_find filter_index_find
filing_renew filter_index_rebuild
filing_walk filter_index_foreach
filing_save filter_index_save
filing_range filter_index_range
filing_terms filter_index_terms
matches_visitor match_ops
shelf paper_cache
shelf_free paper_cache_free
shelf_get paper_cache_get
shelf_look paper_cache_refresh
shelf_new paper_cache_new
BOUNDS_SHELF_PAPERS BOUNDS_CACHE_PAPERS
kept_kind personal_data_kind
kept_kinds personal_data_kinds
kept_load personal_data_load
KEPT_FIELDS PERSONAL_DATA_FIELDS
erasure_find_farewell erasure_find_pending
erasure_has_farewell erasure_has_pending
erasure_insert_farewell erasure_insert_pending
allowance_kind rate_kind
allowance_person rate_key
allowance_person_clear rate_key_clear
allowance_person_init rate_key_init
tickets_use confirmations_consume
tickets_kill confirmations_revoke
ticket_purpose confirmation_purpose
ticket_purpose_name confirmation_purpose_name
ticket_free confirmation_free
list_free source_list_free
list_past list_baseline
list_day source_list_day
lists_load_past source_lists_load_baseline
archive_learn archive_index
archive_form archive_acronym
archive_form_free archive_acronym_free
archive_load_forms archive_load_acronyms
paper_merge paper_dedup_merge
paper_merge_is_better_id paper_dedup_is_better_id
papers_unite_twins papers_merge_duplicates
paper_names_learn paper_aliases_add
paper_names_move paper_aliases_move
paper_names_note_twins paper_aliases_add_duplicates
paper_names_load_twins paper_aliases_load_duplicates
paper_names_find paper_aliases_find
store_let_others store_yield
store_tell_commits store_set_commit_hook
store_load_version store_get_data_version
sql_start sql_bind
sql_start_values sql_bind_values
sql_change sql_exec_count
sql_change_values sql_exec_count_values
sql_run sql_exec
sql_run_values sql_exec_values
sql_dup_octets sql_dup_bytes
SQL_OCTETS SQL_BYTES
backup_fold backup_vacuum_into
backup_load_past backup_load_restored_from
backup_past backup_restored_from
backup_save_asked backup_save_requested
backup_save_made backup_save_completed
backup_hold_next backup_hold_on_next_start
backup_forget_key backup_delete_key
http_wait_parse_date http_retry_after_parse_date
http_wait_parse_ratelimit http_retry_after_parse_ratelimit
http_wait_parse_retry_after http_retry_after_parse
HTTP_WAIT_UNKNOWN HTTP_RETRY_AFTER_UNKNOWN
stream_fault stream_error_kind
stream_failure stream_error
stream_failure_clear stream_error_clear
opening connecting
days_due fetch_days_due
days_is_valid fetch_days_is_valid
source_fetch_now source_poll
source_answer_take_unchanged source_answer_set_not_modified
message_run compose_span
message_fixed compose_prefix
message_fixed_clear compose_prefix_clear
message_fixed_init compose_prefix_init
message_fields compose_headers
message_field compose_header
message_file compose_attachment
message_part compose_part
message_build compose_message
inert_format_line sanitize_line
inert_is_web_url sanitize_is_web_url
extension_form subaddress_template
extension_form_clear subaddress_template_clear
extension_form_init subaddress_template_init
extension_form_fill subaddress_template_expand
letter_tag proto_tag
letter_record proto_record
letter_record_free proto_record_free
letter_wire_append parser_proto_append
letter_wire_begin parser_proto_begin
letter_wire_read parser_proto_read
letter_parse parser_decode
LETTER_TAGS PROTO_TAGS
encoding_count_foreign encoding_count_non_ascii
header_append_value header_append_folded
fields_find headers_find
fields_is_named headers_is_named
fields_parse headers_parse
fields_parse_groups headers_parse_groups
fields_entry headers_entry
people_append_address address_fields_append_address
people_append_date address_fields_append_date
people_append_ids address_fields_append_ids
people_append_mailboxes address_fields_append_mailboxes
quote_cut quote_strip
reader_append mime_parser_append
reader_free mime_parser_free
reader_new mime_parser_new
reader_run mime_parser_run
report_append dsn_append
report_append_field dsn_append_field
scan_check prescan_check
scan_normalize prescan_normalize
incoming_new maildir_in_new
incoming_probe maildir_in_probe
imap_mark imap_cursor
imap_mark_keeper imap_cursor_store
imap_road imap_disposition
IMAP_ROAD_KEYWORD IMAP_DISPOSITION_KEYWORD
IMAP_ROAD_MARK IMAP_DISPOSITION_CURSOR
IMAP_ROAD_MOVE IMAP_DISPOSITION_MOVE
imap_session_get_road imap_session_get_disposition
imap_session_give_up_keywords imap_session_disable_keywords
imap_wire_take_news imap_wire_take_untagged
imap_wire_new_low imap_wire_new_plain
imap_mailbox_new imap_receiver_new
imap_mailbox imap_receiver
mailbox_sweep receiver_poll_once
mailbox_rise receiver_wake
mailbox_rest receiver_pause
mailbox_serve receiver_run
mailbox_probe receiver_probe
mailbox_free receiver_free
mailbox_sink receiver_sink
mailbox_letter receive_mail
lmtp_session_is_over lmtp_session_is_closed
lmtp_session_get_letters lmtp_session_get_accepted
meaning_find classify_reply
meaning_find_silence classify_timeout
meaning_is_positive classify_is_positive
dialogue smtp_transaction
pace token_bucket
pace_get_allowance token_bucket_get_available
parcel delivery_job
transport_feed job_queue
transport_class transport_ops
backoff_case backoff_policy
masthead sender_identity
draft skeleton
hole placeholder
trunk shared_prefix
trunk_part shared_prefix_part
phrasebook catalog
phrases_format catalog_format
phrases_format_count catalog_format_count
phrases_has catalog_has
phrases_list catalog_list
voice locale
voices locales
voice_file locale_file
words_say locale_format_text
renderer_get_key renderer_get_cache_key
front_handle handler_run
front_answer request_reply
front_find_guest request_find_requester
front_find_ticket request_find_confirmation
front_guest requester
front_guest_clear requester_clear
front_get_visitor requester_get_user
front_keep_silent request_drop
front_keep_undo request_save_undo
front_offer_undo request_offer_undo
front_weigh request_authorize
front_redeem request_confirm
front_work request
front_envelope handler_envelope
front_outcome handler_outcome
front_report handler_report
front_options handler_options
front_format_verdict handler_format_verdict
door_judge autoreply_check
door_judgement autoreply_verdict
door_envelope autoreply_envelope
door_settings autoreply_settings
door_clear autoreply_clear
door_format_limit_key autoreply_format_rate_key
consent_judge confirm_match
limits_forgive rate_limit_refund
limits_case rate_case
proof mail_token
dispatch system_mailer
dispatch_send system_mail_send
dispatch_letter system_mail
dispatch_draw_token system_mail_new_token
dispatch_format_subject system_mail_format_subject
house own_addresses
silence coverage
silence_list coverage_list
schedule_mend clock_repair_run
crowd_match match_batch_run
showing_moment page_context
showing_flush match_page_save
showing_show match_page_run
match_get_settlement match_get_finality
match_get_due match_get_recheck_time
hints_add query_stats_add
hints query_stats
why_decide why_rules_run
why_inquiry why_context
why_truth_name why_verdict_name
post_hand_out mailer_start_due
post_try_now mailer_reset_breakers
post_set_pulse mailer_set_heartbeat
task delivery_task
task_free delivery_task_free
task_new delivery_task_new
intake_save inbox_process_store
intake_run inbox_process_run
intake_handle_nothing inbox_process_noop_handler
intake_load_waited inbox_process_load_oldest_waiting
intake_load_due inbox_process_load_due
intake_handler inbox_handler
INTAKE_DEATHS INBOX_PROCESS_CRASHES
reading_run parser_process_run
reading_options parser_process_options
imap_road_new imap_setup_new
imap_road_find_problem imap_setup_find_problem
assembly_outlet factory_transport
assembly_free_outlet factory_free_transport
assembly_new_outlet factory_new_transport_options
assembly_is_same_outlet factory_is_same_transport
assembly_probe_outlet factory_probe_transport
assembly_get_road_name factory_get_receiver_name
assembly_new_mailbox factory_new_receiver
assembly_road factory_receiver
ASSEMBLY_ROADS FACTORY_RECEIVERS
ASSEMBLY_ROAD_IMAP FACTORY_RECEIVER_IMAP
ASSEMBLY_ROAD_LMTP FACTORY_RECEIVER_LMTP
ASSEMBLY_ROAD_MAILDIR FACTORY_RECEIVER_MAILDIR
pulse heartbeat
pulses heartbeats
pulse_promise heartbeat_arm
pulse_rest heartbeat_idle
pulse_free heartbeat_free
pulse_new heartbeat_new
pulses_count_late heartbeats_count_overdue
pulses_free heartbeats_free
pulses_new heartbeats_new
recovery_backup backup_service_run
recovery_restore backup_service_restore
dossier_format data_export_format
dossier data_export
forget_person erase_person
subscribe_let_go subscribe_remove_now
profile_wake profile_end_pause
answer_say reply_phrase
answer_add reply_text_add
answer_add_gap reply_text_add_blank
answer_echo reply_text_add_quoted
command_visitor command_user
command_trust command_auth
command_purpose command_mode
command_close command_finish
command_run_pending command_run_confirmed
COMMAND_TRUST_CHANGE COMMAND_AUTH_CHANGE
COMMAND_TRUST_CONFIRM COMMAND_AUTH_CONFIRM
COMMAND_TRUST_NONE COMMAND_AUTH_NONE
COMMAND_TRUST_READ COMMAND_AUTH_READ
collect_stage collector
press_stage scheduler
post_stage mailer_stage
press_stage_read_letters scheduler_process_inbox
hurry_begin shutdown_cut_short
hurry_open shutdown_open
hurry_close shutdown_close
hurry_fd shutdown_fd
inlet receiver_thread
inlets receivers
inlets_sweep receivers_poll
inlets_use receivers_reload
inlet_options receivers_options
standing status_line
control_word control_command
snapshot config_snapshot
snapshot_offer config_snapshot_publish
snapshot_put_back config_snapshot_reject
snapshot_slot config_snapshot_holder
worker_poke worker_wake
told_lock stats_lock
looked_at collected_at
daemon_step_post daemon_step_deliver
daemon_step_press daemon_step_schedule
JOB_POST JOB_DELIVER
JOB_PRESS JOB_SCHEDULE
BOUNDS_STRANGER_ECHO BOUNDS_UNKNOWN_ECHO
ALLOWANCE_STRANGER RATE_UNKNOWN
LIMITS_STRANGER RATE_CASE_UNKNOWN
LIMITS_STRANGER_HELP RATE_CASE_UNKNOWN_HELP
""")
PREFIX = [l.split() for l in """
tex_mark tex_accent
letter_ inmail_
LETTER_REPORT_ INMAIL_REPORT_
LETTER_SOURCE_ INMAIL_SOURCE_
LETTER_TAG_ PROTO_TAG_
LETTER_KEY_ DEDUP_KEY_
letter_key_ dedup_key_
rhythm_ schedule_
RHYTHM_ SCHEDULE_
spoken_ natural_time_
SPOKEN_ NATURAL_TIME_
identity_ paper_id_
facts_ doc_values_
FACTS_ DOC_VALUES_
passage_ text_field_
hit_ highlight_
query_problem query_error
people_ subscribers_
editions_ digests_
letters_ inbox_
allowance_ rate_log_
ALLOWANCE_ RATE_
tickets_ confirmations_
TICKET_ CONFIRMATION_
lists_ source_lists_
paper_names_ paper_aliases_
paper_news_ paper_diff_
STREAM_FAULT_ STREAM_ERROR_
bulletin_told feed_entry
bulletin_words_ feed_vocabulary_
bulletin_date_ feed_date_
bulletin_charset_ feed_charset_
bulletin_ feed_xml_
BULLETIN_ FEED_XML_
newsfeed_ feed_source_
extension_ subaddress_
EXTENSION_ SUBADDRESS_
command_lines command_text
quote_words_ quote_patterns_
imap_round imap_poll
IMAP_ROUND_ IMAP_POLL_
dialogue_ smtp_transaction_
pace_ token_bucket_
masthead_ sender_identity_
frame_ page_
frames_ pages_
FRAME_ PAGE_
pattern_ compiled_template_
PATTERN_ COMPILED_TEMPLATE_
piece_sum chunk_stats
piece_ chunk_
fragment_ entry_block_
FRAGMENT_ ENTRY_BLOCK_
layout_ assemble_
phrasebook_ catalog_
voice_ locale_
voices_ locales_
VOICE_ LOCALE_
words_ locale_format_
render_key cache_key
RENDER_KEY_ CACHE_KEY_
front_ handler_
FRONT_ HANDLER_
limits_ rate_limit_
LIMITS_ RATE_CASE_
proof_ mail_token_
dispatch_ system_mail_
PROOF_ MAIL_TOKEN_
house_ own_addresses_
selfmail_ probe_mail_
SELFMAIL_ PROBE_MAIL_
selfcheck mail_check
silence_ coverage_
SILENCE_ COVERAGE_
survey_ source_status_
memo_ source_backoff_
MEMO_ SOURCE_BACKOFF_
edition_ digest_build_
EDITION_ DIGEST_
arrange_ digest_order_
press_ digest_cache_
showing_ match_page_
SHOWING_ MATCH_PAGE_
showing match_page
post_ mailer_
POST_ MAILER_
senders_ connection_pool_
domains_ domain_throttle_
DOMAINS_ DOMAIN_THROTTLE_
intake_ inbox_process_
INTAKE_ INBOX_PROCESS_
reading_ parser_process_
assembly_ factory_
forget_ erase_
FORGET_ ERASE_
roster_filters_ subscriber_csv_filters_
roster_ subscriber_csv_
roster subscriber_csv
ROSTER_ CSV_COLUMN_
recovery_ backup_service_
upkeep_ maintenance_
UPKEEP_ MAINTENANCE_
answer_ reply_text_
collect_stage_ collector_
press_stage_ scheduler_
post_stage_ mailer_stage_
inlets_ receivers_
inlet_ receiver_thread_
standing_ status_line_
snapshot_ config_snapshot_
BOUNDS_LETTER_ BOUNDS_MAIL_
BOUNDS_LMTP_LETTER_ BOUNDS_LMTP_MAIL_
EVENT_LETTER_ EVENT_MAIL_
EVENT_POST_ EVENT_MAILER_
EVENT_PRESS_ EVENT_SCHEDULER_
EVENT_UPKEEP_ EVENT_MAINTENANCE_
""".strip().splitlines()]
STRUCTS = dict(l.split() for l in """
letter inmail
press digest_cache
mailbox receiver
bulk batch_eval
facts doc_values
passage text_field
rhythm schedule
list source_list
ticket confirmation
incoming maildir_in
bulletin feed_xml
masthead sender_identity
frame page
frames pages
layout assembled_message
pattern compiled_template
piece chunk
fragment entry_block
senders connection_pool
domains domain_throttle
limits rate_limit
selfmail probe_mail
selfcheck mail_check
lines source_map
plain text_file
post mailer
meaning reply_class
roster subscriber_csv
answer reply_text
waiting_message outbox_message
newsfeed feed_source
command_lines command_text
reader mime_parser
imap_round imap_poll
wishes requested_preferences
""".strip().splitlines())
LOCALS = {}
for l in """
BOUNDS_PREFIX_LETTERS BOUNDS_PREFIX_CHARS
DAY_LETTERS DAY_CHARS
FAREWELL_S FINAL_REPLY_S
GROUP_LETTERS GROUP_MESSAGES
HASH_LETTERS HASH_CHARS
HITS_TOLD HITS_SHOWN
LETTERS_RUN INBOX_RUN
LETTERS_RUN_MS INBOX_RUN_MS
MAINTENANCE_LETTER_DAYS MAINTENANCE_INBOX_DAYS
UPKEEP_LETTER_DAYS MAINTENANCE_INBOX_DAYS
NEAR_LETTERS NEAR_CHARS
OCTETS_MB BYTES_PER_MB
PREFIX_LETTERS_MOST PREFIX_CHARS_MAX
QUERY_AS_TOLD QUERY_AS_REPORTED
QUEUE_LETTER_DAYS QUEUE_MAIL_DAYS
REFERENCE_LETTERS REFERENCE_CHARS
RULE_TELLER RULE_SOURCE_RANK
TITLE_LETTERS TITLE_CHARS
TOLD PREFIX
WISHES_PARTS PREFERENCES_PARTS
add_octet add_byte
add_voice add_locale
announce_silence announce_drop
append_letter append_message
append_octets append_bytes
append_wishes append_preferences
are_letters_in is_mail_received
begins_other_letter begins_other_message
check_octets check_bytes
check_road check_receiver
check_voice check_locale
collect_pulse collector_heartbeat
press_pulse scheduler_heartbeat
post_pulse mailer_heartbeat
ctl_run_letter_drop ctl_run_inbox_drop
ctl_run_letter_list ctl_run_inbox_list
ctl_run_letter_retry ctl_run_inbox_retry
ctl_run_letter_show ctl_run_inbox_show
ctl_run_ticket_list ctl_run_confirmation_list
end_letter end_message
forget_octets erase_bytes
farewell pending
feed_letter feed_message
find_door_problems find_autoreply_problems
find_letter_problems find_inbox_problems
guest requester
handle_letter handle_mail
has_letter has_alpha
has_letters has_alphas
has_wishes has_preferences
inert sanitized
is_for_strangers is_for_unknown
is_null_told is_null_reported
is_same_letter is_same_char
is_told is_reported
is_told_apart is_distinguished
is_told_better is_better
kept stored
kept_endings exempt_endings
letter mail
letter_at mail_at
letter_ms mail_ms
letter_program parser_program
letters messages
letters_at inbox_at
letters_due inbox_due
letters_floor inbox_floor
letters_length alphas_length
letters_oldest_at inbox_oldest_at
limit_stranger_day limit_unknown_day
lock_octet lock_byte
make_inert sanitize
make_pulses make_heartbeats
may_have_letter may_have_message
meant suggested
note_letter note_mail
note_standing note_status_line
octet byte
octets bytes
post mailer
press scheduler
print_letter print_mail
print_letters print_inbox
put_letter put_mail
quarantine_letters quarantine_inbox
read_letter read_message
read_letters process_inbox
read_standing load_status_line
read_wishes read_preferences
road receiver
run_letter run_mail
run_stranger_line run_unknown_line
say_farewell say_final
say_standing say_status
dialogue_set_silence smtp_transaction_set_timeout
sql_farewell sql_pending
sql_letter sql_inbox
sql_letters sql_outbox
start_inlets start_receivers
start_road start_receiver
take_letter take_message
take_letters_once poll_receivers_once
teller source_rank
told reported
told_at reported_at
told_data hook_data
try_letter try_mail
update_told update_reported
visitor user
wants_silence forbids_reply
was_kept was_stored
was_told was_reported
wish preference
wishes preferences
write_kept write_stored
door autoreply
""".strip().splitlines():
    a, b = l.split(); LOCALS[a] = b
cachelike = {"press": "cache"}
FILE_LOCALS = {
 "tests/test_front.c": {"letter": "inmail"}, "tests/test_tickets.c": {"letter": "inmail"},
 "fuzz/fuzz_letter_key.c": {"octets": "contents"}, "fuzz/fuzz_text.c": {"octets": "contents"},

 "service/match.c": {"match_page": "run_page"},
 "store/erasure.c": {"sql_letters": "sql_system_mail", "sql_letter": "sql_inbox", "sql_ticket": "sql_confirmation"},
 "store/outbox.c": {"sql_letters": "sql_system_mail"}, "store/people.c": {"sql_letters": "sql_system_mail"},
 "service/command_settings.c": {"wishes": "requested", "wish": "request_preference"},
 "service/edition.c": {"press": "cache"}, "service/press.c": {"press": "cache", "coverage": "coverage_lines"}, "service/press.h": {"press": "cache", "coverage": "coverage_lines"},
 "service/arrange.c": {"press": "cache"}, "service/arrange.h": {"press": "cache"},
}
import os, re, subprocess, sys, collections
top = sys.argv[1]; os.chdir(top)
def git(*a): return subprocess.run(["git", *a], check=True, capture_output=True, text=True).stdout
files = git("ls-files").split()
ctl = [os.path.basename(f)[:-2] for f in files if f.startswith("src/ctl/") and f.endswith(".c")]
for b in ctl:
    if b not in ("main", "ctl", "help", "listing", "owner", "pages", "print", "reason", "transfer", "inspect", "leave", "show", "ask"):
        FILES["ctl/" + b] = "ctl/ctl_" + b
FILES["ctl/letter"] = "ctl/ctl_inbox"; FILES["ctl/ticket"] = "ctl/ctl_confirmation"
# new files by helpers in moved dirs: default dir mapping
DIRS = {"letter": "parser", "mail": "message", "mailbox": "receive"}
moves = {}
for f in files:
    m = re.match(r"src/([a-z]+)/([a-z0-9_]+)\.([ch])$", f)
    if not m: continue
    d, b, e = m.groups()
    new = FILES.get(f"{d}/{b}.{e}", "").removesuffix("." + e) or FILES.get(f"{d}/{b}") or (f"{d}/{b}" if f"{d}/{b}" == "query/query" else None)
    if new is None and d in DIRS: new = f"{DIRS[d]}/{b}"
    if new is None and d in ("service", "store", "query"): print("UNMAPPED", f)
    if new and new != f"{d}/{b}": moves[f"{d}/{b}.{e}"] = f"{new}.{e}"
for f in files:
    m = re.match(r"src/(letter|mail|mailbox)/(Makefile\.inc)$", f)
    if m: moves[f[4:]] = f"{DIRS[m[1]]}/Makefile.inc"
cache = {}
def ident(i):
    if i in cache: return cache[i]
    r = EXACT.get(i)
    if r is None:
        for a, b in PREFIX:
            if i.startswith(a): r = b + i[len(a):]; break
    cache[i] = r or i
    return cache[i]
PATH = re.compile(r"(?<![\w/.-])((?:src/)?)([a-z]+/[a-z0-9_/]+\.(?:[ch]\b|gresource\.xml|sql)|[a-z]+/Makefile\.inc)")
def path(m):
    new = moves.get(m[2])
    return m[1] + new if new else m[0]
BARE = {}
cnt = collections.Counter(os.path.basename(a) for a in [f[4:] for f in files if f.startswith("src/")])
for a, b in moves.items():
    if cnt[os.path.basename(a)] == 1 and os.path.basename(a) != os.path.basename(b) and a.endswith((".c",".h")):
        BARE[os.path.basename(a)] = os.path.basename(b)
BARE.pop("limits.h", None)
BAREX = re.compile(r"(?<![\w/.-])([a-z0-9_]+\.[ch])\b")
PIECE = re.compile(r'(/\*.*?\*/|//[^\n]*)|("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')', re.S)
ID = re.compile(r"\b[A-Za-z_]\w*")
INC = re.compile(r'^([ \t]*#[ \t]*include[ \t]*")([^"\n]+)(")', re.M)
SX = re.compile(r"(\bstruct\s+|\b(?:pb_auto|PB_DEFINE_AUTO)\()(\w+)\b")
def code(text, loc):
    parts, at = [], 0
    for m in SX.finditer(text):
        parts.append(code1(text[at:m.start()], loc)); at = m.end()
        parts.append(m[1] + STRUCTS.get(m[2], None if False else STRUCTS.get(m[2]) or loc_struct(m[2], loc)))
    parts.append(code1(text[at:], loc))
    return "".join(parts)
def loc_struct(i, loc):
    r = ident(i)
    return r if r != i else loc.get(i, i) if i in loc else i
def code1(text, loc):
    def one(m):
        i = m[0]
        if i in loc: return loc[i]
        return ident(i)
    # member access and plain identifiers alike
    return ID.sub(one, text)
def comment(text):
    def one(m):
        i = m[0]
        return ident(i) if "_" in i else i
    return ID.sub(one, text)
def c_file(name, text):
    rel = name[4:] if name.startswith("src/") else name
    loc = dict(LOCALS); loc.update(FILE_LOCALS.get(rel, {}))
    incs = []
    def hide(m):
        p = moves.get(m[2], m[2]); incs.append(m[1] + p + m[3]); return f"\0{len(incs)-1}\0"
    text = INC.sub(hide, text)
    out, at = [], 0
    for m in PIECE.finditer(text):
        out.append(code(text[at:m.start()], loc))
        if m[1] is not None: out.append(comment(m[1]))
        else: out.append(m[2])
        at = m.end()
    out.append(code(text[at:], loc))
    text = "".join(out)
    text = re.sub("\0(\\d+)\0", lambda m: incs[int(m[1])], text)
    return text
def guard(new, text):
    m = re.match(r"src/(.*)\.h$", new)
    if not m: return text
    g = re.search(r"#ifndef (PAPERBOY_\w+_H)\n#define \1\n", text)
    if not g: return text
    return text.replace(g[1], "PAPERBOY_" + re.sub(r"[/]", "_", m[1]).upper() + "_H")
for f in files:
    if not os.path.isfile(f) or os.path.islink(f): continue
    new = f
    if f.startswith("src/") and f[4:] in moves: new = "src/" + moves[f[4:]]
    if f.startswith(("fuzz/corpus", "tests/letters", "samples/", "tests/golden")): continue
    try: text = open(f, encoding="utf-8").read()
    except UnicodeDecodeError: continue
    orig = text
    if f.endswith((".c", ".h")): text = c_file(f, text)
    text = PATH.sub(path, text)
    text = re.sub(r"src/([a-z]+/[a-z0-9_]+)(?=\.\$\((?:OBJ)?EXT\)|\.o\b|\.\$)", lambda m: "src/" + moves.get(m[1]+".c", m[1]+".c")[:-2], text)
    text = BAREX.sub(lambda m: BARE.get(m[1], m[1]), text)
    text = guard(new, text)
    if new != f and new.endswith((".c", ".h")):
        ob, nb = os.path.basename(f), os.path.basename(new)
        text = re.sub(r"\A/\*\n \* \w+\.[ch] - ", f"/*\n * {nb} - ", text)
    if new != f:
        os.makedirs(os.path.dirname(new), exist_ok=True); git("mv", f, new)
    if text != orig:
        mode = os.stat(new).st_mode
        open(new, "w", encoding="utf-8").write(text); os.chmod(new, mode)
# SQL tables
T = {"paper_name": "paper_alias", "paper_twin": "paper_duplicate", "list": "source_list", "batch": "source_fetch",
     "word": "vocabulary", "short_form": "acronym", "farewell": "pending_erasure", "allowance": "rate_log",
     "letter": "inbox", "ticket": "confirmation", "change": "audit_log"}
alt = "|".join(T)
S1 = re.compile(r"\b((?:FROM|INTO|UPDATE|JOIN|TABLE|ON|REFERENCES|TABLE IF EXISTS|xinfo|table_info)[ \t]*\(?[\s\"]{0,14}?\s?)(" + alt + r")\b(?!_)")
IDX = re.compile(r"\b(INDEX|TRIGGER) (" + alt + r")_")
for f in git("ls-files").split():
    if not f.startswith(("src/store", "tests/", "bench/")) or not f.endswith((".c", ".h", ".py", ".sql")): continue
    if not os.path.exists(f): continue
    text = open(f, encoding="utf-8").read(); orig = text
    text = S1.sub(lambda m: m[1] + T[m[2]], text)
    text = IDX.sub(lambda m: m[1] + " " + T[m[2]] + "_", text)
    text = re.sub(r"\b(" + "paper_name|paper_twin|short_form" + r")\b(?=\"|'|\.)", lambda m: T[m[1]], text)
    if text != orig: open(f, "w", encoding="utf-8").write(text)
for f in git("ls-files", "src/store").split():
    if f.endswith((".c", ".h")) and os.path.exists(f):
        t = open(f).read(); n = re.sub(r"\bletter\.(sender|raw)\b", r"inbox.\1", t.replace("'ticket'", "'confirmation'").replace("'letter'", "'inbox'"))
        if n != t: open(f, "w").write(n)
SUB = {
 "tests/test_archive.c": [("word_class", "vocabulary_class")],
 "tests/test_backup.c": [("name = 'ticket'", "name = 'confirmation'")],
 "tests/test_store.c": [("batch_asked", "source_fetch_asked"), ("batch_day", "source_fetch_day"), ("letter_due", "inbox_due"), ("letter_done", "inbox_done"), ("letter_quarantined", "inbox_quarantined"), ("ticket_", "confirmation_"), ("allowance_", "rate_log_"), ("change_at", "audit_log_at"), ("change_subscriber", "audit_log_subscriber")],
 "tests/test_upkeep.c": [('"batch"', '"source_fetch"'), ('"letter"', '"inbox"'), ('"ticket"', '"confirmation"'), ('"allowance"', '"rate_log"'), ('"word"', '"vocabulary"')],
 "tests/test_phrases.c": [("answer_say\\\\(&work->answer", "reply_phrase\\\\(&work->answer"), ("answer_say_plain|answer_format|answer_format_count", "reply_text_say_plain|reply_text_format|reply_text_format_count")],
 "tests/test_man.py": [('"service", "command_table.c"', '"service", "command", "command_table.c"')],
}
for f, subs in SUB.items():
    if os.path.exists(f):
        t = open(f).read()
        for x, y in subs:
            if x not in t: print("SUB missing", f, x)
            t = t.replace(x, y)
        open(f, "w").write(t)
cs = [f for f in git("ls-files").split() if f.endswith((".c", ".h")) and os.path.exists(f)]
for i in range(0, len(cs), 100):
    subprocess.run(["clang-format-14", "-i", *cs[i:i+100]], check=True)

# the program that parses foreign mail
for f in git("ls-files").split():
    if not os.path.isfile(f) or f.startswith(("fuzz/corpus", "tests/letters")): continue
    try: t = open(f, encoding="utf-8").read()
    except UnicodeDecodeError: continue
    n = t.replace("paperboy-letter", "paperboy-parser").replace("paperboy_letter", "paperboy_parser")
    if n != t: open(f, "w", encoding="utf-8").write(n)
# Edits on the renamed tree: break the last cycles, layers table with floors.
import os, re, subprocess, sys
def rd(f): return open(f, encoding="utf-8").read()
def wr(f, t): open(f, "w", encoding="utf-8").write(t)
def sub(f, *pairs):
    t = rd(f)
    for a, b in pairs:
        if a not in t: print("AFTER missing", f, repr(a)[:90]); continue
        t = t.replace(a, b)
    wr(f, t)
def grep(word):
    return [f for f in subprocess.run(["grep", "-rlw", word, "src", "tests", "bench", "fuzz"], capture_output=True, text=True).stdout.split() if f.endswith((".c", ".h"))]
# 1. base/disk
t = rd("src/service/health/status.c")
m = re.search(r"int64_t\nstatus_get_disk_free\(const char \*state_dir\)\n\{.*?\n\}\n\n", t, re.S)
body = m[0]; t = t.replace(body, ""); t = t.replace("#include <sys/statvfs.h>\n", ""); wr("src/service/health/status.c", t)
wr("src/base/disk.c", '/*\n * disk.c - free space of a file system; see disk.h.\n */\n#include "base/disk.h"\n\n#include <sys/statvfs.h>\n\n' + body.replace("status_get_disk_free", "disk_get_free").replace("state_dir", "path").replace("/* A file system that does not count its blocks says 0 of 0. */", "/* A file system that does not count its blocks reports 0 of 0. */").rstrip() + "\n")
wr("src/base/disk.h", '/*\n * disk.h - free space of a file system.\n */\n#ifndef PAPERBOY_BASE_DISK_H\n#define PAPERBOY_BASE_DISK_H\n\n#include <stdint.h>\n\n/** Get the bytes that unprivileged users may still write at path. @return -1 when unknown */\nint64_t disk_get_free(const char *path);\n\n#endif\n')
t = rd("src/service/health/status.h"); t = re.sub(r"\n/\*\*[^\n]*\*/\nint64_t status_get_disk_free\(const char \*state_dir\);\n", "", t); wr("src/service/health/status.h", t)
for f in grep("status_get_disk_free"):
    t = rd(f).replace("status_get_disk_free", "disk_get_free")
    t = t.replace('#include "service/health/status.h"\n', "") if f.startswith(("src/service/delivery", "src/service/inbound")) and not re.search(r"\bstatus_\w+\(|STATUS_|struct status", t) else t
    first = re.search(r'#include "(?:model|config|base)/[^\n]*\n', t)
    inc = '#include "base/disk.h"\n'
    if "base/disk.h" not in t:
        i = re.search(r'#include "base/(?:bounds|clock|cleanup|day)\.h"\n', t) or re.search(r'\n\n(#include "(?!%s))' % "x", t)
        t = t[:i.end()] + inc + t[i.end():] if i.re.pattern.startswith("#include") else t
    wr(f, t)
sub("src/base/Makefile.inc", ("	src/base/entity.c \\\n", "	src/base/disk.c \\\n	src/base/disk.h \\\n	src/base/entity.c \\\n"))
# 2. constants
t = rd("src/service/digest/digest_build.h")
m = re.search(r"/\* A paper can be in a digest.*?#define DIGEST_FIRST_DAYS 3\n\n", t, re.S)
wr("src/service/digest/digest_build.h", t.replace(m[0], ""))
t = rd("src/model/digest.h")
wr("src/model/digest.h", t.replace("\n/* ", "\n/* Days for which a paper is eligible for digests after it was last listed. */\n#define DIGEST_ELIGIBLE_DAYS 30\n\n/* Days that the first digest of a new filter covers. */\n#define DIGEST_FIRST_DAYS 3\n\n/* ", 1) if t.count("\n/* ") else t)
for f in grep("DIGEST_ELIGIBLE_DAYS") + grep("DIGEST_FIRST_DAYS"):
    t = rd(f)
    if '"model/digest.h"' not in t and f != "src/model/digest.h" and f.endswith(".c"):
        t = t.replace('#include "service/digest/digest_build.h"\n', '#include "model/digest.h"\n') if not re.search(r"\bdigest_build_", t) else t.replace('#include "service/digest/digest_build.h"\n', '#include "model/digest.h"\n#include "service/digest/digest_build.h"\n')
        wr(f, t)
# 3. generated migrations
t = rd("src/store/Makefile.inc")
t = t.replace("src/store/migrations.c", "src/store/core/migrations.c").replace("src/store/migrations.h", "src/store/core/migrations.h").replace("$(MKDIR_P) src/store ", "$(MKDIR_P) src/store/core ")
wr("src/store/Makefile.inc", t)
for f in grep("migrations"): wr(f, rd(f).replace('"store/migrations.h"', '"store/core/migrations.h"'))
sub(".gitignore", *[("src/store/migrations", "src/store/core/migrations")] if "src/store/migrations" in rd(".gitignore") else [])
t = rd("src/service/delivery/mailer.c")
if "base/disk.h" not in t:
    t = t.replace('#include "', '#include "base/disk.h"\n#include "', 2).replace('#include "base/disk.h"\n', "", 1); wr("src/service/delivery/mailer.c", t)
# 4. the layer check
f = "tests/lib/layers.py"
sub(f, ('"sources", "mail",\n        "letter", "mailbox", "transport", "render")', '"sources", "message",\n        "parser", "receive", "transport", "render")'),
 ('    "mail": ("base", "model"),\n    "letter": ("base", "mail"),\n    "mailbox": ("base", "model", "net", "mail"),\n    "transport": ("base", "model", "net", "mail"),\n    "render": ("base", "model", "mail"),',
  '    "message": ("base", "model"),\n    "parser": ("base", "message"),\n    "receive": ("base", "model", "net", "message"),\n    "transport": ("base", "model", "net", "message"),\n    "render": ("base", "model", "message"),'),
 ('    "libetpan/": ("letter", "mailbox"),', '    "libetpan/": ("parser", "receive"),'),
 ('    "seccomp.h": ("letter",),', '    "seccomp.h": ("parser",),'),
 ('# Third-party headers (a name', '''# Floors inside a layer, the lowest first: a directory may include itself and those
# on lower floors, and never another one on its own floor.
FLOORS = {
    "query": (("query",), ("query/text",), ("query/parse",), ("query/eval",)),
    "store": (("store/core",), ("store/paper",), ("store/subscriber",), ("store/mail",)),
    "service": (
        ("service/log",),
        ("service/state", "service/match"),
        ("service/setup",),
        ("service/collect", "service/people"),
        ("service/digest",),
        ("service/explain", "service/delivery"),
        ("service/command",),
        ("service/inbound",),
        ("service/health",),
    ),
}

# Third-party headers (a name'''),
 ('''    target = name.split("/")[0]
    if target == layer or target in MAY_USE[layer]:
        return None
''', '''    target = name.split("/")[0]
    if target == layer and layer in FLOORS:
        return check_floor(layer, directory, os.path.dirname(name))
    if target == layer or target in MAY_USE[layer]:
        return None
'''),
 ('''def check_purpose(source):''', '''def floor_of(layer, directory):
    """The number of a directory's floor, or None."""
    for number, floor in enumerate(FLOORS[layer]):
        if directory in floor:
            return number
    return None


def check_floor(layer, directory, target):
    """Report an include within a layer that does not point down, or None."""
    if directory == target:
        return None
    above, below = floor_of(layer, directory), floor_of(layer, target)
    if above is None:
        return f"{directory} is on no floor of {layer}"
    if below is None:
        return f"{target} is on no floor of {layer}"
    if below < above:
        return None
    return f"{directory} (floor {above + 1}) may not use {target} (floor {below + 1})"


def include_graph(src):
    """Number of includes from one directory to another: {(from, to): count}."""
    edges = {}
    for path in source_files(src):
        with open(os.path.join(src, path), encoding="utf-8") as file:
            source = Source(path, file.read())
        directory = os.path.dirname(path)
        for _, is_system, name in source.includes():
            target = os.path.dirname(name)
            if not is_system and target and target != directory:
                edges[directory, target] = edges.get((directory, target), 0) + 1
    return edges


def find_cycles(edges):
    """Directories that reach themselves along the edges of an include graph."""
    reach = {}
    for start, end in edges:
        reach.setdefault(start, set()).add(end)
    changed = True
    while changed:
        changed = False
        for ends in reach.values():
            more = set().union(*(reach.get(end, ()) for end in ends)) - ends
            if more:
                ends |= more
                changed = True
    return sorted(start for start, ends in reach.items() if start in ends)


def same_names(src):
    """Names of files that stand in two directories, main.c excepted."""
    places = {}
    for path in source_files(src):
        places.setdefault(os.path.basename(path), []).append(path)
    return {
        name: paths
        for name, paths in places.items()
        if len(paths) > 1 and name != "main.c"
    }


def check_purpose(source):'''),
 ("def check_include(layer, folder, name, is_system, src):", "def check_include(layer, directory, folder, name, is_system, src):"),
 ("check_include(layer, os.path.dirname(full), name, is_system, src)", "check_include(\n            layer, os.path.dirname(path), os.path.dirname(full), name, is_system, src\n        )"),
)
sub("tests/test_layers.py",
 ("from layers import HOMES, MAX_LINES, MAY_USE, check_tree, source_files", "from layers import (\n    FLOORS, HOMES, MAX_LINES, MAY_USE, check_tree, find_cycles, include_graph, same_names,\n    source_files,\n)"),
 ('("store/a.c", \'#include "store/b.h"\', "")', '("store/core/a.c", \'#include "store/core/b.h"\', "")'),
 ('("letter/a.c", \'#include "model/a.h"\', "letter may not use model")', '("parser/a.c", \'#include "model/a.h"\', "parser may not use model")'),
 ('"belongs to letter and"', '"belongs to parser and"'), ('"belongs to letter")', '"belongs to parser")'),
 ('("mailbox/a.c", \'char *s = "SELECT INBOX";\', "")', '("receive/a.c", \'char *s = "SELECT INBOX";\', "")'),
 ('    ("store/a.c", \'#include "../net/a.h"\', "climbs"),', '''    ("service/health/a.c", '#include "service/log/a.h"', ""),
    ("service/log/a.c", '#include "service/health/a.h"', "(floor 1) may not use"),
    ("service/log/a.c", '#include "service/state/a.h"', "(floor 2)"),
    ("service/a.c", '#include "service/log/a.h"', "is on no floor of service"),
    ("service/log/a.c", '#include "service/shop/a.h"', "is on no floor of service"),
    ("query/eval/a.c", '#include "query/a.h"', ""),
    ("store/a.c", '#include "../net/a.h"', "climbs"),'''),
 ('''    tap.ok(len(files) > 3, "sources are found")
''', '''    tap.ok(len(files) > 3, "sources are found")
    edges = include_graph(src)
    cycles = find_cycles(edges)
    tap.ok(not cycles, "no directory includes itself through others")
    doubles = same_names(src)
    tap.ok(not doubles, "no two directories have a file of the same name")
    floors = sum(len(floors) for floors in FLOORS.values())
    tap.diag(
        f"{len({end for edge in edges for end in edge})} directories, {len(edges)} edges,"
        f" {len(cycles)} in cycles, {floors} floors inside layers"
    )
    for name, paths in sorted(doubles.items()):
        tap.diag(f"{name}: {' '.join(paths)}")
'''))
