/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connection.c - requests of a box to its bound server, with the header, and the answers back.
 *
 * Theory of operation.  First the box is greeted, then the server, whose certificate is verified
 * before a byte of the secret is sent.  Then bytes move in both directions.  Each direction has one
 * buffer, and reads only when that is empty: so a slow reader slows its writer.  A request that is
 * refused is answered if nothing was sent to the server before; else answers could mix.
 *
 * Trusts neither side.
 */
#include "executor/secretd/connection.h"

#include "common/base/auto.h"
#include "common/base/log.h"
#include "common/base/loop.h"
#include "executor/secretd/echo.h"
#include "executor/secretd/request.h"
#include "executor/secretd/tls.h"

#include <poll.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

enum {
	PIECE = 16384, /* a record of TLS */
};

/* What one step came to. */
enum step {
	STEP_WAITS,
	STEP_MOVED,
	STEP_ENDED,
};

static struct {
	const struct connection_plan *plan;
	gnutls_session_t box, server;
	struct request request;
	struct echo_filter echo;
	char in[PIECE]; /* of the box, not yet read by request.c */
	size_t nin, read;
	size_t sent;                   /* of request.out */
	char down[PIECE + ECHO_BYTES]; /* for the box */
	size_t ndown, delivered;
	bool forwarded;    /* the server has got a byte */
	bool server_ended; /* it sends no more */
	bool whole;        /* and it said so */
	int64_t moved_ms, begun_ms;
} self;

/* ---- a refusal ---- */

/* The box sees why, if the server has seen nothing yet. */
static void
answer(int status, const char *title, const char *why)
{
	char text[1024], body[512];
	int n = snprintf(body, sizeof body, "cloister: %s: %s\n", self.plan->credential->name, why);

	n = snprintf(text, sizeof text,
	    "HTTP/1.1 %d %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n"
	    "Connection: close\r\n\r\n%s",
	    status, title, n, body);
	if (gnutls_record_send(self.box, text, (size_t)n) == n)
		gnutls_bye(self.box, GNUTLS_SHUT_WR);
}

static enum step
refuse(const struct err *e)
{
	log_warn("a request to a bound name is refused", LOG_S("name", self.plan->credential->name),
	    LOG_E(e));
	if (!self.forwarded)
		answer(400, "Bad Request", e->text);
	return STEP_ENDED;
}

/* ---- from the box to the server ---- */

/* The result of gnutls_record_send() and gnutls_record_recv(). */
static enum step
step_of(ssize_t n)
{
	if (n > 0)
		return STEP_MOVED;
	return n < 0 && gnutls_error_is_fatal((int)n) == 0 ? STEP_WAITS : STEP_ENDED;
}

static enum step
send_request(void)
{
	ssize_t n = gnutls_record_send(
	    self.server, self.request.out + self.sent, self.request.nout - self.sent);

	if (n > 0) {
		self.forwarded = true;
		self.sent += (size_t)n;
	}
	if (self.sent == self.request.nout) {
		sodium_memzero(self.request.out, self.request.nout);
		self.sent = self.request.nout = 0;
	}
	return step_of(n);
}

static enum step
read_request(void)
{
	struct err e;
	int n = request_read(&self.request, self.in + self.read, self.nin - self.read, &e);

	if (n < 0)
		return refuse(&e);
	self.read += (size_t)n;
	return STEP_MOVED;
}

static enum step
move_up(void)
{
	if (self.request.nout > 0)
		return send_request();
	if (self.read < self.nin)
		return read_request();

	ssize_t n = gnutls_record_recv(self.box, self.in, sizeof self.in);

	self.nin = n > 0 ? (size_t)n : 0;
	self.read = 0;
	return step_of(n);
}

/* ---- from the server to the box ---- */

static enum step
deliver(void)
{
	ssize_t n =
	    gnutls_record_send(self.box, self.down + self.delivered, self.ndown - self.delivered);

	self.delivered += n > 0 ? (size_t)n : 0;
	if (self.delivered == self.ndown)
		self.delivered = self.ndown = 0;
	return step_of(n);
}

static enum step
finish(void)
{
	/* An answer that was cut must not look whole. */
	if (self.whole)
		gnutls_bye(self.box, GNUTLS_SHUT_WR);
	return STEP_ENDED;
}

static enum step
move_down(void)
{
	static char piece[PIECE];

	if (self.ndown > 0)
		return deliver();
	if (self.server_ended)
		return finish();

	ssize_t n = gnutls_record_recv(self.server, piece, sizeof piece);

	if (n > 0)
		self.ndown = echo_pass(&self.echo, piece, (size_t)n, self.down);
	if (step_of(n) != STEP_ENDED)
		return step_of(n);
	self.server_ended = true;
	self.whole = n == 0;
	self.ndown = echo_end(&self.echo, self.down);
	return STEP_MOVED;
}

/* ---- both ---- */

static bool
has_time(int64_t now)
{
	return now - self.moved_ms < self.plan->idle_ms && now - self.begun_ms < CONNECTION_LIFE_MS;
}

/* false: the keeper has ended, and with it the run's right to this connection. */
static bool
wait_for_bytes(void)
{
	bool up = self.request.nout > 0, down = self.ndown > 0;
	struct pollfd all[] = {
		{ .fd = self.plan->box,
		    .events = (short)((up ? 0 : POLLIN) | (down ? POLLOUT : 0)) },
		{ .fd = self.plan->server,
		    .events = (short)((down ? 0 : POLLIN) | (up ? POLLOUT : 0)) },
		{ .fd = self.plan->leash },
	};
	int64_t left = self.plan->idle_ms - (loop_now_ms() - self.moved_ms);

	if (left > 0)
		poll(all, COUNT(all), (int)left);
	return all[2].revents == 0;
}

static void
copy(void)
{
	enum step up, down;

	self.moved_ms = self.begun_ms = loop_now_ms();
	do {
		up = move_up();
		down = up != STEP_ENDED ? move_down() : STEP_ENDED;
		if (up == STEP_MOVED || down == STEP_MOVED)
			self.moved_ms = loop_now_ms();
		else if (up == STEP_WAITS && down == STEP_WAITS && !wait_for_bytes())
			return;
	} while (up != STEP_ENDED && down != STEP_ENDED && has_time(loop_now_ms()));
}

/* The base64 without its padding: what a server decodes and encodes again has it, too. */
static void
hide(const struct credential *credential)
{
	const char *encoded = strchr(credential->value, ' ') + 1;
	size_t size = strlen(encoded);

	while (size > 0 && encoded[size - 1] == '=')
		size--;
	echo_add(&self.echo, encoded, size);
	echo_add(&self.echo, credential->password, strlen(credential->password));
}

void
connection_serve(const struct connection_plan *plan)
{
	const char *name = plan->credential->name;
	int64_t until_ms = loop_now_ms() + CONNECTION_GREET_MS;
	struct err e;

	self.plan = plan;
	if (tls_accept(plan->box, plan->front, name, until_ms, &self.box, &e) < 0) {
		log_info("a client of a bound name is refused", LOG_S("name", name), LOG_E(&e));
		return;
	}
	if (tls_connect(plan->server, plan->trust, name, until_ms, &self.server, &e) < 0) {
		log_warn("the server of a bound name is refused", LOG_S("name", name), LOG_E(&e));
		answer(502, "Bad Gateway", e.text);
		return;
	}
	request_open(&self.request, name, plan->credential->value);
	hide(plan->credential);
	copy();
}
