/* SPDX-License-Identifier: Apache-2.0 */
/* decimal.h - a number of JSON as it was written, without rounding. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	DECIMAL_MOST_DIGITS = 4096,         /* of the divisor in decimal_multiple() */
	DECIMAL_MOST_EXPONENT = 1000000000, /* beyond it, exponents are not exact */
};

struct decimal {
	const char *digits; /* without zeros around them, maybe with a point within; borrowed */
	size_t count;       /* of the digits; 0: the number is zero */
	int64_t exponent;   /* of the last digit */
	bool negative;
	bool whole; /* written without a point and an exponent */
};

/* false: the text is no number of RFC 8259. The text must live as long as the decimal. */
bool decimal_read(struct decimal *, const char *text, size_t size);
/* Has it so few digits, and so small an exponent, that the nearest double has the same digits? */
bool decimal_fits_double(const struct decimal *);
bool decimal_is_integer(const struct decimal *);
/* Within the bounds above? */
bool decimal_is_bounded(const struct decimal *);
/* Less than, equal to or greater than zero. */
int decimal_compare(const struct decimal *, const struct decimal *);
/* Is the number a multiple of the other, which is not zero? *steps counts the work. */
bool decimal_multiple(const struct decimal *, const struct decimal *of, uint64_t *steps);
/* Copies the digits alone, without an end; `to` has room for all of them. */
void decimal_digits(const struct decimal *, char *to);
