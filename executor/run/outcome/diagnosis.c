/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diagnosis.c - diagnosis of a failed program from its own exception, or from the end of its
 * stderr.
 *
 * Both are hostile input: a program that lies gets the hint for the failure that it pretended.
 */
#include "executor/run/outcome/diagnosis.h"

#include "executor/run/outcome/missing.h"

#include "common/base/auto.h"
#include "common/base/utf8.h"

#include <string.h>

enum {
	MAX_LINE = 1024, /* of stderr */
};

/* Did fork fail?  The cgroup does not always count a refused fork. */
static bool
cannot_fork(const char *type, const char *text)
{
	if (strcmp(type, "RuntimeError") == 0)
		return strcmp(text, "can't start new thread") == 0;
	if (strcmp(type, "BlockingIOError") == 0)
		return strcmp(text, "[Errno 11] Resource temporarily unavailable") == 0;
	return strncmp(text, "spawn", 5) == 0 && strstr(text, " EAGAIN") != NULL;
}

static enum err_code
code_of_exception(const char *type, const char *text)
{
	if (cannot_fork(type, text))
		return ERR_too_many_processes;
	if (strcmp(type, "MemoryError") == 0)
		return ERR_out_of_memory;
	if (strstr(text, "[Errno 28]") != NULL || strncmp(text, "ENOSPC", 6) == 0 ||
	    strcmp(text, "database or disk is full") == 0) /* SQLite */
		return ERR_disk_full;
	return ERR_program_failed;
}

struct line {
	char text[MAX_LINE];
};

/* Cuts the last line that is not empty off *err and returns it, or its end if it is too long. */
static struct line
take_line(struct blob *err)
{
	const char *text = err->data;
	size_t end = err->size, start;
	struct line line = { { 0 } };

	while (end > 0 && (text[end - 1] == '\n' || text[end - 1] == ' '))
		end--;
	for (start = end; start > 0 && text[start - 1] != '\n' && end - start < MAX_LINE - 1;)
		start--;
	if (end > start)
		memcpy(line.text, text + start, end - start);
	err->size = start;
	return line;
}

static struct line
last_line(const struct blob *err)
{
	struct blob rest = *err;

	return take_line(&rest);
}

/* A program without exceptions reports the reason on stderr, in the words of the C library. */
static enum err_code
code_of_words(const struct blob *err)
{
	static const struct {
		const char *first, *then;
		enum err_code code;
	} all[] = {
		{ "fork", "Resource temporarily unavailable", ERR_too_many_processes },
		{ "Cannot fork", "", ERR_too_many_processes },
		{ "BlockingIOError", "Resource temporarily unavailable", ERR_too_many_processes },
		{ "can't start new thread", "", ERR_too_many_processes },
		{ "annot allocate ", "", ERR_out_of_memory },
		{ "No space left on device", "", ERR_disk_full },
	};
	const struct line line = last_line(err);

	for (size_t i = 0; i < COUNT(all); i++) {
		const char *at = strstr(line.text, all[i].first);

		if (at != NULL && strstr(at, all[i].then) != NULL)
			return all[i].code;
	}
	return ERR_program_failed;
}

enum err_code
diagnosis_code(const struct box_end *end)
{
	if (end->unreadable)
		return ERR_syntax_error;
	if (end->error_type == NULL)
		return code_of_words(&end->err);
	return code_of_exception(end->error_type, end->error_text != NULL ? end->error_text : "");
}

static bool
says_at_its_end(const struct blob *output, const char *words)
{
	size_t size = output->size < 2048 ? output->size : 2048;

	return size > 0 && memmem((const char *)output->data + output->size - size, size, words,
			       strlen(words)) != NULL;
}

bool
diagnosis_may_be_space(const struct box_end *end)
{
	return end->error_type == NULL || says_at_its_end(&end->err, "No space left on device");
}

bool
diagnosis_too_many_files(const struct box_end *end)
{
	const char *text = end->error_text;
	const struct line line = last_line(&end->err);

	if (text != NULL)
		return strstr(text, "[Errno 24]") != NULL || strncmp(text, "EMFILE", 6) == 0;
	return strstr(line.text, "Too many open files") != NULL;
}

/* ---- bash's messages about the code itself ---- */

static const struct {
	const char *start, *end; /* of the message */
	int exit_code;           /* 0: any */
	bool unreadable;
} complaints[] = {
	{ "syntax error", "", 0, true },
	{ "unexpected EOF", "", 0, true },
	{ "conditional ", "", 2, true },
	{ "", ": bad substitution", 0, false },
	{ "", ": unbound variable", 0, false },
	{ "", "", 126, false },
	{ "", "", 127, false },
};

/* The text after "code.sh: line 4: ", in a session "/tmp/.code: line 4: ", or NULL. */
static const char *
text_of_code(const struct line *line, uint64_t *number)
{
	static const char program[] = "code.sh: line ", statement[] = "/.code: line ";
	bool is_program = strncmp(line->text, program, sizeof program - 1) == 0;
	const char *at = is_program ? line->text : strstr(line->text, statement);
	char *end;

	if (at == NULL)
		return NULL;
	*number = strtoul(at + (is_program ? sizeof program : sizeof statement) - 1, &end, 10);
	return *number > 0 && strncmp(end, ": ", 2) == 0 ? end + 2 : NULL;
}

/* The index of the complaint that matches; COUNT(complaints): none. */
static size_t
complaint_of(const char *text, int exit_code)
{
	size_t size = strlen(text), i;

	for (i = 0; i < COUNT(complaints); i++) {
		size_t n = strlen(complaints[i].end);

		if (strncmp(text, complaints[i].start, strlen(complaints[i].start)) == 0 &&
		    size >= n && strcmp(text + size - n, complaints[i].end) == 0 &&
		    (complaints[i].exit_code == 0 || complaints[i].exit_code == exit_code))
			break;
	}
	return i;
}

int
diagnosis_read(struct box_end *end, struct err *e)
{
	struct blob rest = end->err;
	uint64_t number = 0;

	if (end->how != BOX_EXITED || end->exit_code == 0 || end->error_type != NULL ||
	    code_of_words(&end->err) != ERR_program_failed)
		return 0;

	struct line line = take_line(&rest);
	const char *text = text_of_code(&line, &number);

	if (text != NULL && text[0] == '`') { /* a quote of the code; the message is above it */
		line = take_line(&rest);
		text = text_of_code(&line, &number);
	}

	size_t i = text != NULL ? complaint_of(text, end->exit_code) : COUNT(complaints);

	if (i == COUNT(complaints))
		return 0;
	end->unreadable = complaints[i].unreadable;
	end->error_type = strdup(end->unreadable ? "SyntaxError" : "");
	end->error_text = utf8_mend(text, strlen(text)).data;
	end->error_line = number;
	return end->error_type != NULL && end->error_text != NULL ? 0 : err_sys(e, "error");
}

/* ---- hints ---- */

#define PACKAGE NULL /* missing_hint() */
#define NO_FILE \
	"That file is not in the workspace. Send it in files, or pass the session_id of the " \
	"session that has it."
#define NO_NETWORK \
	"This run reached no network but its own loopback. Send the data in the code or in " \
	"files, " \
	"or name the domains that it needs in allowed_domains."
#define NO_SOCKET \
	"That socket cannot be made: a sandbox has TCP, UDP and Unix sockets, and none if the " \
	"operator closed its loopback. Send the data in the code or in files."
#define NO_FILES \
	"This run had no session, so it saw no session's files: pass session_id, or send the " \
	"file in files."
#define NO_PLACE \
	"Nothing of the host is visible. Files are in /workspace (also /mnt/data): pass the " \
	"session_id of the session that has the file, or send it in files."
#define NO_WRITING "Write to /workspace (also /mnt/data) or /tmp: everything else is read-only."
#define NOT_THERE \
	"There is no such file in this session. List its files with sandbox_list_artifacts, or " \
	"upload one with sandbox_upload_file."
#define NO_PROGRAM \
	"That program is not installed, and the system is read-only. Use another program or a " \
	"library of the language."
#define NO_FENCE "Send the code without the Markdown fence around it."
#define NO_DISPLAY \
	"IPython is not available, and display() needs no import. The value of the last line is " \
	"shown automatically, as are tables, pictures and open matplotlib figures."
#define NO_NOTEBOOK \
	"Notebook commands are not available. Run programs with subprocess, or pass language " \
	"shell."
#define NO_BROWSER \
	"This is Node, not a browser: there is no page and no user. Print with console.log(); " \
	"write HTML to a file."
#define NO_INPUT \
	"The program read more input than it was given: pass it in stdin (not in a session), or " \
	"put " \
	"the values into the code."
#define CALLED_PYTHON3 "Use python3: there is no program python."
#define NO_JSON \
	"Python writes True, False and None for true, false and null; json.loads() reads JSON."
#define OTHER_LANGUAGE \
	"This looks like code in another language: set language to python, node or shell."
#define TYPESCRIPT \
	"Correct the code at the line given. Node runs JavaScript: if this is TypeScript, set " \
	"language to typescript."
#define NO_WATCH \
	"A sandbox has no inotify: files cannot be watched (fs.watch). Look at them again and " \
	"again instead: fs.watchFile, CHOKIDAR_USEPOLLING=1, WATCHFILES_FORCE_POLLING=1."
#define NO_FLOCK \
	"A sandbox has no flock: use fcntl.lockf, or leave the lock out (HDF5: set " \
	"HDF5_USE_FILE_LOCKING=FALSE)."
#define IN_LOOP \
	"Code that awaits at its top level already runs in an event loop: await this coroutine, " \
	"too."

enum when {
	IT_RAN,
	NO_SESSION, /* it ran without one */
	UNREADABLE, /* it did not run */
};

/* Failures of programs that were written for an ordinary machine, not a box.  Without a hint,
 * models retry the same in other words. */
static const struct {
	const char *words; /* in the exception's text, or at the end of stderr */
	enum when when;
	const char *hint; /* or PACKAGE */
} failures[] = {
	{ "No module named 'IPython", IT_RAN, NO_DISPLAY },
	{ "name 'get_ipython' is not defined", IT_RAN, NO_NOTEBOOK },
	{ "No module named ", IT_RAN, PACKAGE },
	{ "Cannot find module '.", IT_RAN, NO_FILE },
	{ "Cannot find module '/", IT_RAN, NO_FILE },
	{ "Cannot find module ", IT_RAN, PACKAGE },
	{ "Cannot find package ", IT_RAN, PACKAGE },
	{ "externally-managed-environment", IT_RAN, PACKAGE },
	{ "Could not install packages", IT_RAN, PACKAGE },
	{ "No matching distribution found", IT_RAN, PACKAGE },
	{ "'pip', 'install'", IT_RAN, PACKAGE },            /* Python's subprocess */
	{ " syscall getaddrinfo", IT_RAN, PACKAGE },        /* npm */
	{ "Missing optional dependency", IT_RAN, PACKAGE }, /* pandas */
	{ "Name or service not known", IT_RAN, NO_NETWORK },
	{ "name resolution", IT_RAN, NO_NETWORK },
	{ "getaddrinfo", IT_RAN, NO_NETWORK },
	{ "Could not resolve host", IT_RAN, NO_NETWORK },
	{ "Network is unreachable", IT_RAN, NO_NETWORK },
	{ "connect ENETUNREACH", IT_RAN, NO_NETWORK },
	{ "_socket.socket.__init__", IT_RAN, NO_SOCKET },
	{ "urlopen error [Errno 1]", IT_RAN, NO_SOCKET },
	{ "connect EPERM", IT_RAN, NO_SOCKET },
	{ "listen EPERM", IT_RAN, NO_SOCKET },
	{ "socket: operation not permitted", IT_RAN, NO_SOCKET }, /* Go */
	{ "ENOSYS: function not implemented, watch", IT_RAN, NO_WATCH },
	{ "inotify", IT_RAN, NO_WATCH },
	{ "[Errno 38] Function not implemented", IT_RAN, NO_FLOCK },
	{ "flock: ", IT_RAN, NO_FLOCK },
	{ "unable to lock file", IT_RAN, NO_FLOCK }, /* HDF5 */
	{ "EOF when reading a line", IT_RAN, NO_INPUT },
	{ "\nEOFError\n", IT_RAN, NO_INPUT }, /* getpass */
	{ "prompt is not defined", IT_RAN, NO_BROWSER },
	{ "alert is not defined", IT_RAN, NO_BROWSER },
	{ "document is not defined", IT_RAN, NO_BROWSER },
	{ "window is not defined", IT_RAN, NO_BROWSER },
	{ "localStorage is not defined", IT_RAN, NO_BROWSER },
	{ "name 'console' is not defined", IT_RAN, OTHER_LANGUAGE },
	{ "name 'ls' is not defined", IT_RAN, OTHER_LANGUAGE },
	{ "name 'pwd' is not defined", IT_RAN, OTHER_LANGUAGE },
	{ "name 'true' is not defined", IT_RAN, NO_JSON },
	{ "name 'false' is not defined", IT_RAN, NO_JSON },
	{ "name 'null' is not defined", IT_RAN, NO_JSON },
	{ "print is not defined", IT_RAN, OTHER_LANGUAGE },
	{ "None is not defined", IT_RAN, OTHER_LANGUAGE },
	{ "line 1: import: command not found", IT_RAN, OTHER_LANGUAGE },
	{ "line 1: from: command not found", IT_RAN, OTHER_LANGUAGE },
	{ "line 1: const: command not found", IT_RAN, OTHER_LANGUAGE },
	{ "python: command not found", IT_RAN, CALLED_PYTHON3 },
	{ "python: not found", IT_RAN, CALLED_PYTHON3 },
	{ "No such file or directory: 'python'", IT_RAN, CALLED_PYTHON3 },
	{ "exit status 127", IT_RAN, NO_PROGRAM },                  /* Python's subprocess */
	{ "err_filename)\nFileNotFoundError", IT_RAN, NO_PROGRAM }, /* Python's subprocess */
	{ "Error: spawn ", IT_RAN, NO_PROGRAM },
	{ "command not found", IT_RAN, NO_PROGRAM },
	{ "sudo: not found", IT_RAN, NO_PROGRAM },
	{ "dpkg frontend lock", IT_RAN, NO_PROGRAM },
	{ ">:1\n```", IT_RAN, NO_FENCE },
	{ "directory: '/workspace/", NO_SESSION, NO_FILES },
	{ "directory: '/workspace/", IT_RAN, NOT_THERE },
	{ "directory: '/mnt/data/", NO_SESSION, NO_FILES },
	{ "directory: '/mnt/data/", IT_RAN, NOT_THERE },
	{ "directory, open '/workspace/", NO_SESSION, NO_FILES },
	{ "directory, open '/workspace/", IT_RAN, NOT_THERE },
	{ "directory, open '/mnt/data/", NO_SESSION, NO_FILES },
	{ "directory, open '/mnt/data/", IT_RAN, NOT_THERE },
	{ "No such file or directory: '/", IT_RAN, NO_PLACE },
	{ "No such file or directory: 'C:", IT_RAN, NO_PLACE },
	{ "no such file or directory, open '/", IT_RAN, NO_PLACE },
	{ "non-existent directory: '/", IT_RAN, NO_WRITING }, /* pandas */
	{ "ead-only file system", IT_RAN, NO_WRITING },
	{ "No such file or directory", NO_SESSION, NO_FILES },
	{ "ENOENT", NO_SESSION, NO_FILES },
	{ "No such file or directory", IT_RAN, NOT_THERE },
	{ "ENOENT", IT_RAN, NOT_THERE },
	{ "'await' outside", UNREADABLE,
	    "await works only in async functions and at the top level: make the enclosing function "
	    "async, and await its calls." },
	{ "asyncio.run() cannot be called from a running event loop", IT_RAN, IN_LOOP },
	{ "This event loop is already running", IT_RAN, IN_LOOP },
	{ "no running event loop", IT_RAN,
	    "An event loop exists only if the code awaits something at its top level: await this "
	    "there, or start it from a coroutine that asyncio.run() runs." },
	{ "syntax error: ```", UNREADABLE, NO_FENCE },
	{ ": `print(", UNREADABLE, OTHER_LANGUAGE },
	{ ": `console.log(", UNREADABLE, OTHER_LANGUAGE },
	{ "/.code: line ", UNREADABLE,
	    "Correct the code at the line given. The shell has already run the lines above it." },
	{ "\n    ```", UNREADABLE, NO_FENCE },
	{ "\n    !", UNREADABLE, NO_NOTEBOOK },
	{ "\n    %", UNREADABLE, NO_NOTEBOOK },
	{ "\n    pip install ", UNREADABLE, PACKAGE },
	{ "\n    cd ", UNREADABLE, OTHER_LANGUAGE },
	{ "\n    echo ", UNREADABLE, OTHER_LANGUAGE },
	{ "\n    ls ", UNREADABLE, OTHER_LANGUAGE },
	{ "\n    mkdir -", UNREADABLE, OTHER_LANGUAGE },
	{ "\n    npm install ", UNREADABLE, PACKAGE },
	{ "\n    export ", UNREADABLE, OTHER_LANGUAGE },
	{ "\n    curl ", UNREADABLE, NO_NETWORK },
	{ "\n    var ", UNREADABLE, OTHER_LANGUAGE },
	{ "\n    const ", UNREADABLE, OTHER_LANGUAGE },
	{ "\n    let ", UNREADABLE, OTHER_LANGUAGE },
	{ "\n    function ", UNREADABLE, OTHER_LANGUAGE },
	{ ">:1\nfrom ", UNREADABLE, OTHER_LANGUAGE },
	{ ">:1\ndef ", UNREADABLE, OTHER_LANGUAGE },
	{ ">:1\nimport pandas as ", UNREADABLE, OTHER_LANGUAGE },
	{ ">:1\nimport numpy as ", UNREADABLE, OTHER_LANGUAGE },
	{ "Unexpected identifier", UNREADABLE, TYPESCRIPT },
	{ "Unexpected token ':'", UNREADABLE, TYPESCRIPT },
	{ "Missing initializer in const declaration", UNREADABLE, TYPESCRIPT },
	{ "missing ) after argument list", UNREADABLE, TYPESCRIPT },
	{ "Unexpected strict mode reserved word", UNREADABLE, TYPESCRIPT },
	{ "\nenum ", UNREADABLE, TYPESCRIPT },
};

static bool
may_be(enum when when, const struct box_end *end, bool in_session)
{
	return end->unreadable == (when == UNREADABLE) && !(when == NO_SESSION && in_session);
}

static bool
says(const struct box_end *end, const char *words)
{
	return (end->error_text != NULL && strstr(end->error_text, words) != NULL) ||
	       says_at_its_end(&end->err, words);
}

char *
diagnosis_hint(const struct box_end *end, bool in_session)
{
	for (size_t i = 0; i < COUNT(failures); i++)
		if (may_be(failures[i].when, end, in_session) && says(end, failures[i].words))
			return failures[i].hint != PACKAGE ? strdup(failures[i].hint)
			                                   : missing_hint(end, in_session);
	return NULL;
}
