# SPDX-License-Identifier: Apache-2.0
"""A check of code by the server, as a ValidationResult.

Errors are what keeps the code from running: the server checks it with the profile open, because the box holds whatever a
program does.  Warnings are the server's advice, and what its rules refuse in every other profile, except for most imports.
"""

from __future__ import annotations

import re
from typing import Iterable, Iterator, List
from urllib.parse import urlsplit

from ..aio import AsyncSandbox
from ..errors import ToolError
from ..lacking import lacking
from ..result import Validation
from .models import Language, SyntaxIssue, ValidationResult, ValidationSeverity, ValidationVerdict

RULED = "basic,data_science,network,filesystem"
# The text is at fault, not the server.
REFUSED = {"invalid_argument", "limit_exceeded", "code_too_large"}
# Modules without a harmless use.  An import of others is no danger; a call of what they have is.
HARMFUL = {"ctypes", "child_process", "node:child_process"}
# Globals of Node that other profiles withhold have harmless uses, as process.argv.
NO_DANGER = {"syntax-error", "forbidden-global"}
# Advice that is about the check, or about what auto_fix did.
OF_CHECK = re.compile(r"fixed_code |auto_fix |Some operations |.*; auto_fix adds ")
ADVICE = re.compile(r"Line (\d+): (.*)", re.S)
# What the server warns of as a danger: "os.system() ...", "shell=True: ...".
DANGER = re.compile(r"[\w.]+\(\) (?!always calls itself)|\w+=(True|False): ")
URL = re.compile(r"https?://[^\s'\"<>)\]}]+")
QUOTED = 80


def domains(code: str) -> List[str]:
    """The hosts of the URLs in a text, in their order."""
    found: List[str] = []
    for url in URL.findall(code):
        try:
            host = urlsplit(url).hostname
        except ValueError:
            continue
        if host and host not in found:
            found.append(host)
    return found


def _quote(code: str, line: int) -> str:
    lines = code.splitlines()
    text = lines[line - 1].strip() if 0 < line <= len(lines) else ""
    return f": {text[:QUOTED]}" if text else ""


def _warning(code: str, language: Language, line: int, message: str, col: int = 0) -> SyntaxIssue:
    """sandboxmcp's words; the server parses Python."""
    words = "AST security warning" if language == Language.python else "Security warning"
    return SyntaxIssue(line, col, f"{words}: {message}{_quote(code, line)}", ValidationSeverity.warning)


def _errors(own: Validation, language: Language, severity: ValidationSeverity) -> Iterator[SyntaxIssue]:
    for one in own.findings:
        message = re.sub(r"^(Syntax error: )?", "SyntaxError: ", one.message) \
            if one.rule == "syntax-error" and language == Language.python else one.message
        yield SyntaxIssue(one.line, one.column, message, severity)


def _advice(own: Validation, code: str, language: Language) -> Iterator[SyntaxIssue]:
    advice = own.raw.get("recommendations")
    for text in advice if isinstance(advice, list) else []:
        found = ADVICE.fullmatch(str(text))
        line, message = (int(found.group(1)), found.group(2)) if found else (0, str(text))
        if OF_CHECK.match(message):
            continue
        if language != Language.python and found or DANGER.match(message):
            yield _warning(code, language, line, message)
        else:
            yield SyntaxIssue(line, 0, message, ValidationSeverity.warning)


def _dangers(ruled: Validation, code: str, language: Language) -> Iterator[SyntaxIssue]:
    for one in ruled.findings:
        module = re.search(r"'(.*?)'", one.message)
        harmless = one.rule == "forbidden-import" and (module is None or module.group(1).partition(".")[0] not in HARMFUL)
        if one.rule not in NO_DANGER and not harmless:
            message = re.sub(r"^'(\w+)' is", r"\1() is", one.message) if one.rule == "forbidden-call" else one.message
            yield _warning(code, language, one.line, f"{message} by the rules of the profiles", one.column)


def _edits(own: Validation) -> List[str]:
    """The word "imports" is sandboxmcp's."""
    edits = own.raw.get("edits")
    texts = [str(edit.get("message", "")) for edit in edits if isinstance(edit, dict)] if isinstance(edits, list) else []
    return [re.sub(r"^added '(.*import .*)'$", r"Auto-added imports: \1", text) for text in texts]


async def check(sandbox: AsyncSandbox, code: str, language: Language, auto_fix: bool = True, reject_dangerous: bool = False,
                disabled: Iterable[str] = ()) -> ValidationResult:
    """reject_dangerous refuses Python code for its security warnings, as in sandboxmcp.  disabled: words of warnings that do not
    count."""
    if not code:
        return ValidationResult(language=language)
    try:
        own = await sandbox.validate(code, language=language.value, profile="open", auto_fix=auto_fix)
        fixed = own.fixed_code or code
        ruled = await sandbox.validate(fixed, language=language.value, profile=RULED)
    except ToolError as error:
        if error.code == "runtime_missing":
            raise lacking("validate_code") from error
        if error.code not in REFUSED:
            raise
        issue = SyntaxIssue(message=error.message)
        return ValidationResult(False, ValidationVerdict.rejected, [issue], [], code, code, language)
    # What auto_fix corrected is no error any more.
    runs = own.valid or fixed != code and all(one.rule != "syntax-error" for one in ruled.findings)
    errors = list(_errors(own, language, ValidationSeverity.warning if runs else ValidationSeverity.error))
    advice = list(_advice(own, fixed, language))
    others = [one for one in advice if "ecurity warning" not in one.message]
    dangers = [one for one in [*advice, *_dangers(ruled, fixed, language)]
               if one not in others and not any(word.rstrip("()") in one.message for word in disabled)]
    refused = reject_dangerous and language == Language.python and bool(dangers)
    return _result(own, code, language, [*errors, *others, *dangers], runs and not refused)


def _result(own: Validation, code: str, language: Language, issues: List[SyntaxIssue], valid: bool) -> ValidationResult:
    fixed = own.fixed_code is not None and own.fixed_code != code
    verdict = ValidationVerdict.rejected if not valid else ValidationVerdict.fixed if fixed else ValidationVerdict.passed
    fixes, hosts = _edits(own) if fixed else [], domains(code)
    if hosts and language != Language.shell:
        fixes.append(f"Detected domains: {', '.join(hosts)}")
    return ValidationResult(valid, verdict, issues, fixes, code, own.fixed_code or code, language)
