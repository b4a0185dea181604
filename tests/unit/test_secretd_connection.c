/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_secretd_connection.c - a program, a server and the process between them: the secret goes to
 * a server that was verified, and nowhere else.
 */
#include "executor/secretd/authority.h"
#include "executor/secretd/connection.h"

#include "common/base/auto.h"
#include "common/base/log.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <cmocka.h>

#define NAME   "a.test"
#define SECRET "s3cret-s3cret"
#define VALUE  "Basic bWU6czNjcmV0LXMzY3JldA=="
#define GET    "GET / HTTP/1.1\r\nHost: " NAME "\r\nAuthorization: Basic eDp5\r\n\r\n"

/* What the server does after its greeting. */
enum ending { ENDS_WELL, ENDS_CUT };

static struct credential credential = { NAME, SECRET, VALUE };
static char first[] = NAME;
static const struct texts names = { (char *[]){ first }, 1 };
/* Of boxes, of the server, and of somebody else. */
static struct authority *ours, *theirs, *others;
static gnutls_certificate_credentials_t front;

struct scene {
	const char *asked;              /* the server's name in the hello */
	const struct authority *issuer; /* of the server's certificate */
	const char *answer;
	enum ending ending;
	/* what comes of it */
	int box, heard, leash;
	pid_t between, server;
	gnutls_session_t client;
	gnutls_certificate_credentials_t trusted;
	int greeted;
	char got[65536]; /* by the box */
	bool cut;
};

/* ---- TLS of both ends ---- */

static gnutls_certificate_credentials_t
trust(const struct authority *authority)
{
	const char *pem = authority_certificate(authority);
	gnutls_datum_t text = { (unsigned char *)(uintptr_t)pem, (unsigned)strlen(pem) };
	gnutls_certificate_credentials_t to;

	assert_int_equal(gnutls_certificate_allocate_credentials(&to), 0);
	assert_int_equal(gnutls_certificate_set_x509_trust_mem(to, &text, GNUTLS_X509_FMT_PEM), 1);
	return to;
}

static gnutls_session_t
greet(int sock, unsigned flags, gnutls_certificate_credentials_t credentials, const char *name,
    int *status)
{
	gnutls_session_t session;

	assert_int_equal(gnutls_init(&session, flags), 0);
	gnutls_transport_set_int(session, sock);
	gnutls_set_default_priority(session);
	gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, credentials);
	if (name != NULL)
		gnutls_server_name_set(session, GNUTLS_NAME_DNS, name, strlen(name));
	do
		*status = gnutls_handshake(session);
	while (*status < 0 && gnutls_error_is_fatal(*status) == 0);
	return session;
}

/* Answers once, and writes what it got to the pipe. */
static void
play_server(const struct scene *scene, int sock, int told)
{
	gnutls_certificate_credentials_t server;
	gnutls_session_t session;
	char data[8192];
	struct err e;
	int status;
	ssize_t n;

	if (authority_issue(scene->issuer, NAME, &server, &e) < 0)
		_exit(1);
	session = greet(sock, GNUTLS_SERVER, server, NULL, &status);
	n = status < 0 ? 0 : gnutls_record_recv(session, data, sizeof data);
	if (n > 0 && write(told, data, (size_t)n) == n)
		gnutls_record_send(session, scene->answer, strlen(scene->answer));
	if (n > 0 && scene->ending == ENDS_WELL)
		gnutls_bye(session, GNUTLS_SHUT_WR);
	_exit(0);
}

static void
play_between(int box, int server, int leash)
{
	const struct connection_plan plan = {
		.box = box,
		.server = server,
		.leash = leash,
		.credential = &credential,
		.front = front,
		.trust = trust(theirs),
		.idle_ms = 2000,
	};

	fcntl(box, F_SETFL, O_NONBLOCK);
	fcntl(server, F_SETFL, O_NONBLOCK);
	connection_serve(&plan);
	_exit(0);
}

/* ---- a scene ---- */

static void
begin(struct scene *scene)
{
	int inside[2], outside[2], told[2], leash[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, inside), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, outside), 0);
	assert_int_equal(pipe2(told, O_CLOEXEC), 0);
	assert_int_equal(pipe2(leash, O_CLOEXEC), 0);
	scene->server = fork();
	if (scene->server == 0) {
		close(outside[0]);
		close(inside[0]);
		close(inside[1]);
		play_server(scene, outside[1], told[1]);
	}
	scene->between = fork();
	if (scene->between == 0) {
		close(outside[1]);
		close(inside[0]);
		close(leash[1]);
		close(told[1]);
		play_between(inside[1], outside[0], leash[0]);
	}
	close(inside[1]);
	close(outside[0]);
	close(outside[1]);
	close(told[1]);
	close(leash[0]);
	scene->box = inside[0];
	scene->heard = told[0];
	scene->leash = leash[1];
}

static void
hello(struct scene *scene)
{
	const char *asked = scene->asked != NULL ? scene->asked : NAME;

	scene->trusted = trust(ours);
	scene->client = greet(scene->box, GNUTLS_CLIENT, scene->trusted, asked, &scene->greeted);
}

/* Everything that comes. */
static void
hear(struct scene *scene)
{
	size_t size = 0;
	ssize_t n;

	while ((n = gnutls_record_recv(
		    scene->client, scene->got + size, sizeof scene->got - 1 - size)) > 0)
		size += (size_t)n;
	scene->got[size] = '\0';
	scene->cut = n < 0;
}

static void
end(struct scene *scene, char *told, size_t room)
{
	size_t size = 0;
	ssize_t n;

	close(scene->box);
	close(scene->leash);
	assert_int_equal(waitpid(scene->between, NULL, 0), scene->between);
	assert_int_equal(waitpid(scene->server, NULL, 0), scene->server);
	while ((n = read(scene->heard, told + size, room - 1 - size)) > 0)
		size += (size_t)n;
	told[size] = '\0';
	close(scene->heard);
	gnutls_deinit(scene->client);
	gnutls_certificate_free_credentials(scene->trusted);
}

static void
play(struct scene *scene, const char *request, char *told, size_t room)
{
	if (scene->issuer == NULL)
		scene->issuer = theirs;
	if (scene->answer == NULL)
		scene->answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
	begin(scene);
	hello(scene);
	/* The other end may have closed it already. */
	if (scene->greeted == 0 &&
	    gnutls_record_send(scene->client, request, strlen(request)) == (ssize_t)strlen(request))
		hear(scene);
	end(scene, told, room);
}

/* ---- tests ---- */

static void
test_the_server_gets_the_secret(void **state)
{
	struct scene scene = { 0 };
	char told[8192];

	(void)state;
	play(&scene, GET, told, sizeof told);
	assert_string_equal(told, "GET / HTTP/1.1\r\nHost: " NAME "\r\nAuthorization: " VALUE
				  "\r\nAccept-Encoding: identity\r\n\r\n");
	assert_string_equal(scene.got, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
	assert_false(scene.cut);
}

static void
test_the_box_does_not_get_it(void **state)
{
	struct scene scene = { .answer = "HTTP/1.1 200 OK\r\n\r\n<" VALUE "|" SECRET ">" };
	char told[8192];

	(void)state;
	play(&scene, GET, told, sizeof told);
	assert_string_equal(
	    scene.got, "HTTP/1.1 200 OK\r\n\r\n<Basic **********************==|*************>");
}

static void
test_a_server_that_is_not_verified_gets_nothing(void **state)
{
	struct scene scene = { .issuer = others };
	char told[8192];

	(void)state;
	play(&scene, GET, told, sizeof told);
	assert_string_equal(told, "");
	assert_non_null(strstr(scene.got, "HTTP/1.1 502 "));
	assert_non_null(strstr(scene.got, "NOT trusted"));
}

static void
test_other_requests_get_nothing(void **state)
{
	static const struct {
		const char *request, *why;
	} requests[] = {
		{ "GET / HTTP/1.1\r\nHost: b.test\r\n\r\n", "Host is another name" },
		{ "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "not HTTP/1.1" },
		{ "POST / HTTP/1.1\r\nHost: " NAME "\r\nContent-Length: 1\r\n"
		  "Transfer-Encoding: chunked\r\n\r\n",
		    "both" },
	};
	char told[8192];

	(void)state;
	for (size_t i = 0; i < COUNT(requests); i++) {
		struct scene scene = { 0 };

		play(&scene, requests[i].request, told, sizeof told);
		assert_string_equal(told, "");
		assert_non_null(strstr(scene.got, "HTTP/1.1 400 "));
		assert_non_null(strstr(scene.got, requests[i].why));
	}
}

/* Answers could mix, so the connection just ends. */
static void
test_a_later_request_is_refused_without_words(void **state)
{
	struct scene scene = { 0 };
	char told[8192];

	(void)state;
	play(&scene, GET "GET / HTTP/1.1\r\nHost: b.test\r\n\r\n", told, sizeof told);
	assert_null(strstr(told, "b.test"));
	assert_null(strstr(scene.got, "400"));
	assert_true(scene.cut);
}

static void
test_a_hello_for_another_name(void **state)
{
	struct scene scene = { .asked = "b.test" };
	char told[8192];

	(void)state;
	play(&scene, GET, told, sizeof told);
	assert_string_equal(told, "");
	assert_null(strstr(scene.got, "200"));
}

static void
test_an_answer_that_is_cut_looks_cut(void **state)
{
	struct scene scene = { .ending = ENDS_CUT };
	char told[8192];

	(void)state;
	play(&scene, GET, told, sizeof told);
	assert_string_equal(scene.got, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
	assert_true(scene.cut);
}

/* The end of the keeper, and a time without a byte. */
static void
test_it_ends_by_itself(void **state)
{
	char told[8192];

	(void)state;
	for (int leash = 0; leash < 2; leash++) {
		struct scene scene = { .issuer = theirs, .answer = "" };

		begin(&scene);
		hello(&scene);
		assert_int_equal(scene.greeted, 0);
		if (leash == 1) {
			close(scene.leash);
			scene.leash = open("/dev/null", O_RDONLY | O_CLOEXEC);
		}
		hear(&scene);
		assert_true(scene.cut);
		end(&scene, told, sizeof told);
		assert_string_equal(told, "");
	}
}

static int
make_authorities(void **state)
{
	struct err e;

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	log_open("test", LOG_error);
	ours = authority_new(&names, &e);
	theirs = authority_new(&names, &e);
	others = authority_new(&names, &e);
	return ours == NULL || theirs == NULL || others == NULL ||
	               authority_issue(ours, NAME, &front, &e) < 0
	           ? -1
	           : 0;
}

static int
free_authorities(void **state)
{
	(void)state;
	gnutls_certificate_free_credentials(front);
	authority_free(ours);
	authority_free(theirs);
	authority_free(others);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_server_gets_the_secret),
		cmocka_unit_test(test_the_box_does_not_get_it),
		cmocka_unit_test(test_a_server_that_is_not_verified_gets_nothing),
		cmocka_unit_test(test_other_requests_get_nothing),
		cmocka_unit_test(test_a_later_request_is_refused_without_words),
		cmocka_unit_test(test_a_hello_for_another_name),
		cmocka_unit_test(test_an_answer_that_is_cut_looks_cut),
		cmocka_unit_test(test_it_ends_by_itself),
	};

	return cmocka_run_group_tests(tests, make_authorities, free_authorities);
}
