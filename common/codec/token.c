/* SPDX-License-Identifier: Apache-2.0 */
/* token.c - a reader of msgpack (its specification, "formats") that trusts no byte of it. */
#include "common/codec/token.h"

/* Decodes the first byte: the type, and either the number itself or the number of bytes that
 * follow. */
static struct token
head(uint8_t first, size_t *behind)
{
	static const struct {
		uint8_t type, behind;
	} heads[] = {
		[0xc2 - 0xc0] = { TOKEN_FLAG, 0 },
		[0xc3 - 0xc0] = { TOKEN_FLAG, 0 },
		[0xcb - 0xc0] = { TOKEN_REAL, 8 },
		[0xcc - 0xc0] = { TOKEN_UINT, 1 },
		[0xcd - 0xc0] = { TOKEN_UINT, 2 },
		[0xce - 0xc0] = { TOKEN_UINT, 4 },
		[0xcf - 0xc0] = { TOKEN_UINT, 8 },
		[0xd0 - 0xc0] = { TOKEN_INT, 1 },
		[0xd1 - 0xc0] = { TOKEN_INT, 2 },
		[0xd2 - 0xc0] = { TOKEN_INT, 4 },
		[0xd3 - 0xc0] = { TOKEN_INT, 8 },
		[0xd9 - 0xc0] = { TOKEN_STR, 1 },
		[0xda - 0xc0] = { TOKEN_STR, 2 },
		[0xdb - 0xc0] = { TOKEN_STR, 4 },
		[0xdc - 0xc0] = { TOKEN_ARRAY, 2 },
		[0xdd - 0xc0] = { TOKEN_ARRAY, 4 },
		[0xde - 0xc0] = { TOKEN_MAP, 2 },
		[0xdf - 0xc0] = { TOKEN_MAP, 4 },
	};

	*behind = 0;
	if (first < 0x80)
		return (struct token){ .type = TOKEN_UINT, .n = first };
	if (first < 0x90)
		return (struct token){ .type = TOKEN_MAP, .n = first & 0x0f };
	if (first < 0xa0)
		return (struct token){ .type = TOKEN_ARRAY, .n = first & 0x0f };
	if (first < 0xc0)
		return (struct token){ .type = TOKEN_STR, .n = first & 0x1f };
	if (first >= 0xe0)
		return (struct token){ .type = TOKEN_INT, .n = (uint64_t)(int8_t)first };
	*behind = heads[first - 0xc0].behind;
	return (struct token){ .type = heads[first - 0xc0].type, .n = first & 1 };
}

int
token_read(struct token_source *s, struct token *t, struct err *e)
{
	size_t behind;

	if (s->at == s->end)
		return err_set(e, ERR_invalid_argument, "the body ends early");
	*t = head(*s->at++, &behind);
	if (behind > (size_t)(s->end - s->at))
		return err_set(e, ERR_invalid_argument, "the body ends early");
	if (behind > 0) {
		/* Sign extension: the first bit of a signed number fills all higher bits. */
		t->n = t->type == TOKEN_INT && *s->at >= 0x80 ? UINT64_MAX : 0;
		while (behind-- > 0)
			t->n = t->n << 8 | *s->at++;
	}
	if (t->type == TOKEN_INT && (int64_t)t->n >= 0)
		t->type = TOKEN_UINT;
	if (t->type == TOKEN_STR) {
		if (t->n > (size_t)(s->end - s->at))
			return err_set(e, ERR_invalid_argument, "the body ends early");
		t->text = (const char *)s->at;
		s->at += t->n;
	}
	return 0;
}
