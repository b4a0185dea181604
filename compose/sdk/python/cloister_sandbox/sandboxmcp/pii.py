# SPDX-License-Identifier: Apache-2.0
"""Masks personal data in a text: addresses of mail, numbers of cards, US social security and telephone numbers.  By patterns, so
that it misses other forms and masks numbers that look alike."""

from __future__ import annotations

import re
from typing import Callable, List, Pattern, Tuple, Union


def _card(match: "re.Match[str]") -> str:
    """A number of 13 to 19 digits with the check digit of cards (ISO/IEC 7812)."""
    digits = [int(one) for one in match.group() if one.isdigit()]
    total = sum(sum(divmod(2 * digit, 10)) if i % 2 else digit for i, digit in enumerate(reversed(digits)))
    return "[CARD]" if total % 10 == 0 else match.group()


Mask = Union[str, Callable[["re.Match[str]"], str]]
# In this order: the digits of a card contain what looks like a telephone number.
MASKS: List[Tuple[Pattern[str], Mask]] = [
    (re.compile(r"[\w.+%-]+@(?:[\w-]+\.)+[A-Za-z]{2,}"), "[EMAIL]"),
    (re.compile(r"(?<!\d)\d(?:[ -]?\d){12,18}(?!\d)"), _card),
    (re.compile(r"(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-])"), "[SSN]"),
    (re.compile(r"(?<!\d)(?:\+\d{1,3}[ .-]?)?(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4}(?!\d)"), "[PHONE]"),
]


class PIIRedactor:
    def redact(self, text: str) -> str:
        for pattern, mask in MASKS:
            text = pattern.sub(mask, text)
        return text
