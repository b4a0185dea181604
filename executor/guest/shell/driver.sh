# SPDX-License-Identifier: Apache-2.0
#
# driver.sh - runs bash code inside a box and reports the outcome to the executor (guest/protocol.h).
#
# The code runs in this very shell, so nothing here is a security boundary: it may break all of this, and harms only its
# own result.  It is read from a file, so that messages name its lines.
#
# A program is the script of this bash: BASH_ENV names this file, and bash opens the script only when this file has
# returned.  So the script is what code.sh beside this file links to, and a program's $0 and BASH_SOURCE are code.sh.
#
# Statements run in another bash, whose script is this file.  A statement's variables, functions, options, traps,
# directory and redirections persist, but for those of stdout and stderr: the next statement's output is returned with
# that statement.  Anything that would end the shell (exit, set -e, an interrupt) ends the statement: its EXIT trap runs,
# then bash is started again in this process, with all state of the old one that can be written as text.
#
#     driver.sh [DESCRIPTOR-OF-THE-CHANNEL DESCRIPTOR-OF-THE-STATE]

# shellcheck disable=SC1090,SC2016,SC2034,SC2064 # the files that it reads, and those that read it, are not here

# Arguments: kind, payload.
_cloister_send() {
	local LC_ALL=C
	local _cloister_head='' _cloister_n=${#2} _cloister_i
	for _cloister_i in 1 2 3 4; do
		printf -v _cloister_head '%s\\x%02x' "$_cloister_head" $((_cloister_n & 255))
		((_cloister_n >>= 8))
	done
	printf "%s$_cloister_head%s" "$1" "$2" >&"${_cloister[channel]}"
}

# A zero byte is read as an empty string.
_cloister_receive() {
	local LC_ALL=C
	local _cloister_byte _cloister_i _cloister_n=0
	IFS= read -r -d '' -n 1 -u "${_cloister[channel]}" "_cloister[kind]" || return 1
	for _cloister_i in 0 8 16 24; do
		IFS= read -r -d '' -n 1 -u "${_cloister[channel]}" _cloister_byte || return 1
		[ -z "$_cloister_byte" ] || printf -v _cloister_byte %d "'$_cloister_byte"
		((_cloister_n += (_cloister_byte & 255) << _cloister_i))
	done
	_cloister[payload]=''
	[ "${_cloister[kind]}" != T ] || { _cloister_input "$_cloister_n"; return; }
	[ "$_cloister_n" = 0 ] || IFS= read -r -N "$_cloister_n" -u "${_cloister[channel]}" "_cloister[payload]"
}

# Argument: bytes of standard input that follow on the channel, which may be any.  It becomes a file without a name.
_cloister_input() {
	head -c "$1" <&"${_cloister[channel]}" >"${TMPDIR:-/tmp}/.stdin"
	exec <"${TMPDIR:-/tmp}/.stdin"
	rm -f "${TMPDIR:-/tmp}/.stdin"
}

# Arguments: key, JSON.  A large value in the environment would prevent every program from being started.
_cloister_bridge() {
	bridge[$1]=$2
	[[ ${#2} -gt 65536 || ! $1 =~ ^[A-Za-z_][A-Za-z0-9_]*$ ]] || export "BRIDGE_$1=$2"
}

# Arguments: name, value.  The variable exists until the end of the program or statement.
_cloister_lend() {
	export "$1=$2"
	_cloister[lent]+=" $1"
}

_cloister_take_back() {
	local IFS=' '
	[ -z "${_cloister[lent]}" ] || unset ${_cloister[lent]}
	_cloister[lent]=''
}

_cloister_state() {
	local _cloister_n
	eval "set -- $(printf '"${!%s@}" ' {a..z} {A..Z} _)"
	for _cloister_n; do
		case $_cloister_n in
		BASH | BASH_* | BASHOPTS | BASHPID | DIRSTACK | EPOCH* | EUID | FUNCNAME | GROUPS | HISTCMD | LINENO | PIPESTATUS | \
			PPID | RANDOM | SECONDS | SHELLOPTS | SRANDOM | UID | _ | _cloister_*) ;;
		*) declare -p "$_cloister_n" ;;
		esac
	done
	shopt -p
	set +o
	alias -p
	declare -f
	builtin trap -p
}

# Code may have the line ends of other systems, or a chat's code fence, which bash would run as a command.
_cloister_mend() {
	local LC_ALL=C
	[ "${_cloister[payload]:0:3}" != $'\xef\xbb\xbf' ] || _cloister[payload]=${_cloister[payload]:3}
	[[ ${_cloister[payload]} != *$'\r\n'* ]] || _cloister_mend_lines
	[[ ${_cloister[payload]:0:64} != *([[:space:]])'```'* ]] ||
		_cloister[payload]='echo "${BASH_SOURCE[0]}: line $LINENO: syntax error: \`\`\`" >&2; (exit 2)'
}

# Converts only if all lines end in CR and LF, because the code may contain such data.  Works by line, because replacing
# in a long text takes seconds.
_cloister_mend_lines() {
	local IFS=$'\n' _cloister_lines _cloister_text
	mapfile -t _cloister_lines <<<"${_cloister[payload]}" || return
	_cloister_text="${_cloister_lines[*]%$'\r'}"
	((${#_cloister[payload]} - ${#_cloister_text} < ${#_cloister_lines[@]} - 1)) || _cloister[payload]=$_cloister_text
}

# Replaces the builtin for statements: the driver ends a statement through EXIT and INT.  So a statement's own EXIT trap
# is stored until then, and if a statement resets INT, the driver's trap is set again.  RETURN, DEBUG and ERR traps would
# apply to this function instead of the caller, so code that names these gets the builtin.
_cloister_traps() {
	[[ ${_cloister[payload]} == *trap* ]] || return
	case " ${_cloister[payload]} " in
	*[!A-Za-z_]RETURN[!A-Za-z_]* | *[!A-Za-z_]DEBUG[!A-Za-z_]* | *[!A-Za-z_]ERR[!A-Za-z_]*) unset -f trap ;;
	*)
		trap() {
			{ local - && set +x; } 2>/dev/null
			builtin trap "$@" || return
			[ "$BASHPID" != $$ ] || [ -z "${_cloister[running]}" ] || _cloister_reclaim
		}
		;;
	esac
}

_cloister_reclaim() {
	local _cloister_trap
	_cloister_trap=$(builtin trap -p EXIT)
	if [ "$_cloister_trap" != "trap -- '_cloister_exit \$?' EXIT" ]; then
		_cloister[exit]=$_cloister_trap
		builtin trap '_cloister_exit $?' EXIT
	fi
	[ -n "$(builtin trap -p INT)" ] || builtin trap _cloister_interrupt INT
}

# Sets shell options that this file can work with.
_cloister_over() {
	_cloister[options]=${-//[!aefuvxC]/}
	set +aefnuvxC
	_cloister[running]=''
}

# Argument: status.
_cloister_done() {
	_cloister_over
	_cloister_take_back
	_cloister_send D "$1"
}

# Argument: status.  The end of the statement is reported only when the new shell ignores interrupts as this one does.
_cloister_exit() {
	[ -n "${_cloister[running]}" ] || exit "$1"
	_cloister_over
	_cloister[status]=$1
	if [ -n "${_cloister[exit]}" ]; then
		(eval "builtin ${_cloister[exit]}"; exit "$1")
		_cloister[status]=$?
		_cloister[exit]=''
	fi
	_cloister_take_back
	_cloister_restore
	_cloister_let_go
	_cloister_again
}

# Starts bash again, with the state of this one.
_cloister_again() {
	exec {_cloister_fd}<<<"$(_cloister_state 2>/dev/null)"
	exec "${_cloister[bash]}" --noprofile --norc "${_cloister[driver]}" "${_cloister[channel]}" "$_cloister_fd"
}

# Undoes what a statement did to stdout and stderr.
_cloister_restore() {
	if [ -n "${_cloister[out]}" ]; then
		exec >&"${_cloister[out]}" 2>&"${_cloister[err]}"
		return 0
	fi
	exec {_cloister_fd}>&1
	_cloister[out]=$_cloister_fd
	exec {_cloister_fd}>&2
	_cloister[err]=$_cloister_fd
}

# Closes the copies, which an exec would pass on.
_cloister_let_go() {
	for _cloister_fd in "${_cloister[out]}" "${_cloister[err]}"; do
		[ -z "$_cloister_fd" ] || exec {_cloister_fd}>&-
	done
	_cloister[out]='' _cloister[err]=''
}

# Writes the program as the script that bash opens next, by a name whose directory is the workspace's once the script
# runs.  For that the script's first line goes there.  A short program of one line that cannot be read is shown as it is.
_cloister_write() {
	local _cloister_first='_cloister_go;'
	[[ ${#_cloister[payload]} -gt 4096 || ${_cloister[payload]%$'\n'} == *$'\n'* ]] ||
		eval "_cloister_go() { ${_cloister[payload]}"$'\n}' 2>/dev/null || _cloister_first=''
	printf %s "$_cloister_first${_cloister[payload]}" >"${_cloister[file]}" || exit 1
	_cloister_go() {
		cd "$OLDPWD"
		unset OLDPWD
		declare -gx OLDPWD
		unset -f _cloister_go
	}
	cd "${_cloister[driver]%/*}"
}

# Forgets the driver.
_cloister_leave() {
	[ ${#bridge[@]} -gt 0 ] || unset bridge
	_cloister_fd=${_cloister[channel]}
	exec {_cloister_fd}<&-
	unset _cloister _cloister_fd
	unset -f _cloister_{send,receive,input,bridge,lend,take_back,state,mend,mend_lines,traps,reclaim,over,done,exit}
	unset -f _cloister_{again,restore,let_go,write,leave,interrupt}
}

_cloister_interrupt() {
	[ -z "${_cloister[running]}" ] || exit 130
}

if [ $# = 2 ]; then
	. "/dev/fd/$2" 2>/dev/null
	_cloister_fd=$2
	exec {_cloister_fd}<&-
	set --
	[ -n "${_cloister[came]}" ] || _cloister_send D "${_cloister[status]}"
else
	unset BASH_ENV
	declare -A bridge _cloister=([bash]=$BASH [driver]=${BASH_SOURCE[0]} [file]=${TMPDIR:-/tmp}/.code
		[running]='' [options]='' [exit]='' [lent]='' [out]='' [err]='' [came]='' [ahead]=1)
	exec {_cloister_fd}<&3 3<&- # not 3, which scripts often use
	_cloister[channel]=$_cloister_fd
	trap '_cloister_exit $?' EXIT
	trap _cloister_interrupt INT
	_cloister_send I ''
fi

# A `continue` in the previous statement may have skipped its DONE.
while { [ -z "${_cloister[running]}" ] || _cloister_done 0; } 2>/dev/null &&
	{ [ -n "${_cloister[came]}" ] || _cloister_receive; }; do
	case ${_cloister[kind]} in
	B) _cloister_bridge "${_cloister[payload]%%$'\n'*}" "${_cloister[payload]#*$'\n'}" ;;
	T) ;; # _cloister_receive has done it
	G) set -- "$@" "${_cloister[payload]}" ;;
	N) _cloister_lend "${_cloister[payload]%%$'\n'*}" "${_cloister[payload]#*$'\n'}" ;;
	S)
		if [ -n "${_cloister[ahead]}" ]; then # the other bash finds this statement in its state
			_cloister[ahead]=''
			_cloister[came]=1
			_cloister_again
		fi
		_cloister[came]=''
		_cloister_restore
		_cloister_mend
		_cloister_traps
		BASH_ARGV0=bash
		[[ ${_cloister[payload]} != *BASH_SOURCE* ]] || BASH_ARGV0=${_cloister[file]} # equal if it is run, not read
		_cloister[running]=1
		if printf %s "${_cloister[options]:+set -${_cloister[options]};}${_cloister[payload]}" >"${_cloister[file]}"; then
			_cloister[payload]=''
			. "${_cloister[file]}"
		else
			eval "${_cloister[payload]}"
		fi
		{ _cloister_done $?; } 2>/dev/null
		_cloister_restore
		;;
	C)
		_cloister_mend
		break
		;;
	*)
		echo "the control channel brought something else than a program" >&2
		exit 1
		;;
	esac
done

# If the loop ended because of the code's `break` or the end of the channel, the EXIT trap runs _cloister_exit.
if [ -z "${_cloister[running]}" ] && [ "${_cloister[kind]}" = C ]; then
	trap - EXIT INT
	_cloister_write
	_cloister_leave
else
	exit 0
fi
