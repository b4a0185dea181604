/* SPDX-License-Identifier: Apache-2.0 */
/* convert.h - the conversions that rows of compat.def name. */
#pragma once

#include "gateway/compat/call.h"

/* ---- of any value ---- */
call_convert convert_same;  /* containers are copied */
call_convert convert_none;  /* nothing: the row's fallback */
call_convert convert_given; /* same, but the fallback is only shown in the schema */
call_convert convert_asked; /* an argument of the call */
call_convert convert_count; /* items of a list */
call_convert convert_whole; /* a number, rounded */
call_convert convert_now;   /* the time */

/* ---- of arguments ---- */
call_convert convert_given_positive; /* a number over 0; the fallback is only shown */
call_convert convert_not_default;    /* a text other than "default" */
call_convert convert_members;        /* an object: named values of bridge_data */
call_convert convert_session;        /* an id, or a name that the client chose */
call_convert convert_session_or_new; /* the same; null: a new name */

/* ---- of runs ---- */
call_convert convert_validation;     /* of a syntax error: metadata.validation */
call_convert convert_left_out;       /* the note about a domain that is not allowed */
call_convert convert_unset;          /* the notes about secrets that are not set */
call_convert convert_outcome;        /* stderr, with the words for time-out and syntax error */
call_convert convert_blocked_import; /* of a problem */
call_convert convert_refused;        /* of a problem: a list with its text, if nothing ran */
call_convert convert_traceback;
call_convert convert_error_text;

/* ---- of sessions and files ---- */
call_convert convert_installed;    /* a sentence about packages and their session */
call_convert convert_session_name; /* the client's own name, if it chose one */
call_convert convert_status;       /* idle or running */
call_convert convert_mounted;      /* a path below /mnt/data */
call_convert convert_base_name;

/* ---- of audit records ---- */
call_convert convert_time_of_ms;
call_convert convert_action;
call_convert convert_no_value; /* false, if there is a value */
call_convert convert_one;      /* 1, if there is a value */

/* ---- of checks of code ---- */
call_convert convert_messages;      /* the message of each item */
call_convert convert_with_warnings; /* the issues, and advice as issues */
call_convert convert_verdict;
call_convert convert_fixed_code;
call_convert convert_syntax_text;
call_convert convert_program;
call_convert convert_syntax_line;
call_convert convert_syntax_offset;
call_convert convert_syntax_source;
call_convert convert_security_issues;

/* ---- of descriptions ---- */
call_convert convert_count_all; /* items of all lists of an object */
call_convert convert_memory;
call_convert convert_cpu;
call_convert convert_tools;

/* The session of that name or id, as an executor knows it; allocated with malloc. */
char *convert_session_id(const char *id);
