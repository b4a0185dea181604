/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decimal.c - reads numbers of JSON, compares and divides them, digit by digit.
 *
 * Trusts no text. A number is never expanded: its exponent costs neither time nor memory.
 */
#include "common/codec/decimal.h"

#include "common/base/must.h"

#include <string.h>

enum {
	DOUBLE_DIGITS = 15,    /* that every double keeps */
	DOUBLE_EXPONENT = 300, /* within which it keeps them */
	WORD_DIGITS = 18,      /* of a divisor in a word, which ten times fits in 64 bits */
	LIMB_DIGITS = 9,
	LIMB = 1000000000,
	LIMBS = DECIMAL_MOST_DIGITS / LIMB_DIGITS + 2,
	LIMBS_A_STEP = 64,
};

/* ---- reading ---- */

static const char *
pass_digits(const char *at, const char *end)
{
	while (at < end && *at >= '0' && *at <= '9')
		at++;
	return at;
}

/* The exponent at *at is added to *sum; what is far beyond the bound stays so. */
static bool
read_exponent(const char **at, const char *end, int64_t *sum)
{
	const char *digit = *at + 1;
	int64_t exponent = 0;
	bool negative = digit < end && *digit == '-';

	digit += digit < end && (*digit == '-' || *digit == '+');
	*at = pass_digits(digit, end);
	if (*at == digit)
		return false;
	for (; digit < *at; digit++)
		if (exponent < 1000LL * DECIMAL_MOST_EXPONENT)
			exponent = exponent * 10 + (*digit - '0');
	*sum += negative ? -exponent : exponent;
	return true;
}

/* Takes the digits without the zeros around them. */
static void
trim(struct decimal *d, const char *from, const char *to)
{
	while (from < to && (*from == '0' || *from == '.'))
		from++;
	for (; to > from && (to[-1] == '0' || to[-1] == '.'); to--)
		d->exponent += to[-1] == '0';
	d->digits = from;
	d->count = (size_t)(to - from);
	if (d->count == 0) {
		d->exponent = 0;
		d->negative = false;
	} else if (memchr(from, '.', d->count) != NULL) {
		d->count--;
	}
}

bool
decimal_read(struct decimal *d, const char *text, size_t size)
{
	const char *end = text + size, *first = text + (size > 0 && *text == '-');
	const char *point = pass_digits(first, end), *last = point;

	*d = (struct decimal){ .negative = first > text };
	if (point == first || (*first == '0' && point - first > 1))
		return false;
	if (point < end && *point == '.') {
		last = pass_digits(point + 1, end);
		if (last == point + 1)
			return false;
		d->exponent = point + 1 - last;
	}
	const char *at = last;
	if (at < end && (*at == 'e' || *at == 'E') && !read_exponent(&at, end, &d->exponent))
		return false;
	d->whole = at == point;
	trim(d, first, last);
	return at == end;
}

/* ---- properties ---- */

/* The number is 0.DIGITS times ten to this. */
static int64_t
magnitude(const struct decimal *d)
{
	return d->exponent + (int64_t)d->count;
}

bool
decimal_fits_double(const struct decimal *d)
{
	return d->count <= DOUBLE_DIGITS && magnitude(d) <= DOUBLE_EXPONENT &&
	       magnitude(d) > -DOUBLE_EXPONENT;
}

bool
decimal_is_integer(const struct decimal *d)
{
	return d->exponent >= 0;
}

bool
decimal_is_bounded(const struct decimal *d)
{
	return d->count <= DECIMAL_MOST_DIGITS && magnitude(d) <= DECIMAL_MOST_EXPONENT &&
	       magnitude(d) >= -DECIMAL_MOST_EXPONENT;
}

static char
next_digit(const char **at)
{
	*at += **at == '.';
	return *(*at)++;
}

void
decimal_digits(const struct decimal *d, char *to)
{
	const char *at = d->digits;

	for (size_t i = 0; i < d->count; i++)
		to[i] = next_digit(&at);
}

/* ---- comparison ---- */

static int
sign(const struct decimal *d)
{
	return d->count == 0 ? 0 : d->negative ? -1 : 1;
}

/* By the digits of two numbers of the same magnitude. */
static int
compare_digits(const struct decimal *a, const struct decimal *b)
{
	size_t n = a->count < b->count ? a->count : b->count;
	const char *x = a->digits, *y = b->digits;

	for (size_t i = 0; i < n; i++) {
		int differ = next_digit(&x) - next_digit(&y);

		if (differ != 0)
			return differ > 0 ? 1 : -1;
	}
	return (a->count > b->count) - (a->count < b->count);
}

int
decimal_compare(const struct decimal *a, const struct decimal *b)
{
	int64_t x = magnitude(a), y = magnitude(b);

	if (sign(a) != sign(b) || a->count == 0)
		return sign(a) - sign(b);
	return sign(a) * (x != y ? (x > y) - (x < y) : compare_digits(a, b));
}

/* ---- division ---- */

static bool
is_multiple_of_word(const struct decimal *d, const struct decimal *of, size_t zeros)
{
	const char *at = of->digits;
	uint64_t divisor = 0, rest = 0;

	for (size_t i = 0; i < of->count; i++)
		divisor = divisor * 10 + (uint64_t)(next_digit(&at) - '0');
	at = d->digits;
	for (size_t i = 0; i < d->count + zeros; i++)
		rest =
		    (rest * 10 + (i < d->count ? (uint64_t)(next_digit(&at) - '0') : 0)) % divisor;
	return rest == 0;
}

/* A large number; the limb of the lowest digits is the first. */
struct large {
	uint32_t limbs[LIMBS];
	size_t count;
};

/* The number times ten, and a digit more; the last limb must have room. */
static void
append(struct large *number, unsigned digit)
{
	uint64_t carry = digit;

	for (size_t i = 0; i < number->count; i++) {
		carry += number->limbs[i] * 10ULL;
		number->limbs[i] = (uint32_t)(carry % LIMB);
		carry /= LIMB;
	}
}

static bool
is_less(const struct large *a, const struct large *b)
{
	for (size_t i = a->count; i-- > 0;)
		if (a->limbs[i] != b->limbs[i])
			return a->limbs[i] < b->limbs[i];
	return false;
}

/* From a number that is not less. */
static void
subtract(struct large *from, const struct large *less)
{
	int64_t borrow = 0;

	for (size_t i = 0; i < from->count; i++) {
		borrow += (int64_t)from->limbs[i] - less->limbs[i];
		from->limbs[i] = (uint32_t)(borrow < 0 ? borrow + LIMB : borrow);
		borrow = borrow < 0 ? -1 : 0;
	}
}

static bool
is_zero(const struct large *number)
{
	for (size_t i = 0; i < number->count; i++)
		if (number->limbs[i] != 0)
			return false;
	return true;
}

static bool
is_multiple_of_large(const struct decimal *d, const struct decimal *of, size_t zeros)
{
	struct large divisor = { .count = of->count / LIMB_DIGITS + 2 }, rest = divisor;
	const char *at = of->digits;

	must(divisor.count <= LIMBS);
	for (size_t i = 0; i < of->count; i++)
		append(&divisor, (unsigned)(next_digit(&at) - '0'));
	at = d->digits;
	for (size_t i = 0; i < d->count + zeros; i++) {
		append(&rest, i < d->count ? (unsigned)(next_digit(&at) - '0') : 0);
		while (!is_less(&rest, &divisor))
			subtract(&rest, &divisor);
	}
	return is_zero(&rest);
}

/* The last digit is no zero. So a smaller exponent than that of the divisor leaves a rest, and a
 * larger one helps by the twos and fives in the divisor: by no more than four for each of its
 * digits. */
bool
decimal_multiple(const struct decimal *d, const struct decimal *of, uint64_t *steps)
{
	int64_t more = d->exponent - of->exponent, most = 4 * (int64_t)of->count;
	size_t zeros = (size_t)(more < most ? more : most);

	must(of->count > 0 && of->count <= DECIMAL_MOST_DIGITS);
	if (d->count == 0 || more < 0)
		return d->count == 0;
	*steps += (d->count + zeros) * (of->count / LIMB_DIGITS + 1) / LIMBS_A_STEP;
	return of->count <= WORD_DIGITS ? is_multiple_of_word(d, of, zeros)
	                                : is_multiple_of_large(d, of, zeros);
}
