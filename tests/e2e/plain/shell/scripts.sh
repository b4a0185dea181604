# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=all
# A program is a script, and knows it.
#: program a main function that runs unless the file is sourced
main() { echo "main $# ${FUNCNAME[*]}"; }
if [[ "${BASH_SOURCE[0]}" == "$0" ]]; then main "$@" x; fi
[ "$0" = "$BASH_SOURCE" ] && echo script
(return 0 2>/dev/null) && echo sourced || echo executed
#: program the directory of the script
cd "$(dirname "$0")" && pwd
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"; echo "$here" "$(basename "$0")" "${0##*/}"
echo "Usage: $0 [-h] FILE"; declare -p OLDPWD; cd -
#: program where a function is called
die() { echo "${BASH_SOURCE[1]}:${BASH_LINENO[0]}: $1" >&2; caller 0; exit 3; }
work() {
	die "no such thing"
}
declare -p BASH_SOURCE BASH_LINENO BASH_ARGC BASH_ARGV FUNCNAME
work
#: program a stack at an error
set -Eeuo pipefail
trap 'echo "line $LINENO: $BASH_COMMAND: ${FUNCNAME[*]} ${BASH_LINENO[*]}"' ERR
inner() { false; }
outer() { inner; }
outer
#: program a trap for each command
trap 'echo "$LINENO: $BASH_COMMAND"' DEBUG
f() { :; }
f; g=1
trap - DEBUG
#: program an error in an assignment
declare -i n
n=1#x
echo "after $? $n"
readonly r=1
r=2
echo "after $?"
#: program return outside of a function
return 3
echo "after $?"
#: program set -x from the first line to the last
set -x
f() { local v=$1; echo $((v + 1)); }
f "$(echo 1)"
(cd / && pwd)
PS4='$LINENO> '; : marked
#: program a syntax error in one line
echo "open
#: program a syntax error in a line of its own
fi
#: program a syntax error after some lines
echo one
if true; then echo two
done
#: program a first line that is a comment
#!/bin/bash
echo "$LINENO" "$BASH_SUBSHELL" "$-" "$#"
#: program a here-document that begins in the first line
cat <<E; echo "$LINENO"
one
E
#: program names that are there
compgen -v | grep -iv '^bash\|^dirstack\|^_$\|^NODE' | tr '\n' ' '; compgen -A function; alias; trap -p
