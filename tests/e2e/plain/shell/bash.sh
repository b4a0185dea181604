# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=all
# The shell itself.
#: program variables and expansion
a=hello; b=; unset c
echo "$a ${a^^} ${a:1:3} ${#a} ${b:-default} ${c-unset} ${c:=set} $c ${a/l/L} ${a//l/L} ${a%o} ${a#h} ${!a} ${a@Q}"
echo {1..5} {a,b}{1,2} ~ $((6 * 7 ** 2 % 5)) $((16#ff)) $[1 + 1]
#: program quoting
echo 'single $a' "double \"x\" $(echo sub)" $'tab\tnl\n' a\ b
printf '%s|' a "b c" '' $'\x41\u00e9'; echo
#: program arrays
a=(one "two words" three); a+=(four); a[9]=ten
echo "${#a[@]}" "${a[1]}" "${!a[@]}" "${a[@]:1:2}" "${a[-1]}"
declare -A m=([x]=1 [y]="2 3"); m[z]=4
for k in "${!m[@]}"; do echo "$k=${m[$k]}"; done | sort
unset 'a[0]'; declare -p a
mapfile -t lines < <(printf 'x\ny\n'); echo "${lines[@]@Q}"
#: program functions
f() { local x=$1; shift; echo "$x $# $@ $FUNCNAME"; return 3; }
f a b "c d"; echo $?
g() { x=changed; }; x=1; (g); echo $x; g; echo $x
declare -f f | head -2
#: program conditions and loops
for i in 1 2 3; do [[ $i -eq 2 ]] && continue; echo $i; done
i=0; while ((i < 3)); do ((i++)); done; until [ $i -eq 0 ]; do i=$((i - 1)); done; echo $i
case abc in a*) echo starts ;;& *c) echo ends ;; *) echo never ;; esac
[[ "2024-05" =~ ^([0-9]+)-([0-9]+)$ ]] && echo "${BASH_REMATCH[@]}"
for ((n = 0; n < 2; n++)); do echo -n "$n "; done; echo
select x in a b; do echo "$x"; break; done <<<2
#: program here-documents
x=1
cat <<EOF
with $x $(echo sub) \$x
EOF
cat <<'EOF'
without $x
EOF
cat <<-EOF
	indented
	EOF
cat <<<"a here-string"
#: program redirection
echo out >a; echo more >>a; cat <a; ls missing 2>b; grep -c missing b
{ echo one; echo two >&2; } >c 2>&1; cat c
exec 5>d; echo five >&5; exec 5>&-; cat d
echo x &>e; cat e; : >a; wc -c <a
set -o noclobber; echo y >e; echo $?
#: program output to both streams
echo one; echo two >&2; echo three; echo four >&2
#: program pipelines and their status
false | true; echo $?; set -o pipefail; false | true; echo $?; echo "${PIPESTATUS[@]}"
! true; echo $?; true && echo and || echo or
echo a | { read -r x; echo "in $x"; }; echo "out [$x]"
shopt -s lastpipe; echo b | read -r y; echo "$y"
#: program process substitution
diff <(printf '1\n2\n') <(printf '1\n3\n'); echo $?
paste <(seq 3) <(seq 4 6)
echo x | tee >(tr x y >f) >/dev/null; sleep 0.1; cat f
#: program process substitution that is not waited for
echo late > >(cat)
#: program everything into a log
exec > >(tee log) 2>&1
echo logged; ls missing
#: program set -e
set -e
echo before
false
echo never
#: program set -euo pipefail with an unset variable
set -euo pipefail
echo "${unset_one}"
echo never
#: program set -x
set -x
a=1
echo $((a + 1)) >b; cat b
#: program set -v
set -v
echo seen
#: program exit codes
exit 7
#: program exit code of the last command
(exit 5)
#: program a command that is not found
no_such_command --flag
echo $?
#: program a file that is not executable
echo 'echo x' >s.sh; ./s.sh; echo $?; chmod +x s.sh; ./s.sh
#: program a syntax error
echo one
if true; then echo two
#: program a syntax error in the middle
echo one
for do
echo two
#: program an unclosed quote
echo "never
#: program division by zero
echo $((1 / 0))
echo after $?
#: program cd, pushd and PWD
mkdir -p a/b; cd a/b; pwd; cd - ; pushd a >/dev/null; dirs; popd >/dev/null; echo $OLDPWD; cd missing; echo $?
#: program traps
trap 'echo exit $?' EXIT
trap 'echo usr1' USR1
trap 'echo "error on line $LINENO"' ERR
kill -USR1 $$
false
(trap 'echo sub' EXIT; true)
exit 4
#: program a trap of TERM
trap 'echo terminated; exit 9' TERM
kill $$
sleep 1
echo never
#: program traps that are set
trap; trap -p INT; trap 'x' INT; trap -p INT
#: program DEBUG and RETURN
trap 'echo "debug: $BASH_COMMAND"' DEBUG
f() { :; }
f
trap - DEBUG
#: program it kills itself
echo before
kill -9 $$
#: program a signal ends it
kill -TERM $$; sleep 1
#: program jobs
sleep 0.05 & sleep 0.01 & jobs -r | wc -l; wait; echo done
(exit 3) & wait $!; echo $?
sleep 9 & kill $!; wait $!; echo $?
#: program no jobs
wait -n; echo $?; wait 1; echo $?; kill %1; echo $?; jobs; fg; bg %2; echo $?
#: program a pipeline of jobs
sleep 0.02 & jobs -r | wc -l; wait
#: program job control
set -m
sleep 0.01 &
fg %1 >/dev/null; echo $?
#: program background output
(sleep 0.03; echo child) &
echo parent
wait
#: program background output without wait
(sleep 0.03; echo child) &
echo parent
#: program nohup and disown
sleep 5 & disown; nohup echo x 2>/dev/null; setsid echo y; kill $!
#: program coprocesses
coproc cat; echo through >&${COPROC[1]}; read -r x <&${COPROC[0]}; echo "$x"
#: program getopts
set -- -a -b value file
while getopts ab: o; do echo "$o ${OPTARG-}"; done; shift $((OPTIND - 1)); echo "$@"
getopts x o -q; echo "$?"
#: program positional parameters
echo "$0 $# [$*] [$@]"; set -- "a b" c; echo $# "$1" "${@: -1}"; shift; echo "$*"
#: program read
printf 'a:b:c\nlast' | { IFS=: read -r x y; echo "$x|$y"; read -r z; echo "$? $z"; }
read -r -n 2 -d , x <<<"abc,"; echo "$x"; read -r x; echo "$? [$x]"; read -t 0.01 x; echo $?
while IFS=, read -r n v; do echo "$v-$n"; done <<<$'1,a\n2,b'
#: program a loop that reads keeps its input
printf '1\n2\n' >in; while read -r x; do echo "$x"; cat >/dev/null </dev/null; done <in
#: program printf
printf '%5.2f|%-5s|%05d|%x|%o|%e|%c|%%|%b\n' 3.14159 ab 42 255 8 12345 xyz 'a\tb'
printf '%s=%d\n' a 1 b 2; printf -v x '%03d' 7; echo "$x"; printf '%q %(%Y)T\n' 'a b' 0; printf '%d\n' notanumber
#: program echo
echo -e 'a\tb\\'; echo -n x; echo; echo -E 'a\tb'; echo -- -n; echo '*'; echo *.none
#: program globs
touch a1 a2 b1 .hidden; mkdir -p d/e; touch d/e/f
echo a* [ab]1 ?2 .h*; shopt -s extglob globstar nullglob; echo !(a*|code*) **/f *.none end; shopt -s dotglob; echo .*n
#: program IFS and word splitting
IFS=,; x="a,b c,d"; for w in $x; do echo "[$w]"; done; set -f; echo *
#: program aliases and shopt
alias ll='echo aliased'; shopt expand_aliases; shopt -s expand_aliases
alias mm='echo works'
mm
#: program source and eval
echo 'sourced=1; return 5; never' >lib.sh; . ./lib.sh; echo "$? $sourced"; eval 'x="a b"; echo $x'; source missing; echo $?
#: program variables of the shell
echo "$BASH_SUBSHELL $LINENO ${BASH_VERSINFO[0]} $((RANDOM < 32768)) $UID-" | sed 's/ [0-9]*-$//'; echo "$-"; (echo $BASH_SUBSHELL); echo "$PPID" | grep -c .; echo "${BASH_SOURCE[0]} $BASH_EXECUTION_STRING" | wc -c | grep -c .
#: program line numbers
echo $LINENO

echo $LINENO; f() { echo $LINENO; }
f
missing_command
#: program names of variables and functions
compgen -A function; x=1; compgen -v | grep -v -E '^(NODE|_$|BASH|COMP|DIRSTACK|EUID|FUNC|GROUPS|HOST|MACHTYPE|OPT|OSTYPE|PIPESTATUS|PPID|RANDOM|SECONDS|SHELL|SRANDOM|TERM|UID|EPOCH|LINENO|PS4|IFS|COLUMNS|LINES)' | sort
#: program what is exported
export X=1; env | grep -E '^(X|PWD|LANG)='; Y=2 sh -c 'echo $Y $X'; bash -c 'echo $0' name
#: program readonly and declare
readonly r=1; r=2; echo $?; declare -i n=5+5; echo $n; declare -n ref=n; ref=3; echo $n; declare -l low=ABC; echo $low
#: program nested quotes and commands
echo "$(echo "a $(echo "b c")")" `echo old`; echo $(<missing) $?
#: program history and completion
history | wc -l; set -o | grep -E 'history|monitor|emacs'; shopt | grep -c on$ | grep -c .
#: program ulimit
ulimit -c; ulimit -S -n 50; ulimit -n; ulimit -f 1; head -c 100000 /dev/zero >big; echo $?; ls -s big >/dev/null
#: program umask
umask; umask 077; touch a; stat -c %a a
#: program time and times
#: ignore stderr
time -p true; TIMEFORMAT=%R; { time sleep 0; } 2>&1 | grep -c '0\.0'; times | wc -l
#: program exec replaces the shell
echo before; exec echo replaced
echo never
#: program exec of a command that is missing
exec missing_command; echo never
#: program subshells and groups
(cd /; x=1; pwd); pwd; { x=2; }; echo $x; echo $( (exit 3); echo $? )
#: program deep recursion
f() { (($1 == 0)) && echo bottom || f $(($1 - 1)); }; f 200
#: program too deep a recursion
#: ignore stderr
f() { f; }; FUNCNEST=5; f; echo $?
#: program locale of the shell
echo ${LANG} ${LC_ALL-none}; x=é; echo ${#x}; printf '%s\n' b A a B | sort | tr '\n' ' '; [[ a < B ]]; echo $?
#: program bytes
printf '\xff\n'; printf 'a\0b\n' | od -c; head -c 3 /dev/zero | wc -c
#: program standard input
cat; read -r x; echo "$?"; [ -t 0 ]; echo $?; [ -t 1 ]; echo $?; tty
#: program /dev names
echo a >/dev/stdout; echo b >/dev/stderr; echo c | cat /dev/stdin; echo d >/dev/fd/1; echo e >/dev/null; ls /dev/fd/ | wc -l
#: program /dev/tcp
(echo >/dev/tcp/127.0.0.1/1) 2>&1; echo $?
#: program windows line ends
printf 'echo x\r\n' >w.sh; bash w.sh | od -c | head -2
#: program a script in the workspace
cat >s.sh <<'EOF'
#!/bin/bash
set -euo pipefail
echo "$0 $* ${BASH_SOURCE[0]}"
cd "$(dirname "$0")"
pwd
exit 6
EOF
chmod +x s.sh; ./s.sh a b; echo $?; bash s.sh c; sh -c 'echo $0' sh
#: program a script with another interpreter
printf '#!/usr/bin/env python3\nimport sys; print(sys.argv)\n' >p; chmod +x p; ./p x; printf '#!/no/such\n' >q; chmod +x q; ./q; echo $?
#: program many arguments
set -- $(seq 20000); echo $#; echo "$@" | wc -w; /bin/echo "$@" | wc -c
