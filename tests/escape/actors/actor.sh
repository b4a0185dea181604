# SPDX-License-Identifier: Apache-2.0
# Does what each line of the file `rows` says (name, action, words, with tabs between) and prints name and what was said.
try_one() {
	local action=$1
	shift
	case $action in
	read) head -c 64 -- "$1" >/dev/null ;;
	write) : >>"$1" ;;
	create) (set -C && : >"$1") ;;
	list) ls -- "$1" >/dev/null ;;
	directory) mkdir -- "$1" ;;
	remove) rm -f -- "$1" ;;
	rename) mv -T -- "$1" "$2" ;;
	link) ln -L -- "$1" "$2" ;;
	via) ln -s -- "$1" "$2" && head -c 64 -- "$2" >/dev/null ;;
	mode) chmod -- "$1" "$2" ;;
	own) chown -- 0:0 "$1" ;;
	node) mknod -- "$1" c 1 3 ;;
	kill) kill "$1" ;;
	tcp | udp) (: <>"/dev/$action/$1/$2") ;;
	start) "$@" >/dev/null ;;
	variable) [ -n "${!1}" ] || { echo "No such file or directory" >&2; return 1; } ;;
	esac
}
while IFS=$'\t' read -r name action words; do
	[ "$action" != unix ] || continue # the shell has none
	IFS=$'\t' read -r -a list <<<"$words"
	said=$(try_one "$action" "${list[@]}" 2>&1)
	status=$?
	if [ $status = 0 ]; then echo "$name done"; else echo "$name ${said:-status $status}" | tr '\n' ' '; echo; fi
done <rows
