# SPDX-License-Identifier: Apache-2.0
"""Variables stay between runs, a failed run does not end the session, and a snapshot brings its files back."""

from cloister_sandbox import Sandbox

with Sandbox() as sandbox, sandbox.session(ttl=600) as session:
    session.run("numbers = [3, 1, 2]").check()
    print(session.run("sorted(numbers)").result)
    failed = session.run("numbers[5]")
    print(failed.success, failed.error)
    session.upload("note.txt", "first")
    before = session.snapshot("before the change")
    session.run("open('note.txt', 'w').write('second')").check()
    session.restore(before)
    print(session.read("note.txt").decode())
