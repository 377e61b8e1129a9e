/*
 * msg_table.h - English texts of the translatable messages.
 *
 * MSG(ID, TEXT): {name} is an argument.  Included where MSG is defined.
 */
/* One message per paragraph, even if it exceeds the line length. */
/* clang-format off */

/* ---- filters: errors, reported with their column (query/query_error.h) ---- */

MSG(QUERY_CUT, "cannot cut the text into words")
MSG(QUERY_EMPTY, "there is nothing to search for")
MSG(QUERY_TOO_LONG, "longer than {most} bytes")
MSG(QUERY_TOO_MANY, "more than {most} words and phrases")
MSG(QUERY_TOO_DEEP, "parentheses are nested deeper than {most}")
MSG(QUERY_NEGATIVE, "this would find every paper without a word: join it by AND to one "
    "that must be there")
MSG(QUERY_CONTROL, "a control character stands here")
MSG(QUERY_INVISIBLE, "an invisible character (U+{code}) stands here: type the word again, "
    "without it")
MSG(QUERY_UTF8, "the text is not valid UTF-8 from here on")
MSG(QUERY_QUOTE_FIRST, "the quotation mark {mark} has no first one before it")
MSG(QUERY_QUOTE_SECOND, "the quotation mark {mark} has no second one")
MSG(QUERY_QUOTE_OTHER, "the quotation mark {mark} may begin another phrase: use straight "
    "ones, as in \"state space\"")
MSG(QUERY_QUOTE_APOSTROPHE, "the quotation mark {mark} may be an apostrophe: use straight "
    "ones, as in \"state space\"")
MSG(QUERY_WORD_BEFORE, "a word is missing before \"{sign}\"")
MSG(QUERY_WORD_AFTER, "a word is missing after \"{sign}\"")
MSG(QUERY_CLOSE_ALONE, "\")\" has no \"(\" before it")
MSG(QUERY_OPEN_ALONE, "\"(\" has no \")\" after it")
MSG(QUERY_GROUP_EMPTY, "there is nothing between \"(\" and \")\"")
MSG(QUERY_CARET, "\"^\" (a weight) stands once, directly behind a word or a group")
MSG(QUERY_COMMA, "a comma joins nothing: a space means AND, write OR for either")
MSG(QUERY_COLON, "a field's name is wanted before \":\"")
MSG(QUERY_NOT_TWICE, "one NOT is enough")
MSG(QUERY_NEAR_WEIGHT, "a weight stands behind all that NEAR joins: a NEAR b^2")
MSG(QUERY_WEIGHT, "a weight is a number from 1 to {most}")
MSG(QUERY_NEAR_DISTANCE, "the words between are a number from 1 to {most}")
MSG(QUERY_NEAR_FIELD, "NEAR is for title, abstract and text, not for \"{field}:\"")
MSG(QUERY_NEAR_OPERAND, "NEAR joins words, phrases and prefixes, nothing else")
MSG(QUERY_NEAR_CLOSE, "\")\" is wanted behind the number of words")
MSG(QUERY_NEAR_FEW, "NEAR joins two words or more")
MSG(QUERY_NEAR_CHAIN, "a chain of NEAR has one distance")
MSG(QUERY_NUMBER_AFTER, "a number is wanted after \"{after}\"")
MSG(QUERY_DIGITS, "a number has at most {most} digits")
MSG(QUERY_BELOW_ZERO, "no number is below 0")
MSG(QUERY_RANGE, "the range ends before it begins")
MSG(QUERY_COMPARISON, "a comparison such as >=10 or a range such as 10..20 is wanted after "
    "\"{field}:\"")
MSG(QUERY_STAR_END, "\"*\" stands only at the end of a word or of a phrase")
MSG(QUERY_PREFIX_SHORT, "at least {least} letters are wanted before \"*\"")
MSG(QUERY_PHRASE_EMPTY, "the phrase is empty")
MSG(QUERY_SIGN_ALONE, "\"{sign}\" must stand directly before its word")
MSG(QUERY_NO_ALNUM, "there is no letter or digit in \"{text}\"")
MSG(QUERY_SIGN_FIRST, "\"{sign}\" may follow a word, not stand before it")
MSG(QUERY_EXACT_ONE, "\"=\" (these very letters) stands before one whole word")
MSG(QUERY_EXACT_DIRECT, "\"=\" (these very letters) stands directly before its word")
MSG(QUERY_EXACT_FIELD, "\"=\" (these very letters) is for words, not for \"{field}:\"")
MSG(QUERY_FIELD, "there is no field \"{text}\"; the nearest is \"{nearest}\"")
MSG(QUERY_WANTS_WORDS, "a word, a phrase or \"(\" is wanted right after \"{field}:\"")
MSG(QUERY_WANTS_CATEGORY, "a category such as cs.CL or cs is wanted right after \"{field}:\"")
MSG(QUERY_WANTS_VALUE, "a value is wanted right after \"{field}:\"")
MSG(QUERY_WANTS_NUMBER, "a number is wanted after \"{field}:\"")
MSG(QUERY_WANTS_DATE, "a day such as 2026-07-31 or a time such as 7d is wanted after "
    "\"{field}:\"")
MSG(QUERY_NOT_BEFORE_FIELD, "\"{sign}\" stands before the field's name: {sign}{field}:")
MSG(QUERY_COLON_TWICE, "a second \":\" follows after \"{field}:\"; one field a word, and a "
    "value that has a \":\" in quotes")
MSG(QUERY_COMPARES_NOTHING, "a comparison follows the name of a number's field")
MSG(QUERY_NAME_STAR, "names are whole words: no \"*\"")
MSG(QUERY_NAME_COMMA, "a last name is wanted before the comma")
MSG(QUERY_NAME_NONE, "there is no name in \"{text}\"")
MSG(QUERY_NO_DAY, "there is no day {text} in the calendar")
MSG(QUERY_DATE_COMPARISON, "days have ranges, no comparisons: 2026-07.. or ..2026-07")
MSG(QUERY_DATE, "a day such as 2026-07-31 or 2026-07, or a time such as 7d, 2w, 3m, 1y is "
    "wanted")
MSG(QUERY_CATEGORY, "arXiv has no category \"{text}\"; the nearest is \"{nearest}\"")
MSG(QUERY_CHOICE, "\"{field}:\" is one of {all}; the nearest to \"{text}\" is \"{nearest}\"")
MSG(QUERY_SOURCE_STAR, "the name of a source is whole: no \"*\"")
MSG(QUERY_VALUE_STAR, "\"*\" stands only at the end of a value")

/* ---- filters: warnings ---- */

MSG(WARN_OPERATOR, "column {column}: \"{word}\" is searched as a word; meant {operator}?")
MSG(WARN_BRACKET, "column {column}: \"{sign}\" is not searched; a field stands before its "
    "word, as in title:diffusion")
MSG(WARN_WILDCARD, "column {column}: \"{sign}\" is not searched; other endings are found by "
    "\"*\", as in quantiz*")
MSG(WARN_COMPARISON, "column {column}: \"{sign}\" is not searched; a number is asked for with "
    "a colon, as in upvotes:>=20")
MSG(WARN_PERCENT, "column {column}: \"{sign}\" is not searched; what an address of the web "
    "has with \"%\" is typed as it is")
MSG(WARN_SINGLE_QUOTE, "column {column}: this quotation mark is not searched; phrases stand in "
    "\"double ones\"")
MSG(WARN_GROUP, "column {column}: \"(\" begins a group here; a value that has one stands in "
    "quotes")
MSG(WARN_AMPERSAND, "column {column}: \"&\" is AND here; for a name such as \"R&D\" use quotes")

/* ---- filters: suggestions ---- */

MSG(NOTE_NO_SOURCE, "no source is called '{name}' so far; there are: {all}")
MSG(NOTE_NO_ARXIV, "arXiv has told nothing so far: until it does, categories, comment, "
    "journal and doi can never be decided and count as missing after two hours")
MSG(NOTE_LATE_NOT, "papers come up to {days} days late: until then a source can make this "
    "false: {clauses}")
MSG(NOTE_RELATIVE_DATE, "a relative date is measured from the day on which a paper was "
    "first seen; for the last week write date:{day}..")
MSG(NOTE_LATE_DATE, "papers come up to {days} days late: the date is measured from the day "
    "on which a paper is first seen, and this can become known later: {clauses}")
MSG(NOTE_UNDECIDED_TRUE, "{clause} can never be decided: no source has given this for any "
    "paper so far; after {days} days it counts as true")
MSG(NOTE_UNDECIDED_FALSE, "{clause} can never be decided: no source has given this for any "
    "paper so far; after {days} days it counts as false")
MSG(NOTE_FORM_ONE, "1 more paper with {form}: add it with OR?")
MSG(NOTE_FORM_MANY, "{count} more papers with {form}: add it with OR?")
MSG(NOTE_UNKNOWN, "{word}: no paper has it")
MSG(NOTE_UNKNOWN_NEAR, "{word}: no paper has it; {near} is in {count}")
MSG(NOTE_PREFIX, "{word}*: no word begins so")
MSG(NOTE_NOTHING, "nothing in {days} days: is it what you mean?")
MSG(NOTE_NOTHING_BUT, "nothing in {days} days, but {count} in {more} days")
MSG(NOTE_MANY, "{count} a day are more than anybody reads: narrow it with another word, or "
    "NOT")
MSG(NOTE_CUT, "only the newest {most} papers were asked")

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

/* ---- settings ---- */

MSG(LINE_EMPTY, "the {what} is empty")
MSG(LINE_LONG, "the {what} is too long")
MSG(LINE_UTF8, "the {what} is not UTF-8")
MSG(LINE_CONTROL, "the {what} has a control character")
MSG(DAY, "'{text}' is not a day: YYYY-MM-DD is wanted, such as 2026-12-01")
MSG(ZONE_UNKNOWN, "unknown time zone '{zone}': an IANA name such as Europe/Berlin is wanted")
MSG(ZONE_UNKNOWN_NEAR, "unknown time zone '{zone}': did you mean {nearest}?")
MSG(ZONE_AMBIGUOUS, "there are several time zones '{zone}': {all}")
MSG(MINUTE, "'{text}' is not a time of day: HH:MM is wanted, such as 07:30")
MSG(MINUTE_EITHER, "is it {morning} or {evening}? One of them is wanted")
MSG(FREQUENCY, "'{text}' is not a rhythm: now, daily, weekdays or weekly is wanted")
MSG(WEEKDAY, "'{text}' is not a day of the week: mon,tue,wed,thu,fri,sat,sun")
MSG(WEEKDAY_NONE, "at least one day of the week is wanted, such as mon")
MSG(PREFERENCE, "{key} is one of {all}, not '{text}'")
MSG(MAX, "max must be from 1 to {most}")
MSG(LANGUAGE, "a language is given by two letters, such as en or de")
MSG(PAUSE_PAST, "a pause ends on a day to come, and {day} is not: there it is {today}")
MSG(PAUSE_LONG, "a pause with an end is at most {most} days long, until {day}; without one "
    "it lasts until it is ended")
MSG(PAUSE_STATE, "{address} gets no mail that could be paused: the state is {state}")
MSG(PAUSE_NONE, "{address} is not paused: the state is {state}")

/* ---- filters of a subscriber ---- */

MSG(FILTER_NAME_NUMBER, "a filter's name cannot be a number: \"{name}\" would mean the filter "
    "with that number")
MSG(FILTER_NAME_TAKEN, "the name \"{name}\" is in use: filter {number} has it; choose another "
    "one")
MSG(FILTER_LIMIT, "a person can have {most} filters, and that many are there")
MSG(FILTER_SAME, "filter {number} is the same: {filter}")
MSG(FILTER_NONE, "there is no filter {number}")

/* ---- subscribers and addresses ---- */

MSG(PERSON_NONE, "{address} is not a subscriber")
MSG(PERSON_ALREADY, "this address is a subscriber already")
MSG(PERSON_CONSENT, "how the person agreed is wanted, in words: the consent")
MSG(ADDRESS_TAKEN, "this address cannot be used: somebody has, or had, it here")
MSG(ADDRESS_SUPPRESSED, "no mail may go to this address: it is suppressed since {day} "
    "({reason})")
MSG(ADDRESS_EMPTY, "address is empty")
MSG(ADDRESS_LONG, "address has more than {most} bytes")
MSG(ADDRESS_LONG_LOCAL, "address has more than {most} bytes before '@'")
MSG(ADDRESS_LONG_DOMAIN, "address has more than {most} bytes in its domain")
MSG(ADDRESS_LONG_LABEL, "address has more than {most} bytes in one part of its domain")
MSG(ADDRESS_LONG_NAME, "address has more than {most} bytes in its name")
MSG(ADDRESS_UTF8, "address is not valid UTF-8")
MSG(ADDRESS_BLANK, "address has a blank in it")
MSG(ADDRESS_CONTROL, "address has a control or invisible character in it")
MSG(ADDRESS_ANGLE, "address has an angle bracket in it")
MSG(ADDRESS_NO_LOCAL, "address has nothing before '@'")
MSG(ADDRESS_AT_TWICE, "address has more than one '@'")
MSG(ADDRESS_ROUTE, "address has a route ('!' or '%') before '@'")
MSG(ADDRESS_LOCAL, "address has a character that may not stand before '@'")
MSG(ADDRESS_DOTS, "address has a dot at the start, at the end, or two in a row before '@'")
MSG(ADDRESS_LABEL_EMPTY, "address has an empty part in its domain")
MSG(ADDRESS_LABEL_HYPHEN, "address has a domain with '-' at the end of a part")
MSG(ADDRESS_LABEL, "address has a character that may not stand in a domain")
MSG(ADDRESS_NO_DOMAIN, "address has nothing after '@'")
MSG(ADDRESS_BRACKETS, "address has a number in brackets instead of a domain")
MSG(ADDRESS_IDN, "address has a domain that is no international name")
MSG(ADDRESS_DOTLESS, "address has a domain without a dot")
MSG(ADDRESS_NUMBER, "address has a number instead of a domain")
MSG(ADDRESS_SOURCE_ROUTE, "address has a source route")
MSG(ADDRESS_NO_AT, "address has no '@'")
MSG(ADDRESS_NAME_QUOTE, "address has a stray quote in its name")
MSG(ADDRESS_NAME_BARE, "address has a name that wants quotes around it")
MSG(ADDRESS_NAME_UTF8, "address has a name that is not valid UTF-8")
MSG(ADDRESS_NAME_CONTROL, "address has a control character in its name")
MSG(ADDRESS_OPEN, "address has '>' without '<'")
