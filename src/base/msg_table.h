/*
 * msg_table.h - English texts of the translatable messages.
 *
 * MSG(ID, TEXT): {name} is an argument.  Included where MSG is defined.
 */
/* One message per paragraph, even if it exceeds the line length. */
/* clang-format off */

/* ---- filters: errors, reported with their column (query/query_error.h) ---- */

MSG(QUERY_CUT, "cannot tokenize the text")
MSG(QUERY_EMPTY, "the query is empty")
MSG(QUERY_TOO_LONG, "longer than {most} bytes")
MSG(QUERY_TOO_MANY, "more than {most} words and phrases")
MSG(QUERY_TOO_DEEP, "parentheses are nested deeper than {most}")
MSG(QUERY_NEGATIVE, "this would match every paper without a word: combine it by AND with "
    "one that must occur")
MSG(QUERY_CONTROL, "unexpected control character")
MSG(QUERY_INVISIBLE, "unexpected invisible character (U+{code}): type the word again, "
    "without it")
MSG(QUERY_UTF8, "the text is not valid UTF-8 from here")
MSG(QUERY_QUOTE_FIRST, "closing quotation mark {mark} without an opening one")
MSG(QUERY_QUOTE_SECOND, "missing closing quotation mark for {mark}")
MSG(QUERY_QUOTE_OTHER, "the quotation mark {mark} may start another phrase: use straight "
    "quotes, as in \"state space\"")
MSG(QUERY_QUOTE_APOSTROPHE, "the quotation mark {mark} may be an apostrophe: use straight "
    "quotes, as in \"state space\"")
MSG(QUERY_WORD_BEFORE, "expected a word before \"{sign}\"")
MSG(QUERY_WORD_AFTER, "expected a word after \"{sign}\"")
MSG(QUERY_CLOSE_ALONE, "\")\" without \"(\"")
MSG(QUERY_OPEN_ALONE, "\"(\" without \")\"")
MSG(QUERY_GROUP_EMPTY, "empty parentheses")
MSG(QUERY_CARET, "\"^\" (a weight) may occur once, directly after a word or a group")
MSG(QUERY_COMMA, "unexpected comma: a space means AND, write OR for either")
MSG(QUERY_COLON, "expected a field name before \":\"")
MSG(QUERY_NOT_TWICE, "duplicate NOT")
MSG(QUERY_NEAR_WEIGHT, "a weight applies to all of NEAR and comes last: a NEAR b^2")
MSG(QUERY_WEIGHT, "a weight is a number from 1 to {most}")
MSG(QUERY_NEAR_DISTANCE, "the distance must be a number of words from 1 to {most}")
MSG(QUERY_NEAR_FIELD, "NEAR applies to title, abstract and text, not to \"{field}:\"")
MSG(QUERY_NEAR_OPERAND, "NEAR can only join words, phrases and prefixes")
MSG(QUERY_NEAR_CLOSE, "expected \")\" after the number of words")
MSG(QUERY_NEAR_FEW, "NEAR needs at least two words")
MSG(QUERY_NEAR_CHAIN, "all NEAR of a chain must have the same distance")
MSG(QUERY_NUMBER_AFTER, "expected a number after \"{after}\"")
MSG(QUERY_DIGITS, "a number has at most {most} digits")
MSG(QUERY_BELOW_ZERO, "numbers cannot be negative")
MSG(QUERY_RANGE, "the end of the range is before its start")
MSG(QUERY_COMPARISON, "expected a comparison such as >=10 or a range such as 10..20 after "
    "\"{field}:\"")
MSG(QUERY_NOT_NUMBER, "\"{field}:\" wants a number: did you mean \"{nearest}:\"?")
MSG(QUERY_STAR_END, "\"*\" is only allowed at the end of a word or phrase")
MSG(QUERY_PREFIX_SHORT, "expected at least {least} letters before \"*\"")
MSG(QUERY_PHRASE_EMPTY, "the phrase is empty")
MSG(QUERY_SIGN_ALONE, "\"{sign}\" must be directly before its word")
MSG(QUERY_NO_ALNUM, "no letter or digit in \"{text}\"")
MSG(QUERY_SIGN_FIRST, "\"{sign}\" may follow a word, but not precede it")
MSG(QUERY_EXACT_ONE, "\"=\" (exact spelling) applies to one whole word")
MSG(QUERY_EXACT_DIRECT, "\"=\" (exact spelling) must be directly before its word")
MSG(QUERY_EXACT_FIELD, "\"=\" (exact spelling) applies to words, not to \"{field}:\"")
MSG(QUERY_FIELD, "unknown field \"{text}\": did you mean \"{nearest}\"?")
MSG(QUERY_WANTS_WORDS, "expected a word, a phrase or \"(\" directly after \"{field}:\"")
MSG(QUERY_WANTS_CATEGORY, "expected a category such as cs.CL or cs directly after "
    "\"{field}:\"")
MSG(QUERY_WANTS_VALUE, "expected a value directly after \"{field}:\"")
MSG(QUERY_WANTS_NUMBER, "expected a number after \"{field}:\"")
MSG(QUERY_WANTS_DATE, "expected a day such as 2026-07-31 or a duration such as 7d after "
    "\"{field}:\"")
MSG(QUERY_NOT_BEFORE_FIELD, "\"{sign}\" must be before the field name: {sign}{field}:")
MSG(QUERY_COLON_TWICE, "unexpected second \":\" after \"{field}:\": write one field per "
    "word, and a value that contains \":\" in quotes")
MSG(QUERY_COMPARES_NOTHING, "a comparison needs the name of a numeric field before it")
MSG(QUERY_NAME_STAR, "names are matched as whole words, without \"*\"")
MSG(QUERY_NAME_COMMA, "expected a last name before the comma")
MSG(QUERY_NAME_NONE, "no name in \"{text}\"")
MSG(QUERY_NO_DAY, "invalid date {text}")
MSG(QUERY_DATE_COMPARISON, "dates use ranges instead of comparisons: 2026-07.. or "
    "..2026-07")
MSG(QUERY_DATE, "expected a day such as 2026-07-31 or 2026-07, or a duration such as 7d, "
    "2w, 3m, 1y")
MSG(QUERY_CATEGORY, "unknown arXiv category \"{text}\": did you mean \"{nearest}\"?")
MSG(QUERY_CHOICE, "\"{field}:\" must be one of {all}, not \"{text}\": did you mean "
    "\"{nearest}\"?")
MSG(QUERY_SOURCE_STAR, "source names are matched as a whole, without \"*\"")
MSG(QUERY_VALUE_STAR, "\"*\" is only allowed at the end of a value")

/* ---- filters: warnings ---- */

MSG(WARN_OPERATOR, "column {column}: \"{word}\" is searched as a word: did you mean "
    "{operator}?")
MSG(WARN_BRACKET, "column {column}: \"{sign}\" is ignored; write a field before its word, "
    "as in title:diffusion")
MSG(WARN_WILDCARD, "column {column}: \"{sign}\" is ignored; \"*\" finds other endings, as "
    "in quantiz*")
MSG(WARN_COMPARISON, "column {column}: \"{sign}\" is ignored; compare a number after a "
    "colon, as in upvotes:>=20")
MSG(WARN_PERCENT, "column {column}: \"{sign}\" is ignored; type characters as they are, "
    "not percent-encoded")
MSG(WARN_SINGLE_QUOTE, "column {column}: this quotation mark is ignored; put phrases in "
    "\"double quotes\"")
MSG(WARN_GROUP, "column {column}: \"(\" starts a group here; put a value that contains it "
    "in quotes")
MSG(WARN_AMPERSAND, "column {column}: \"&\" means AND here; put a name such as \"R&D\" in "
    "quotes")

/* ---- filters: suggestions ---- */

MSG(NOTE_NO_SOURCE, "unknown source '{name}'; known: {all}")
MSG(NOTE_NO_ARXIV, "no data from arXiv yet: until then categories, comment, journal and "
    "doi can never be decided and count as missing after two hours")
MSG(NOTE_LATE_NOT, "papers come up to {days} days late: until then a source can make this "
    "false: {clauses}")
MSG(NOTE_RELATIVE_DATE, "a relative date is measured from the day on which a paper was "
    "first seen; for the last week write date:{day}..")
MSG(NOTE_LATE_DATE, "papers come up to {days} days late: the date is measured from the day "
    "on which a paper is first seen, and this can become known later: {clauses}")
MSG(NOTE_UNDECIDED_TRUE, "{clause} can never be decided: no source has reported this for "
    "any paper so far; after {days} days it counts as true")
MSG(NOTE_UNDECIDED_FALSE, "{clause} can never be decided: no source has reported this for "
    "any paper so far; after {days} days it counts as false")
MSG(NOTE_FORM_ONE, "1 more paper with {form}: {title}")
MSG(NOTE_FORM_MANY, "{count} more papers with {form}, the latest: {title}")
MSG(PROPOSAL_GAINS_ONE, "{term}: 1 more paper in {days} days: {title}")
MSG(PROPOSAL_GAINS, "{term}: {count} more papers in {days} days, the latest: {title}")
MSG(PROPOSAL_LOSES, "{term}: it removes {count} of the papers in {days} days, the latest: "
    "{title}")
MSG(PROPOSAL_SAME, "{term}")
MSG(NOTE_UNKNOWN, "{word}: in no paper")
MSG(NOTE_UNKNOWN_NEAR, "{word}: in no paper; {near} is in {count}")
MSG(NOTE_PREFIX, "{word}*: no word starts with this")
MSG(NOTE_NOTHING, "no papers in {days} days: is this the intended filter?")
MSG(NOTE_NOTHING_BUT, "no papers in {days} days, but {count} in {more} days")
MSG(NOTE_MANY, "{count} papers a day are many: narrow the filter with another word, or NOT")
MSG(NOTE_MANY_BUT, "{count} papers a day are many; narrower filters find fewer")
MSG(NOTE_NARROWER, "about {count} a day: {filter}")
MSG(NOTE_SAMPLE, "estimated: only one in {step} of the papers was tested")

/* ---- explanations of a match: {hits} are words of the paper ---- */

MSG(HIT_TITLE, "{hits} in the title")
MSG(HIT_ABSTRACT, "{hits} in the abstract")
MSG(HIT_AUTHOR, "by {hits}")
MSG(HIT_ORGANIZATION, "{hits} in the organization")
MSG(HIT_KEYWORD, "{hits} in the keywords")
MSG(HIT_COMMENT, "{hits} in the comment")
MSG(HIT_JOURNAL, "{hits} in the journal")
MSG(HIT_PRIMARY, "primary {hits}")
MSG(HIT_SOURCE, "listed by {hits}")
MSG(HIT_TYPE, "announced as {hits}")
MSG(HIT_DATE, "listed on {hits}")
MSG(HIT_ID, "id {hits}")
MSG(HIT_DOI, "doi {hits}")
MSG(HIT_UPVOTES_ONE, "{hits} vote")
MSG(HIT_UPVOTES_MANY, "{hits} votes")
MSG(HIT_COMMENTS_ONE, "{hits} comment")
MSG(HIT_COMMENTS_MANY, "{hits} comments")
MSG(HIT_STARS_ONE, "{hits} star")
MSG(HIT_STARS_MANY, "{hits} stars")
MSG(HIT_AUTHORS_ONE, "{hits} author")
MSG(HIT_AUTHORS_MANY, "{hits} authors")

/* ---- source lists of a digest ---- */

MSG(LIST_WEEKDAYS, "Mon Tue Wed Thu Fri Sat Sun")
MSG(LIST_LISTED, "{list}: {listed} listed")
MSG(LIST_READ, "{list}: {listed} listed, {read} read")
MSG(LIST_QUIET, "{list}: nothing new")
MSG(LIST_LATE, "{list} late since {day}")
MSG(LIST_STALE, "{list} stale since {day}")
MSG(LIST_FAILED, "{list} failed since {day}")

/* ---- what is unusual in a digest ---- */
MSG(NOTICE_NEW, "First papers for {filters}")
MSG(NOTICE_NEW_MANY, "First papers for {count} new filters")
MSG(NOTICE_MANY, "More papers than usual (about {usual})")
MSG(NOTICE_SHARE, "\"{name}\" (your filter {number}) has a version {version}: {change}; "
    "papers of 30 days: {gained} more, {lost} less. Reply \"yes {proposal}\" to take it, "
    "\"no {proposal}\" to keep version {own}")
MSG(NOTICE_SHARE_ENDED, "Filter {number} ({filter}) is no longer shared by its owner. It "
    "stays as it is, and is your own now")
MSG(SHARE_ADDS, "adds {clauses}")
MSG(SHARE_REMOVES, "removes {clauses}")
MSG(SHARE_REORDERS, "other combination of the same clauses")

/* ---- settings ---- */

MSG(LINE_EMPTY, "the {what} is empty")
MSG(LINE_LONG, "the {what} is too long")
MSG(LINE_UTF8, "the {what} is not UTF-8")
MSG(LINE_CONTROL, "the {what} contains a control character")
MSG(DAY, "'{text}' is not a day (expected YYYY-MM-DD, such as 2026-12-01)")
MSG(ZONE_UNKNOWN, "unknown time zone '{zone}' (expected an IANA name such as "
    "Europe/Berlin)")
MSG(ZONE_UNKNOWN_NEAR, "unknown time zone '{zone}': did you mean {nearest}?")
MSG(ZONE_AMBIGUOUS, "ambiguous time zone '{zone}': {all}")
MSG(MINUTE, "'{text}' is not a time of day (expected HH:MM, such as 07:30)")
MSG(MINUTE_EITHER, "ambiguous time: write {morning} or {evening}")
MSG(FREQUENCY, "'{text}' is not a frequency (expected now, daily, weekdays or weekly)")
MSG(WEEKDAY, "'{text}' is not a day of the week (expected mon,tue,wed,thu,fri,sat,sun)")
MSG(WEEKDAY_NONE, "expected at least one day of the week, such as mon")
MSG(PREFERENCE, "{key} must be one of {all}, not '{text}'")
MSG(MAX, "max must be from 1 to {most}")
MSG(LANGUAGE, "a language is two letters, such as en or de")
MSG(PAUSE_PAST, "a pause must end in the future: {day} is not after {today}")
MSG(PAUSE_LONG, "a pause with an end may last at most {most} days, until {day}; without "
    "one it lasts until resumed")
MSG(PAUSE_STATE, "{address} cannot be paused: its state is {state}")
MSG(PAUSE_NONE, "{address} is not paused: its state is {state}")

/* ---- filters of a subscriber ---- */

MSG(FILTER_NAME_NUMBER, "a filter's name cannot be a number: \"{name}\" would mean the filter "
    "with that number")
MSG(FILTER_NAME_TAKEN, "the name \"{name}\" is already used by filter {number}")
MSG(FILTER_LIMIT, "limit of {most} filters reached")
MSG(FILTER_SAME, "filter {number} is the same: {filter}")
MSG(FILTER_NONE, "no such filter: {number}")

/* ---- shared filters ---- */

MSG(SHARE_NAME, "the name of a shared filter has {least} to {most} letters, digits and "
    "hyphens, and begins with a letter")
MSG(SHARE_RESERVED, "the name \"{name}\" is reserved")
MSG(SHARE_TAKEN, "the name \"{name}\" is in use")
MSG(SHARE_ALREADY, "filter {number} is already shared as \"{name}\"")
MSG(SHARE_LIMIT, "limit of {most} shared filters reached")
MSG(SHARE_BLOCK, "a block cannot be shared")
MSG(SHARE_FOLLOWED, "filter {number} follows \"{name}\"; it can be shared after: fork "
    "{name}")
MSG(SHARE_NONE, "there is no shared filter \"{name}\"")
MSG(SHARE_NOT_OWN, "no filter of yours is shared as \"{name}\"")
MSG(SHARE_OWN, "\"{name}\" is your own filter {number}")
MSG(SHARE_VERSION, "\"{name}\" has no version {version}")
MSG(SHARE_FOLLOWS, "filter {number} follows \"{name}\" already, and has version {version}")
MSG(SHARE_FOLLOWS_NOT, "no filter of yours follows \"{name}\"")

/* ---- subscribers and addresses ---- */

MSG(PERSON_NONE, "{address} is not a subscriber")
MSG(PERSON_ALREADY, "this address is already subscribed")
MSG(PERSON_CONSENT, "missing consent: how the person agreed, in words")
MSG(ADDRESS_TAKEN, "this address cannot be used: it is or was subscribed here")
MSG(ADDRESS_SUPPRESSED, "this address is suppressed since {day} ({reason}): it gets no "
    "mail")
MSG(ADDRESS_EMPTY, "address is empty")
MSG(ADDRESS_LONG, "address has more than {most} bytes")
MSG(ADDRESS_LONG_LOCAL, "address has more than {most} bytes before '@'")
MSG(ADDRESS_LONG_DOMAIN, "address has more than {most} bytes in its domain")
MSG(ADDRESS_LONG_LABEL, "address has more than {most} bytes in a label of its domain")
MSG(ADDRESS_LONG_NAME, "address has more than {most} bytes in its name")
MSG(ADDRESS_UTF8, "address is not valid UTF-8")
MSG(ADDRESS_BLANK, "address contains a blank")
MSG(ADDRESS_CONTROL, "address contains a control or invisible character")
MSG(ADDRESS_ANGLE, "address contains an angle bracket")
MSG(ADDRESS_NO_LOCAL, "address has nothing before '@'")
MSG(ADDRESS_AT_TWICE, "address has more than one '@'")
MSG(ADDRESS_ROUTE, "address has a route ('!' or '%') before '@'")
MSG(ADDRESS_LOCAL, "address contains a character that is not allowed before '@'")
MSG(ADDRESS_DOTS, "address has a dot at the start, at the end, or two in a row before '@'")
MSG(ADDRESS_LABEL_EMPTY, "address has an empty label in its domain")
MSG(ADDRESS_LABEL_HYPHEN, "address has a domain label that starts or ends with '-'")
MSG(ADDRESS_LABEL, "address contains a character that is not allowed in a domain")
MSG(ADDRESS_NO_DOMAIN, "address has nothing after '@'")
MSG(ADDRESS_BRACKETS, "address has an address literal instead of a domain")
MSG(ADDRESS_IDN, "address has an invalid internationalized domain")
MSG(ADDRESS_DOTLESS, "address has a domain without a dot")
MSG(ADDRESS_NUMBER, "address has a number instead of a domain")
MSG(ADDRESS_SOURCE_ROUTE, "address has a source route")
MSG(ADDRESS_NO_AT, "address has no '@'")
MSG(ADDRESS_NAME_QUOTE, "address has a stray quote in its name")
MSG(ADDRESS_NAME_BARE, "address has a name that needs quotes")
MSG(ADDRESS_NAME_UTF8, "address has a name that is not valid UTF-8")
MSG(ADDRESS_NAME_CONTROL, "address contains a control character in its name")
MSG(ADDRESS_OPEN, "address has '>' without '<'")
