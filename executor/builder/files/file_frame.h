/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_frame.h - what the executor and a file helper say to each other about the files of a
 * workspace.
 *
 * A file frame is one packet: a head, then path_size bytes of a path, then tail_size bytes of
 * content or of a link's target.  Paths are real bytes without a zero byte, relative to the
 * workspace. Both sides are on one machine, so numbers are as the machine has them.
 *
 * The file helper has touched what a hostile program left: the executor checks whatever it says.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum file_frame_kind {
	/* Orders.  Each is answered by DONE, but those marked * only if they fail. */
	FILE_FRAME_LIST = 1, /* at most limit names; files of at most size bytes are hashed */
	FILE_FRAME_READ,  /* path: DATA of a file from offset on; limit bytes, or 0: all, up to size
	                   */
	FILE_FRAME_TYPE,  /* path: DATA with the media type of a regular file */
	FILE_FRAME_WRITE, /* path; size bytes of content follow as DATA; overwrite, mode */
	FILE_FRAME_APPEND, /* path of a file of offset bytes; size more follow as DATA */
	FILE_FRAME_FILE,   /* * the same while a workspace is filled, with mtime_ns */
	FILE_FRAME_MKDIR,  /* * path */
	FILE_FRAME_LINK,   /* * path, tail: its target; mtime_ns */
	FILE_FRAME_STAMP,  /* * path of a directory that is complete; mode, mtime_ns */
	FILE_FRAME_SYNC,   /* is all of this done? */
	/* Both ways */
	FILE_FRAME_DATA, /* tail: the next bytes of a file */
	/* Answers */
	FILE_FRAME_ENTRY,   /* path, type, mode, mtime_ns; size, digest if hashed; tail: target */
	FILE_FRAME_SKIPPED, /* path, fault: why it is no entry */
	FILE_FRAME_DONE, /* fault; truncated: there are more than limit names; size of the file */
	FILE_FRAME_KINDS
};

enum file_frame_type {
	FILE_FRAME_REGULAR,
	FILE_FRAME_DIRECTORY,
	FILE_FRAME_SYMLINK,
	FILE_FRAME_TYPES
};

/* Why not.  A file helper sends no text: the executor has one for each. */
enum file_frame_fault {
	FILE_FRAME_OK,
	FILE_FRAME_ABSENT,        /* no such name */
	FILE_FRAME_IS_LINK,       /* a symbolic link, there or on the way */
	FILE_FRAME_IS_DIRECTORY,  /* where a file is meant */
	FILE_FRAME_IS_SPECIAL,    /* FIFO, socket or device */
	FILE_FRAME_NOT_DIRECTORY, /* a file on the way to it */
	FILE_FRAME_EXISTS,        /* and is not to be overwritten */
	FILE_FRAME_TOO_LARGE,     /* more bytes than asked for */
	FILE_FRAME_TOO_LONG,      /* its path, or a name in it */
	FILE_FRAME_NO_ROOM,       /* bytes or files of the workspace are used up */
	FILE_FRAME_NO_ACCESS,     /* the program that made it took the permissions away */
	FILE_FRAME_MISPLACED,     /* the file does not have offset bytes, but size */
	FILE_FRAME_FAILED,        /* anything else */
	FILE_FRAME_FAULTS
};

struct file_frame_head {
	uint32_t kind, path_size, tail_size;
	uint32_t type, mode, fault;
	uint32_t overwrite, hashed, truncated; /* 0 or 1 */
	uint32_t unused;
	uint64_t size, limit, offset;
	int64_t mtime_ns;
	uint8_t digest[32];
};

enum {
	FILE_FRAME_MAX_PATH = 4096, /* of a path or target, with the zero byte it does not carry */
	FILE_FRAME_MAX_REST = (64 << 10) - sizeof(struct file_frame_head),
};

struct file_frame {
	struct file_frame_head head;
	uint8_t rest[FILE_FRAME_MAX_REST];
};

/* Puts path and tail behind the head; false if they are too long.  A tail that already is in its
 * place is not moved. */
bool file_frame_pack(struct file_frame *, const char *path, const void *tail, size_t size);
/* Where the tail is. */
uint8_t *file_frame_tail(struct file_frame *);
/* A copy of the path, with a zero byte behind it. */
void file_frame_path(const struct file_frame *, char path[FILE_FRAME_MAX_PATH]);

/* One whole file frame: 1, or -1 with errno. */
int file_frame_send(int fd, const struct file_frame *);
/* 1; 0 at the end of the channel; -1 with errno: EBADMSG for one whose sizes, path, kind or numbers
 * with few values are not what they may be. */
int file_frame_receive(int fd, struct file_frame *);
