# SPDX-License-Identifier: Apache-2.0
"""records.py - names the program's file in the records of logging, which take it from the code's name.

driver.py loads this file when logging is imported.
"""

import sys


def name_files(logging):
    """Makes %(filename)s, %(module)s and %(pathname)s those of the file that __file__ has."""
    make = logging.Logger.makeRecord

    def makeRecord(self, name, level, file, *rest, **named):
        if file.startswith("<code"):
            file = getattr(sys.modules.get("__main__"), "__file__", None) or file
        return make(self, name, level, file, *rest, **named)

    logging.Logger.makeRecord = makeRecord
