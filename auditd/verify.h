/* SPDX-License-Identifier: Apache-2.0 */
/* verify.h - follows the chain of a log over its segments, without the daemon. */
#pragma once

/* The verdict, also the exit status. */
enum verify_verdict {
	VERDICT_WHOLE,
	VERDICT_DAMAGED, /* or unreadable */
	VERDICT_USAGE,
	VERDICT_TRUNCATED,     /* the log has fewer records than the checkpoint */
	VERDICT_REWRITTEN,     /* the checkpoint's record has another seal */
	VERDICT_OTHER_KEY,     /* another key signed the checkpoint */
	VERDICT_BAD_SIGNATURE, /* or the text is not a checkpoint */
	VERDICT_REMOVED,       /* the checkpoint's record is in a segment that was removed */
};

/*
 * --verify LOG [--since=CHECKPOINT] [--key=KEY]; argv[0] is the flag.  LOG is a directory, or
 * audit.log in one: all segments there; or one segment.  Prints the number of records, the last
 * seal, and which records are absent.  With a checkpoint (the text, or @ and a file name), prints
 * whether the log still holds it.  KEY has the form that --public-key prints; the default is the
 * file audit.pub beside the log.
 */
int verify_main(int argc, char **argv);
