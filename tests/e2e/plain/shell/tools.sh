# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=all
# Programs that a shell is used for.
#: program sort, uniq, cut, tr, paste and join
printf '3 c\n1 a\n2 b\n1 a\n' >t; sort -n t | uniq -c; sort -k2r -u t; cut -d' ' -f2 t | tr a-z A-Z | paste -sd,; sort -t' ' -k1,1 t >u; join u u | head -2
printf '10\n9\n1.5K\n2M\n' | sort -h; seq 5 | shuf | sort | tac | head -2; printf 'b\nB\na\n' | sort -f; comm -12 <(seq 3) <(seq 2 4)
#: program awk
printf 'a,1\nb,2\na,3\n' | awk -F, '{ s[$1] += $2 } END { for (k in s) print k, s[k] }' | sort
awk 'BEGIN { printf "%.3f %s %d\n", atan2(0, -1), toupper("x"), length("abc"); x = "a b"; n = split(x, p); print n, p[2]; print substr("hello", 2, 3); "date -u +%Y -d @0" | getline y; print y; exit 3 }'; echo $?
#: program sed
printf 'one\ntwo\nthree\n' >t; sed -n '2p' t; sed 's/o/0/g; /three/d' t; sed -i '1i zero' t; sed -E 's/(t)(w)/\2\1/' t; sed '$!N;s/\n/ /' t; sed 's/(/x' t; echo $?
#: program grep
printf 'Alpha\nbeta\ngamma 42\n' >t; grep -in ALPHA t; grep -E '[0-9]+' -o t; grep -c a t; grep -v a t; echo $?; grep -q x t; echo $?; grep -P '\d{2}' t; grep -r beta . --include=t; grep x missing; echo $?; grep -A1 -B1 beta t
#: program find and xargs
mkdir -p a/b; touch a/1.txt a/b/2.txt a/b/3.log; find a -name '*.txt' | sort; find a -type f -size -1k | wc -l; find a -name '*.log' -exec basename {} \; -delete; find a -type d -empty; find a -print0 | xargs -0 -n1 echo | sort; seq 4 | xargs -P2 -n2 echo | sort; echo x | xargs false; echo $?; find missing; echo $?
#: program tar and gzip
mkdir d; echo data >d/f; ln -s f d/l; tar czf a.tgz d; tar tf a.tgz | sort; mkdir o; tar xzf a.tgz -C o; cat o/d/f; readlink o/d/l; gzip -k d/f; zcat d/f.gz; gunzip -c <d/f.gz | wc -c; tar xf missing.tar; echo $?
#: program bzip2, xz and zstd
#: needs bzip2 xz
echo data | bzip2 | bunzip2; echo data | xz | xz -d; echo bad | xz -d; echo $?
#: program zip and unzip
#: needs zip unzip
mkdir d; echo x >d/a; zip -qr a.zip d; unzip -l a.zip | tail -1; unzip -qo a.zip -d o; cat o/d/a; unzip -q missing.zip; echo $?
#: program dd, head, tail and split
dd if=/dev/zero of=z bs=1k count=4 2>/dev/null; stat -c %s z; seq 10 | tail -3 | head -1; seq 10 | split -l 4 - part.; ls part.*; cat part.ac; tail -c 2 z | od -An -tx1; dd if=missing; echo $?; truncate -s 10 z; wc -c z; yes | head -2
#: program tail -f
#: boxed reverting to polling
#: because a watch on a file of /usr would tell of other boxes
(sleep 0.05; echo more >>t; sleep 0.1) & echo first >t; timeout 0.5 tail -f t; echo $?
#: program bc and dc
#: needs bc
echo 'scale=3; 10/3; 2^10; sqrt(2)' | bc; echo '1/0' | bc; echo 's(1)' | bc -l
#: program date and cal
date -u -d '2024-02-29 +1 year' +%F; date -d @0; date +%Z; TZ=America/New_York date -d @0 +%H:%M; date -d nonsense; echo $?; date -d '2024-01-01 12:00 Europe/Berlin' 2>/dev/null; date -R -d @86400; date -Iseconds -d @0
date -s '2020-01-01' 2>&1 >/dev/null | head -1
#: program jq
#: needs jq
echo '{"a": [1, {"b": "x"}], "c": null}' | jq -c '.a[1].b, (.a | length), keys'; echo '[3,1]' | jq 'sort | add'; echo '{' | jq .; echo $?; jq -n '$ENV.LANG, now > 0'; jq -r '.[] | @csv' <<<'[[1,"a"]]'
#: program make
#: needs make
printf 'all: a.txt\n\t@cat $<\na.txt:\n\techo made >$@\nbad:\n\tfalse\n.PHONY: all\nX := $(shell echo sub)\nv:\n\t@echo $(X) $(MAKELEVEL)\n' >Makefile
make; make; make v; make bad; echo $?; make missing; echo $?; make -j2 -s all
#: program a C program
#: needs cc
cat >a.c <<'EOF'
#include <stdio.h>
#include <math.h>
#include <pthread.h>
static void *f(void *x) { return (char *)x + 1; }
int main(int n, char **a) { pthread_t t; void *r; pthread_create(&t, 0, f, 0); pthread_join(t, &r); printf("%d %.3f %p\n", n, sqrt(2), r); return 3; }
EOF
cc -O2 -Wall -o a a.c -lm -pthread && ./a x; echo $?; echo 'int main() { return x; }' >b.c; cc b.c; echo $?; cc -shared -fPIC -o lib.so -x c - <<<'int f(void) { return 42; }' && python3 -c 'import ctypes; print(ctypes.CDLL("./lib.so").f())'
#: program a C++ program with sanitizers
#: needs g++
printf '#include <iostream>\n#include <vector>\nint main() { std::vector<int> v{1, 2}; std::cout << v.at(1) << std::endl; v.at(5); }\n' >a.cpp
g++ -std=c++17 -o a a.cpp && ./a; echo $?
#: program a crash of a C program
#: needs cc
echo 'int main() { *(volatile int *)0 = 1; }' | cc -x c -o a - && ./a; echo $?; ./a | cat; echo "${PIPESTATUS[0]}"
#: program AddressSanitizer
#: uncounted
#: boxed 134
#: because without a control group memory is limited by its addresses, of which a sanitizer reserves terabytes
#: needs cc
echo 'int main(int n, char **a) { volatile int x[2] = {0}; return x[n]; }' | cc -fsanitize=address,undefined -x c -o a - && ./a; echo $?; ./a 1 2 3 2>/dev/null; echo $?
#: program gdb and strace
#: boxed 1
#: because a box has no ptrace
#: needs strace
#: ignore stderr
strace -e trace=none true; echo $?
#: program git
#: needs git
git init -q -b main r; cd r; git config user.name n; git config user.email e@x; echo 1 >a; git add a; git commit -qm first; git checkout -qb other; echo 2 >>a; git commit -qam second; git log --format='%s %an'; git diff main --stat; git checkout -q main; git merge -q other; cat a; git status --short; git branch; git tag v1; git describe --tags; git stash list; git show HEAD:a | head -1; git log missing; echo $?; cd ..; git clone -q r s; ls s; git -C s remote -v | wc -l
#: program git without a name
#: boxed exit 0
#: because a box's git has an identity, so that an agent's first commit does not fail
#: needs git
git init -q r; cd r; git commit -q --allow-empty -m x 2>/dev/null; echo "exit $?"
#: program patch and diff
#: needs patch
printf 'a\nb\n' >x; sed s/b/c/ x >y; diff -u --label x --label y x y >p; echo $?; patch -s x <p; cat x; cmp x y && echo same; diff -q x missing; echo $?
#: program hashes and encodings
echo x | sha256sum; echo x | md5sum; echo x | base64; echo eAo= | base64 -d; echo x | xxd -p; echo 'ä' | iconv -t latin1 | od -An -tx1; echo x | cksum; echo x >f; sha1sum f >s; sha1sum -c s; base64 -d <<<'!'; echo $?
#: program openssl
#: needs openssl
echo x | openssl dgst -sha256 -r; openssl rand -hex 4 | wc -c; openssl enc -aes-128-cbc -pbkdf2 -k p -S 0102030405060708 <<<secret | openssl enc -d -aes-128-cbc -pbkdf2 -k p -S 0102030405060708; openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=x -keyout k -out c 2>/dev/null; openssl x509 -in c -noout -subject
#: program perl
#: needs perl
perl -ne 'print if /b/' <<<$'a\nb'; perl -e 'use strict; my %h = (a => 1); printf "%s %d\n", join(",", map { $_ * 2 } 1..3), $h{a}; die "dead\n"'; echo $?; perl -pi -e 's/x/y/' <(:) ; perl -MPOSIX -e 'print strftime("%F", gmtime 0), "\n"'
#: program sqlite3
#: needs sqlite3
sqlite3 a.db 'create table t (a, b); insert into t values (1, "x"), (2, "y"); select sum(a), group_concat(b) from t;'; sqlite3 -csv -header a.db 'select * from t'; sqlite3 a.db 'select nope from t'; echo $?
#: program curl and a server of Python's
#: needs curl
mkdir s; echo served >s/f; : >log; python3 -u -m http.server -d s --bind 127.0.0.1 0 >log 2>&1 &
until p=$(sed -n 's/.* port \([0-9]*\) .*/\1/p' log) && [ -n "$p" ]; do sleep 0.05; done
curl -s http://127.0.0.1:$p/f; curl -s -o /dev/null -w '%{http_code}\n' http://localhost:$p/missing; kill %1; curl -s http://127.0.0.1:1/; echo $?
#: program python3 and node from the shell
#: needs node
python3 -c 'import sys; print(sys.argv, sys.stdin.read())' a <<<input; node -e 'console.log(process.argv.slice(1))' x; python3 - <<'EOF'
print("from a here-document", __name__)
raise SystemExit(4)
EOF
echo $?; echo 'print(6*7)' | python3; node <<<'console.log(1)'; python3 -c 'raise ValueError(1)' 2>&1 | tail -1; python3 -m json.tool <<<'{"a":1}'; python3 -m this | head -1
#: program venv
python3 -m venv --without-pip v && . v/bin/activate && python -c 'import sys; print(sys.prefix != sys.base_prefix)'; deactivate
#: program ls, stat and touch
touch -d '2020-01-02 03:04:05' a; ls -l --time-style=+%F a | sed -E 's/ [a-z]+ [a-z]+ / /'; stat -c '%s %A %Y %F' a; mkdir d; chmod 750 d; ls -ld d | cut -c1-10; ls -A | grep -v code; ls missing; echo $?; touch missing/x; echo $?; du -b a; mktemp | grep -c ^/tmp; mktemp -d -p . x.XXXX | wc -c
#: program cp, mv, rm and ln
echo 1 >a; cp a b; mv b c; ln a h; ln -s a s; rm a; cat h; cat s; echo $?; rm d; rm -f d; echo $?; mkdir e; rm e; rmdir e; cp -r missing x; mkdir -p x/y; touch x/y/z; cp -a x w; find w | sort; install -m 600 h i; stat -c %a i; rm -rf x; rm -rf / 2>&1 | head -1; cp h /usr/bin/ 2>/dev/null; echo $?
#: program chmod and chown
#: boxed Invalid argument
#: because a box has one user id
touch a; chmod 000 a; cat a; chmod u+rw,go-rwx a; stat -c %a a; chmod +x a; test -x a; echo $?; chown root a; echo $?; chmod u+s a; stat -c %a a
#: program tree of processes
sleep 5 & p=$!; sleep 0.2; ps -o stat= -p $p | cut -c1; kill -STOP $p; sleep 0.2; ps -o stat= -p $p | cut -c1; kill -CONT $p; kill $p; wait $p; echo $?; ps -p $$ -o comm=; pgrep -P $$ sleep; echo $?
#: program timeout, nice and xargs
#: boxed 65
#: because a lock on a file of /usr would be seen by the host and other boxes
#: ignore stderr
timeout 0.05 sleep 5; echo $?; timeout -s KILL 0.05 sleep 5; echo $?; nice -n 5 nice; nohup true 2>/dev/null; time true 2>/dev/null; env -i A=1 env; stdbuf -oL echo x; flock -n . echo locked; echo $?
#: program numfmt, seq, factor, expr, column and others
numfmt --to=iec 2048; seq -s, 1 2 9; factor 60; expr 3 \* 4; printf 'a b\nccc d\n' | column -t; rev <<<abc; nl <<<x; fold -w 3 <<<abcdef; expand <<<$'\tx'; basename /a/b.txt .txt; dirname /a/b; realpath -m x/../y; od -c <<<a; wc <<<'a b'; tsort <<<'a b'; envsubst <<<'$LANG' 2>/dev/null; getconf PAGE_SIZE; tput cols; echo $?
#: program users and machines
whoami >/dev/null; echo $?; id -u | grep -c .; uname -s -m; hostname >/dev/null; echo $?; nproc | grep -c .; free | wc -l; uptime | wc -l; df . | wc -l; getent passwd root | cut -d: -f1,3; getent hosts localhost | grep -c localhost; sudo -n true 2>/dev/null; echo $?
#: program mount and other things of root
#: boxed 32\n1\n
#: because a box makes no user namespaces
mount -t tmpfs none . 2>/dev/null; echo $?; unshare -r true 2>/dev/null; echo $?; chroot / true 2>/dev/null; echo $?; dmesg 2>/dev/null | head -1; mknod d b 1 1 2>/dev/null; echo $?; ping -c1 127.0.0.1 >/dev/null 2>&1; echo $?; ip addr 2>/dev/null | head -1 | cut -c1-5; ss -lnt 2>/dev/null | head -1 | cut -c1-5
#: program file and less
#: needs file
echo text >a; file a; printf '\x89PNG\r\n\x1a\n' >b; file -b b; less a; more a; pr -t a; cat -A a
#: program expect a terminal
script -qec 'tty | sed s/[0-9]//; stty size' /dev/null </dev/null 2>&1 | tr -d '\r'
#: program rsync, ssh-keygen and gpg
#: needs rsync ssh-keygen
mkdir a; echo 1 >a/f; rsync -a a/ b; cat b/f; ssh-keygen -q -t ed25519 -N '' -f k; cut -d' ' -f1 k.pub
#: program npm and pip
#: needs npm
#: ignore stderr
npm --version | grep -c .; mkdir p; cd p; npm init -y >/dev/null; node -p 'require("./package.json").name'; npm pkg set scripts.hi='echo from npm'; npm run -s hi; python3 -m pip --version 2>/dev/null | cut -d' ' -f1
