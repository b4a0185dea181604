/* SPDX-License-Identifier: Apache-2.0 */
/* hired.c - file helpers as children of a test; trusts that no other code waits for children. */
#include "hired.h"

#include "common/base/auto.h"
#include "common/base/loop.h"
#include "executor/builder/files/file_helper.h"
#include "executor/sandbox/builder_link.h"
#include "executor/sandbox/file_helper.h"
#include "executor/sandbox/workspace.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mount.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cmocka.h>

struct builder_request {
	pid_t pid;
	int pidfd;
	void (*ended)(void *, const struct err *);
	void *self;
};

int hired_living;
struct err hired_died = { .code = ERR_internal, .text = "killed" };

static void
on_exit_of(void *self, uint32_t events)
{
	struct builder_request *builder_request = self;
	int status;

	(void)events;
	assert_int_equal(waitpid(builder_request->pid, &status, 0), builder_request->pid);
	loop_forget(builder_request->pidfd);
	close(builder_request->pidfd);
	hired_living--;
	builder_request->ended(builder_request->self, status == 0 ? NULL : &hired_died);
	free(builder_request);
}

struct builder_request *
file_helper_start(struct workspace *workspace, int *channel,
    void (*ended)(void *, const struct err *), void *self, struct err *e)
{
	struct builder_request *builder_request = calloc(1, sizeof *builder_request);
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	builder_request->pid = fork();
	if (builder_request->pid == 0) {
		close(pair[0]);
		_exit(workspace->serve(pair[1], workspace->root));
	}
	close(pair[1]);
	assert_int_equal(fcntl(pair[0], F_SETFL, O_NONBLOCK), 0);
	*channel = pair[0];
	builder_request->ended = ended;
	builder_request->self = self;
	builder_request->pidfd = pidfd_open(builder_request->pid, 0);
	assert_int_equal(
	    loop_watch(builder_request->pidfd, EPOLLIN, on_exit_of, builder_request, e), 0);
	workspace->starts++;
	hired_living++;
	return builder_request;
}

void
builder_request_kill(struct builder_request *builder_request)
{
	kill(builder_request->pid, SIGKILL);
}

/* What takes the file queue half a minute takes half a second where a test is in a hurry. */
bool hired_hurry;

uint64_t __real_loop_after(int64_t ms, void (*fire)(void *self), void *self);
uint64_t __wrap_loop_after(int64_t ms, void (*fire)(void *self), void *self);

uint64_t
__wrap_loop_after(int64_t ms, void (*fire)(void *self), void *self)
{
	return __real_loop_after(hired_hurry && ms >= 1000 ? ms / 60 : ms, fire, self);
}

/* ---- operations, waited for ---- */

static void
was_listed(void *self, struct files_tree *tree, const struct err *e)
{
	struct outcome *o = self;

	if (tree != NULL) {
		o->tree = *tree;
		*tree = (struct files_tree){ 0 };
	} else
		o->e = *e;
	loop_stop();
}

static void
was_read(void *self, struct blob *content, const struct err *e)
{
	struct outcome *o = self;

	if (content != NULL) {
		o->content = *content;
		*content = (struct blob){ 0 };
	} else
		o->e = *e;
	loop_stop();
}

void
hired_done(void *self, const struct err *e)
{
	struct outcome *o = self;

	if (e != NULL)
		o->e = *e;
	loop_stop();
}

void
hired_wait(void)
{
	struct err e;

	assert_int_equal(loop_run(&e), 0);
}

static void
stop(void *self)
{
	(void)self;
	loop_stop();
}

void
hired_wait_ms(int64_t ms)
{
	__real_loop_after(ms, stop, NULL);
	hired_wait();
}

struct outcome
hired_list(struct workspace *w, size_t limit, uint64_t hash_limit)
{
	struct outcome o = { 0 };

	files_list(w, limit, hash_limit, was_listed, &o);
	hired_wait();
	return o;
}

struct outcome
hired_read(struct workspace *w, const char *path, uint64_t limit)
{
	struct outcome o = { 0 };

	files_read(w, path, limit, was_read, &o);
	hired_wait();
	return o;
}

struct outcome
hired_read_piece(struct workspace *w, const char *path, struct files_piece *piece)
{
	struct outcome o = { 0 };

	files_read_piece(w, path, piece, was_read, &o);
	hired_wait();
	return o;
}

static void
was_told(void *self, const char *type, const struct err *e)
{
	struct outcome *o = self;

	if (type != NULL)
		strcpy(o->type, type);
	else
		o->e = *e;
	loop_stop();
}

struct outcome
hired_type(struct workspace *w, const char *path)
{
	struct outcome o = { 0 };

	files_type(w, path, was_told, &o);
	hired_wait();
	return o;
}

struct err
hired_append(struct workspace *w, const char *path, const char *text, uint64_t offset)
{
	struct outcome o = { 0 };
	struct blob content = blob_text(text);

	files_append(w, path, &content, offset, hired_done, &o);
	assert_null(content.data);
	hired_wait();
	return o.e;
}

struct err
hired_write(struct workspace *w, const char *path, const char *text, bool overwrite)
{
	struct outcome o = { 0 };
	struct blob content = blob_text(text);

	files_write(w, path, &content, overwrite, hired_done, &o);
	assert_null(content.data);
	hired_wait();
	return o.e;
}

void
hired_expect(const struct err *e, enum err_code code, const char *says)
{
	if (e->code != code || strstr(e->text, says) == NULL)
		fail_msg(
		    "%s: \"%s\", not %s: \"%s\"", err_name(e->code), e->text, err_name(code), says);
}

/* ---- a directory on the host ---- */

void
hired_make_file(struct workspace *w, const char *path, const char *text)
{
	int fd = openat(w->root, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0)
		fail_msg("%s: %s", path, strerror(errno));
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* The tests end a workspace by hand. */
void
workspace_at_end(struct workspace *w, void (*leave)(const struct workspace *))
{
	assert_ptr_equal(leave, file_queue_leave);
	assert_non_null(w);
}

int
hired_setup(void **state)
{
	struct workspace *w = calloc(1, sizeof *w);

	strcpy(w->path, "/tmp/cloister-files-XXXXXX");
	assert_non_null(mkdtemp(w->path));
	w->root = open(w->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	w->serve = file_helper_serve;
	*state = w;
	return 0;
}

int
hired_teardown(void **state)
{
	struct workspace *w = *state;
	pid_t pid;

	file_queue_leave(w);
	while (hired_living > 0) {
		hired_wait_ms(5);
	}
	close(w->root);
	umount2(w->path, MNT_DETACH);
	if ((pid = fork()) == 0)
		_exit(execl("/bin/rm", "rm", "-rf", w->path, NULL));
	waitpid(pid, NULL, 0);
	free(w);
	return 0;
}
