/* SPDX-License-Identifier: Apache-2.0 */
/* test_outcome.c - the report about a program that failed or exceeded a limit. */
#include "run_setup.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	struct box_end end;
	const char *type, *text, *code, *signal;
	int exit_code;
	enum event event;
} endings[] = {
	{ { .how = BOX_TIMED_OUT }, NULL, NULL, "timeout", NULL, -1, event_execution_timeout },
	{ { .how = BOX_OUT_OF_CPU, .signal = SIGKILL }, NULL, NULL, "timeout", "SIGKILL", -1,
	    event_execution_timeout },
	{ { .how = BOX_OUT_OF_MEMORY }, NULL, NULL, "out_of_memory", NULL, -1,
	    event_execution_failed },
	/* Where a statement was when it was interrupted. */
	{ { .how = BOX_TIMED_OUT, .signal = SIGINT, .error_line = 3 }, "KeyboardInterrupt", "",
	    "timeout", "SIGINT", -1, event_execution_timeout },
	{ { .how = BOX_SIGNALLED, .signal = SIGSEGV }, NULL, NULL, "killed", "SIGSEGV", -1,
	    event_execution_failed },
	{ { .how = BOX_EXITED, .exit_code = 3 }, NULL, NULL, "program_failed", NULL, 3,
	    event_execution_failed },
	{ { .how = BOX_EXITED, .exit_code = 1, .too_many_processes = true }, "BlockingIOError",
	    "[Errno 11] no", "too_many_processes", NULL, 1, event_execution_failed },
	{ { .how = BOX_EXITED, .exit_code = 1, .error_line = 7 }, "OSError",
	    "[Errno 28] No space left on device", "disk_full", NULL, 1, event_execution_failed },
	/* Where nobody counts its processes, it says so itself. */
	{ { .how = BOX_EXITED, .exit_code = 1 }, "BlockingIOError",
	    "[Errno 11] Resource temporarily unavailable", "too_many_processes", NULL, 1,
	    event_execution_failed },
	{ { .how = BOX_EXITED, .exit_code = 1 }, "RuntimeError", "can't start new thread",
	    "too_many_processes", NULL, 1, event_execution_failed },
	{ { .how = BOX_EXITED, .exit_code = 1 }, "Error", "spawn /bin/true EAGAIN",
	    "too_many_processes", NULL, 1, event_execution_failed },
	{ { .how = BOX_EXITED, .exit_code = 1 }, "RuntimeError", "x", "program_failed", NULL, 1,
	    event_execution_failed },
	{ { .how = BOX_EXITED, .exit_code = 1 }, "MemoryError", "", "out_of_memory", NULL, 1,
	    event_execution_failed },
	{ { .how = BOX_EXITED, .exit_code = 1, .unreadable = true }, "IndentationError",
	    "unexpected indent", "syntax_error", NULL, 1, event_execution_failed },
	/* What it read when it ran, as JSON, is no code. */
	{ { .how = BOX_EXITED, .exit_code = 1 }, "SyntaxError", "Unexpected end of JSON input",
	    "program_failed", NULL, 1, event_execution_failed },
	{ { .how = BOX_EXITED, .exit_code = 1 }, "ValueError", "x", "program_failed", NULL, 1,
	    event_execution_failed },
	/* What has no exceptions says so on stderr, in its last line. */
	{ { .how = BOX_EXITED, .exit_code = 1 }, NULL, "x: No space left on device\n\n",
	    "disk_full", NULL, 1, event_execution_failed },
	{ { .how = BOX_EXITED, .exit_code = 254 }, NULL,
	    "a\nbash: fork: retry: Resource temporarily unavailable\n"
	    "bash: fork: Resource temporarily unavailable\n",
	    "too_many_processes", NULL, 254, event_execution_failed },
	{ { .how = BOX_EXITED, .exit_code = 2 }, NULL, "sh: 0: Cannot fork", "too_many_processes",
	    NULL, 2, event_execution_failed },
	{ { .how = BOX_EXITED, .exit_code = 2 }, NULL,
	    "bash: xrealloc: cannot allocate 1073741824 bytes\n", "out_of_memory", NULL, 2,
	    event_execution_failed },
	{ { .how = BOX_EXITED, .exit_code = 1 }, NULL, "read: Resource temporarily unavailable",
	    "program_failed", NULL, 1, event_execution_failed },
	{ { .how = BOX_EXITED, .exit_code = 1 }, NULL, "No space left on device\nno such word\n",
	    "program_failed", NULL, 1, event_execution_failed },
	{ { .how = BOX_EXITED, .exit_code = 1 }, NULL, " \n\n", "program_failed", NULL, 1,
	    event_execution_failed },
	{ { .how = BOX_SIGNALLED, .signal = SIGTERM }, NULL, "x: No space left on device\n",
	    "killed", "SIGTERM", -1, event_execution_failed },
};

/* By an exception, or on stderr where it has none. */
static void
say_why(struct box_end *end, const char *type, const char *text)
{
	if (type == NULL && text != NULL) {
		end->err = blob_text(text);
		return;
	}
	end->error_type = type != NULL ? strdup(type) : NULL;
	end->error_text = text != NULL ? strdup(text) : NULL;
}

static void
says_why_it_failed(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(endings); i++) {
		struct fake_call *c = start((struct execute_code){ 0 });
		struct box_end how = endings[i].end;
		size_t before = fake_count(endings[i].event);

		say_why(&how, endings[i].type, endings[i].text);
		fake_make(NULL);
		fake_end_run(how);
		assert_false(c->reply.execution.success);
		assert_string_equal(c->reply.execution.error->code, endings[i].code);
		assert_int_equal(c->reply.execution.error->line, how.error_line);
		assert_int_equal(c->reply.execution.exit_code, endings[i].exit_code);
		assert_int_equal(c->reply.execution.timed_out,
		    how.how == BOX_TIMED_OUT || how.how == BOX_OUT_OF_CPU);
		if (endings[i].signal != NULL)
			assert_string_equal(c->reply.execution.signal, endings[i].signal);
		assert_int_equal(fake_count(endings[i].event), before + 1);
		fake_forget(c);
	}
	assert_int_equal(fake_count(event_resource_exceeded), 11);
}

/* The limit, what was used, and what to do. */
static const struct {
	struct box_end end;
	bool full;
	const char *type, *text, *message, *hint;
} limits[] = {
	{ { .how = BOX_OUT_OF_CPU, .signal = SIGKILL }, false, NULL, NULL,
	    "1.5 s of processor time", "max_cpu_seconds" },
	{ { .how = BOX_TIMED_OUT, .signal = SIGKILL }, false, NULL, NULL, "30 s",
	    "timeout may be at most 3600" },
	{ { .how = BOX_OUT_OF_MEMORY, .max_memory_bytes = 536900000 }, false, NULL, NULL,
	    "used more memory than its limit of 536870912 bytes; its peak was 536900000",
	    "max_ram_mb may be at most 8192" },
	{ { .how = BOX_OUT_OF_MEMORY, .locks = 16500 }, false, NULL, NULL,
	    "at least 16500 file locks (fcntl, lockf), more than",
	    "release locks that are no longer needed" },
	{ { .how = BOX_EXITED, .exit_code = 1, .max_memory_bytes = 2273280 }, false, "MemoryError",
	    "", "requested more memory than its limit of 536870912 bytes; its peak was 2273280",
	    "max_ram_mb may be at most 8192" },
	{ { .how = BOX_EXITED, .exit_code = 1, .too_many_processes = true }, false, NULL, NULL,
	    "limit of 512", "max_processes may be at most 1024" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, true, NULL, NULL,
	    "limit of 77 files and directories", "max_files 65536" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, true, "sqlite3.OperationalError",
	    "database or disk is full", "limit of 77 files and directories", "max_files 65536" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, true, "KeyError", "'b'", "'b'", "Read stderr" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, false, "OSError",
	    "[Errno 28] No space left on device",
	    "/tmp and /dev/shm together have reached their limit of 67108864 bytes",
	    "delete files in" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, false, NULL,
	    "head: error writing 'standard output': No space left on device\n",
	    "/tmp and /dev/shm together have reached their limit of 67108864 bytes", "/workspace" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, false, NULL,
	    "bash: line 1: /dev/null: Too many open files\n", "exit code 1",
	    "limit of 256 open files. Close some" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, false, "OSError",
	    "[Errno 24] Too many open files: 'x'", "Too many open files",
	    "limit of 256 open files. Close some" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, false, "ModuleNotFoundError",
	    "No module named 'requests'", "requests",
	    "with its package, which may have another name, in packages" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, false, "ModuleNotFoundError",
	    "No module named 'cv2'", "cv2",
	    "with its package, opencv-python-headless, in packages" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, false, "ModuleNotFoundError",
	    "No module named 'sklearn.svm'", "sklearn",
	    "with its package, scikit-learn, in packages" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, false, "ModuleNotFoundError",
	    "No module named 'yamlx'", "yamlx", "which may have another name" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, false, NULL,
	    "ModuleNotFoundError: No module named 'PIL'\n", "exit code 1", "pillow, in packages" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, false, NULL,
	    "ModuleNotFoundError: No module named 'PIL", "exit code 1",
	    "which may have another name" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, false, NULL,
	    "ReferenceError: document is not defined\n", "exit code 1", "not a browser" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, false, "ImportError",
	    "Missing optional dependency 'pyarrow'. Use pip or conda to install pyarrow.",
	    "pyarrow", "install_package" },
	{ { .how = BOX_EXITED, .exit_code = 127 }, false, NULL, "/bin/sh: 1: sudo: not found\n",
	    "exit code 127", "not installed" },
	{ { .how = BOX_SIGNALLED, .signal = SIGSEGV }, false, NULL, NULL, "Segmentation fault",
	    "Print its progress" },
	{ { .how = BOX_SIGNALLED, .signal = SIGSEGV }, false, NULL, "Fatal Python error\n",
	    "Segmentation fault", "look at stderr" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, false, "Error",
	    "getaddrinfo ENOTFOUND example.com", "example.com", "no network" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, false, "FileNotFoundError",
	    "[Errno 2] No such file or directory: 'a.csv'", "a.csv", "pass session_id" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, false, "FileNotFoundError",
	    "[Errno 2] No such file or directory: '/home/user/a.csv'", "a.csv",
	    "Nothing of the host" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, false, "Error",
	    "ENOENT: no such file or directory, open '/home/a'", "/home/a", "Nothing of the host" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, false, "OSError",
	    "Cannot save file into a non-existent directory: '/mnt/out'", "/mnt/out",
	    "Write to /workspace" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, false, NULL,
	    "bash: line 1: /x: Read-only file system\n", "exit code 1", "Write to /workspace" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, false, "Error",
	    "EROFS: read-only file system, open", "EROFS", "Write to /workspace" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, false, "Error", "Cannot find package 'x'",
	    "package 'x'", "in packages, or install it into a session" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, false, NULL,
	    "ERROR: Could not install packages due to an OSError: no certificates\n", "exit code 1",
	    "install_package" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, false, "Error", "Cannot find module './x.js'",
	    "module './x.js'", "not in the workspace" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, false, "URLError",
	    "<urlopen error [Errno 1] Operation not permitted>", "urlopen", "That socket" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, false, NULL,
	    "Error: listen EPERM: operation not permitted 127.0.0.1:80\n", "exit code 1",
	    "That socket" },
	{ { .how = BOX_EXITED, .exit_code = 1, .unreadable = true }, false, "SyntaxError",
	    "'await' outside async function", "'await'", "enclosing function async" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, false, "RuntimeError",
	    "asyncio.run() cannot be called from a running event loop", "asyncio.run()",
	    "await this coroutine" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, false, "RuntimeError", "no running event loop",
	    "no running event loop", "awaits something" },
	{ { .how = BOX_EXITED, .exit_code = 1, .unreadable = true }, false, "SyntaxError",
	    "no ENOENT", "no ENOENT", "at the line given" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, false, "ValueError", "'await' outside function",
	    "'await'", "Read stderr" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, false, "ValueError", "no", "no", "Read stderr" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, false, NULL, "no", "exit code 1", "Read stderr" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, false, NULL, NULL, "exit code 1",
	    "with exit code 0" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, false, "FileNotFoundError",
	    "[Errno 2] No such file or directory: '/mnt/data/a.csv'", "a.csv", "had no session" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, false, "Error",
	    "ENOENT: no such file or directory, open '/workspace/a'", "/a", "had no session" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, false, NULL,
	    "raise child_exception_type(errno_num, err_msg, err_filename)\n"
	    "FileNotFoundError: [Errno 2] No such file or directory: 'jq'\n",
	    "exit code 1", "That program" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, false, NULL, "Error: spawn jq ENOENT\n",
	    "exit code 1", "That program" },
	{ { .how = BOX_EXITED, .exit_code = 127 }, false, NULL, "jq: command not found\n",
	    "exit code 127", "That program" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, false, "ModuleNotFoundError",
	    "No module named 'IPython'", "IPython", "the last line" },
	{ { .how = BOX_EXITED, .exit_code = 1, .unreadable = true }, false, NULL,
	    "  File \"<code>\", line 1\n    ```python\n", "exit code 1", "Markdown" },
	{ { .how = BOX_EXITED, .exit_code = 1, .unreadable = true }, false, NULL,
	    "  File \"<code>\", line 1\n    pip install x\n", "exit code 1", "install_package" },
	{ { .how = BOX_EXITED, .exit_code = 1, .unreadable = true }, false, NULL,
	    "  File \"<code>\", line 1\n    const x = 1;\n", "exit code 1", "another language" },
	{ { .how = BOX_EXITED, .exit_code = 1, .unreadable = true }, false, NULL,
	    "<code>:1\ndef f():\n", "exit code 1", "another language" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, false, "NameError", "name 'ls' is not defined",
	    "'ls'", "another language" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, false, "NameError", "name 'true' is not defined",
	    "'true'", "json.loads" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, false, "ReferenceError", "None is not defined",
	    "None", "another language" },
	{ { .how = BOX_EXITED, .exit_code = 1, .unreadable = true }, false, NULL,
	    "<code>:1\nfrom math import pi\n", "exit code 1", "another language" },
	{ { .how = BOX_EXITED, .exit_code = 1, .unreadable = true }, false, NULL,
	    "  File \"<code>\", line 1\n    curl http://x\n", "exit code 1", "no network" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, false, "ReferenceError", "window is not defined",
	    "window", "not a browser" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, false, NULL, "Password:\nEOFError\n",
	    "exit code 1", "pass it in stdin" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, false, "FileNotFoundError",
	    "[Errno 2] No such file or directory: 'python'", "python", "python3" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, false, "FileNotFoundError",
	    "[Errno 2] No such file or directory: 'C:\\\\a.csv'", "a.csv", "of the host" },
	{ { .how = BOX_EXITED, .exit_code = 1 }, false, "subprocess.CalledProcessError",
	    "Command 'jq x' returned non-zero exit status 127.", "jq", "That program" },
};

/* What bash says of the code is told as other languages' drivers tell it. */
static const struct {
	int exit_code;
	const char *err, *code, *type, *message;
	uint64_t line;
	const char *hint;
} complaints[] = {
	{ 2,
	    "code.sh: line 4: syntax error near unexpected token `done'\n"
	    "code.sh: line 4: `done'\n",
	    "syntax_error", "SyntaxError", "syntax error near unexpected token `done'", 4,
	    "at the line given" },
	{ 2, "x\ncode.sh: line 12: unexpected EOF while looking for matching `''\n", "syntax_error",
	    "SyntaxError", "unexpected EOF while looking for matching `''", 12,
	    "at the line given" },
	{ 2, "code.sh: line 1: conditional binary operator expected\n", "syntax_error",
	    "SyntaxError", "conditional binary operator expected", 1, "at the line given" },
	{ 2, "code.sh: line 1: syntax error: ```\n", "syntax_error", "SyntaxError",
	    "syntax error: ```", 1, "Markdown" },
	{ 2,
	    "code.sh: line 1: syntax error near unexpected token `1'\n"
	    "code.sh: line 1: `print(1)'\n",
	    "syntax_error", "SyntaxError", "syntax error near", 1, "another language" },
	{ 127, "code.sh: line 1: import: command not found\n", "program_failed", NULL,
	    "import: command not found", 1, "another language" },
	{ 127, "code.sh: line 3: python: command not found\n", "program_failed", NULL,
	    "python: command not found", 3, "python3" },
	{ 127, "code.sh: line 2: f\xff: command not found\n", "program_failed", NULL,
	    "f\xef\xbf\xbd: command not found", 2, "That program" },
	{ 1, "/tmp/.code: line 3: nope: unbound variable", "program_failed", NULL,
	    "nope: unbound variable", 3, "stderr" },
	{ 126, "code.sh: line 3: /bin/x: Cannot allocate memory", "out_of_memory", NULL, "memory",
	    0, "memory" },
	/* What ended it came later, or is another shell's. */
	{ 1, "/tmp/.code: line 2: foo: command not found\n", "program_failed", NULL, "exit code 1",
	    0, "That program" },
	{ 127, "/tmp/.code: line 2: foo: command not found\nx\n", "program_failed", NULL,
	    "exit code 127", 0, "That program" },
	{ 2, "bash: -c: line 2: syntax error: unexpected end of file\n", "program_failed", NULL,
	    "exit code 2", 0, "stderr" },
	{ 2, "/tmp/.code: line 4: `done'\n", "program_failed", NULL, "exit code 2", 0, "stderr" },
	{ 2, "a code.sh: line 1: syntax error\n", "program_failed", NULL, "exit code 2", 0,
	    "stderr" },
	{ 2, "/tmp/.code: line : syntax error\n", "program_failed", NULL, "exit code 2", 0,
	    "stderr" },
};

static void
tells_what_a_shell_says_of_the_code(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(complaints); i++) {
		struct fake_call *c = start((struct execute_code){ 0 });
		struct box_end how = { .how = BOX_EXITED, .exit_code = complaints[i].exit_code };
		const struct problem *error;

		how.err = blob_text(complaints[i].err);
		fake_make(NULL);
		fake_end_run(how);
		error = c->reply.execution.error;
		assert_string_equal(error->code, complaints[i].code);
		assert_non_null(strstr(error->message, complaints[i].message));
		assert_non_null(strstr(error->hint, complaints[i].hint));
		assert_int_equal(error->line, complaints[i].line);
		assert_int_equal(error->type != NULL, complaints[i].type != NULL);
		if (error->type != NULL)
			assert_string_equal(error->type, complaints[i].type);
		fake_forget(c);
	}
}

static void
tells_limits(void **state)
{
	struct resource_limits asked = { .max_cpu_seconds = 1.5, .max_files = 77 };

	(void)state;
	for (size_t i = 0; i < COUNT(limits); i++) {
		struct fake_call *c = start((struct execute_code){ .resource_limits = &asked });
		struct box_end how = limits[i].end;

		say_why(&how, limits[i].type, limits[i].text);
		fake.full = limits[i].full;
		fake_make(NULL);
		fake_end_run(how);
		assert_non_null(strstr(c->reply.execution.error->message, limits[i].message));
		assert_non_null(strstr(c->reply.execution.error->hint, limits[i].hint));
		fake_forget(c);
	}
}

/* Where the operator allows no packages. */
static void
tells_no_tool_that_is_refused(void **state)
{
	struct fake_call *c = start((struct execute_code){ 0 });
	struct box_end how = { .how = BOX_EXITED, .exit_code = 1 };

	(void)state;
	options.packages = false;
	say_why(&how, "ModuleNotFoundError", "No module named 'cv2'");
	fake_make(NULL);
	fake_end_run(how);
	assert_null(strstr(c->reply.execution.error->hint, "install_package"));
	assert_non_null(strstr(c->reply.execution.error->hint, "with pip or npm"));
	fake_forget(c);
}

/* 0.000478, and not 0.00047799999999999996. */
static void
tells_the_time_in_few_digits(void **state)
{
	struct fake_call *c = start((struct execute_code){ 0 });
	struct box_end how = ended_well("");

	(void)state;
	how.wall_ms = 0.478;
	fake_make(NULL);
	fake_end_run(how);
	assert_true(fabs(c->reply.execution.execution_time - 0.000478) < 1e-20);
	fake_forget(c);
}

static void
tells_a_limit_of_what_went_well(void **state)
{
	struct fake_call *c = start((struct execute_code){ 0 });

	(void)state;
	fake.full = true;
	fake_make(NULL);
	fake_end_run(ended_well(""));
	assert_true(c->reply.execution.success);
	assert_non_null(strstr(c->reply.execution.notes.items[0], "disk_full"));
	fake_forget(c);
}

/* Mended, bytes take three times their room: what is over a page's bound is the middle. */
static void
cuts_what_grows_when_it_is_mended(void **state)
{
	const size_t size = 10485760,
		     half = (size - strlen("[... the middle was left out ...]")) / 2;
	struct fake_call *c = start((struct execute_code){ 0 });
	struct box_end how = { .how = BOX_EXITED, .out = { malloc(size), size } };
	const struct blob *page = &c->reply.execution.stdout;

	(void)state;
	assert_non_null(how.out.data);
	memset(how.out.data, 0xff, size);
	memset(how.out.data, 'a', 4);
	memset((char *)how.out.data + size - 4, 'z', 4);
	fake_make(NULL);
	fake_end_run(how);
	fake_thread();
	assert_true(c->reply.execution.stdout_truncated);
	assert_in_range(page->size, size - 6, size);
	assert_memory_equal(page->data, "aaaa\xef\xbf\xbd\xef", 8);
	assert_memory_equal((char *)page->data + page->size - 8, "\xbd\xef\xbf\xbdzzzz", 8);
	assert_in_range((size_t)((char *)memmem(page->data, page->size, "[... the middle", 15) -
				 (char *)page->data),
	    half - 3, half);
	fake_forget(c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(says_why_it_failed, begin, end),
		cmocka_unit_test_setup_teardown(tells_what_a_shell_says_of_the_code, begin, end),
		cmocka_unit_test_setup_teardown(tells_limits, begin, end),
		cmocka_unit_test_setup_teardown(tells_no_tool_that_is_refused, begin, end),
		cmocka_unit_test_setup_teardown(tells_the_time_in_few_digits, begin, end),
		cmocka_unit_test_setup_teardown(tells_a_limit_of_what_went_well, begin, end),
		cmocka_unit_test_setup_teardown(cuts_what_grows_when_it_is_mended, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
