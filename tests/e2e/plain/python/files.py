# SPDX-License-Identifier: Apache-2.0
# Files, directories, links and permissions.
#: program write and read lines
with open("a.txt", "w") as file:
    for n in range(3):
        print("line", n, file=file)
with open("a.txt") as file:
    for number, line in enumerate(file, 1):
        print(number, line.rstrip())
#: program a missing file
open("missing.txt")
#: program append, seek and truncate
with open("a.bin", "w+b") as file:
    file.write(b"0123456789")
    file.seek(3)
    print(file.read(2), file.tell())
    print(file.truncate(5), file.seek(0, 2))
with open("a.bin", "ab") as file:
    file.write(b"x")
print(open("a.bin", "rb").read())
#: program pathlib
from pathlib import Path
root = Path("d")
(root / "e").mkdir(parents=True)
(root / "e" / "a.txt").write_text("hello\n")
(root / "b.csv").write_bytes(b"1,2\n")
print(sorted(str(p) for p in root.rglob("*")), sorted(root.glob("*.csv")))
print(Path.cwd(), Path("d/../x").resolve(), Path("a/b.tar.gz").suffixes, (root / "e/a.txt").stat().st_size)
(root / "b.csv").rename(root / "c.csv")
print([p.name for p in sorted(root.iterdir())], (root / "c.csv").exists(), Path.home())
#: program the program's own file
import os, sys
print(__file__, sys.argv, __name__, os.path.exists(__file__), os.path.basename(__file__), __builtins__.__name__)
print(open(__file__).readline(), end="")
#: program the program's file is not in the workspace
#: boxed \[\]
#: because the program is shown as a file without being an artifact of the run
import os
print(os.listdir("."))
#: program walk a tree
import os
for name in "x/y/z", "x/w":
    os.makedirs(name)
for name in "x/1", "x/y/2", "x/y/z/3":
    open(name, "w").close()
for directory, directories, files in os.walk("x"):
    directories.sort()
    print(directory, directories, sorted(files))
#: program stat and times
import os, stat
open("a", "w").write("abc")
os.utime("a", (1e9, 1.5e9))
os.chmod("a", 0o640)
found = os.stat("a")
print(oct(found.st_mode), stat.filemode(found.st_mode), found.st_size, found.st_atime, found.st_mtime_ns, found.st_nlink)
print(found.st_uid == os.getuid(), os.path.getmtime("a"), os.access("a", os.W_OK), os.access("a", os.X_OK))
#: program umask and modes of new files
import os, stat
open("a", "w").close()
os.mkdir("d")
print([stat.filemode(os.stat(name).st_mode) for name in ("a", "d")], oct(os.umask(0o077)))
open("b", "w").close()
print(stat.filemode(os.stat("b").st_mode))
#: program a file without read permission
import os
open("a", "w").close()
os.chmod("a", 0)
try:
    open("a")
except PermissionError as error:
    print(error)
os.mkdir("d", 0o500)
try:
    open("d/x", "w")
except OSError as error:
    print(type(error).__name__, error)
#: program links
import os
open("a", "w").write("text")
os.symlink("a", "s")
os.link("a", "h")
os.symlink("nowhere", "broken")
print(os.readlink("s"), os.path.islink("s"), os.path.samefile("a", "h"), os.stat("a").st_nlink, os.path.exists("broken"), os.path.lexists("broken"))
print(open("s").read(), os.path.realpath("s"))
os.symlink("loop", "loop")
try:
    open("loop")
except OSError as error:
    print(error)
#: program rename, replace and remove
import os
open("a", "w").write("1")
open("b", "w").write("2")
os.replace("a", "b")
print(open("b").read(), os.path.exists("a"))
os.mkdir("d")
open("d/x", "w").close()
for action in (lambda: os.rmdir("d"), lambda: os.remove("d"), lambda: os.remove("a"), lambda: os.mkdir("d"), lambda: os.rename("a", "c")):
    try:
        action()
    except OSError as error:
        print(type(error).__name__, error)
#: program shutil
import os, shutil
os.makedirs("src/deep")
open("src/a", "w").write("a" * 10)
open("src/deep/b", "w").write("b")
shutil.copytree("src", "dst")
shutil.copy2("src/a", "dst/c")
shutil.move("dst/deep", "moved")
print(sorted(os.listdir("dst")), os.listdir("moved"), shutil.which("sh"), shutil.disk_usage(".").total > 0)
print(os.path.basename(shutil.make_archive("archive", "zip", "src")), sorted(shutil.get_archive_formats())[0])
shutil.unpack_archive("archive.zip", "out")
print(sorted(os.listdir("out")))
shutil.rmtree("src")
print(os.path.exists("src"))
#: program tempfile
import os, tempfile
print(tempfile.gettempdir())
with tempfile.TemporaryDirectory() as directory:
    print(os.path.dirname(directory), os.listdir(directory), oct(os.stat(directory).st_mode))
with tempfile.NamedTemporaryFile("w+", suffix=".txt") as file:
    file.write("x")
    file.flush()
    print(os.path.getsize(file.name), file.name.endswith(".txt"))
print(os.path.exists(file.name))
with tempfile.TemporaryFile() as file:
    print(file.write(b"abc"))
with tempfile.SpooledTemporaryFile(10) as file:
    print(file.write(b"a" * 20), file.tell())
#: program glob and fnmatch
import fnmatch, glob, os
for name in "a1.txt", "a2.txt", "b.log", ".hidden", "[x].txt":
    open(name, "w").close()
print(sorted(glob.glob("*.txt")), glob.glob("a[0-9].*")[0] in ("a1.txt", "a2.txt"), glob.glob(glob.escape("[x]") + "*"), glob.glob(".*"))
print(fnmatch.filter(["a.py", "b.c"], "*.py"))
#: program names in other scripts
import os
for name in "grüße.txt", "日本.csv", "with blank", "emoji-😀", "new\nline", "-dash":
    open(name, "w").close()
print(sorted(name for name in os.listdir(".") if not name.endswith(".py")))
open(b"\xff\xfe", "w").close()
print([name for name in os.listdir(b".") if name.startswith(b"\xff")])
print(ascii(sorted(name for name in os.listdir(".") if not name.isprintable())))
#: program a name that is too long
try:
    open("x" * 256, "w")
except OSError as error:
    print(error.errno, error.strerror)
open("x" * 255, "w").close()
#: program encodings of files
open("l1", "w", encoding="latin-1").write("é")
open("u16", "w", encoding="utf-16").write("é")
open("sig", "w", encoding="utf-8-sig").write("é")
print(*(open(name, "rb").read() for name in ("l1", "u16", "sig")))
try:
    open("l1", encoding="utf-8").read()
except UnicodeDecodeError as error:
    print(error)
print(ascii(open("l1", encoding="utf-8", errors="surrogateescape").read()), open("l1").encoding)
#: program new lines
open("a", "w", newline="\r\n").write("x\ny\n")
print(open("a", "rb").read(), repr(open("a").read()), repr(open("a", newline="").read()))
#: program a directory as current directory
import os
os.mkdir("d")
os.chdir("d")
open("here", "w").close()
print(os.getcwd(), os.listdir("."), os.path.abspath(".."), os.path.relpath("/", "/workspace/d"))
#: program descriptors
import os
fd = os.open("a", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
print(os.write(fd, b"hello"), os.lseek(fd, 1, os.SEEK_SET), os.read(fd, 2), os.pread(fd, 2, 0), os.pwrite(fd, b"J", 0))
copy = os.dup(fd)
os.close(fd)
print(os.fstat(copy).st_size, os.get_inheritable(copy), os.isatty(copy))
try:
    os.open("a", os.O_CREAT | os.O_EXCL)
except FileExistsError as error:
    print(error)
try:
    os.read(fd, 1)
except OSError as error:
    print(error)
#: program sparse files and holes
import os
with open("a", "wb") as file:
    file.seek(1 << 20)
    file.write(b"x")
print(os.stat("a").st_size, os.stat("a").st_blocks < 100)
with open("a", "rb") as file:
    print(os.lseek(file.fileno(), 0, os.SEEK_DATA) > 0, os.lseek(file.fileno(), 0, os.SEEK_HOLE))
os.truncate("a", 3)
print(os.path.getsize("a"))
with open("b", "wb") as file:
    os.posix_fallocate(file.fileno(), 0, 5000)
print(os.path.getsize("b"))
#: program locks of fcntl
import fcntl
with open("a", "w") as file:
    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.lockf(file, fcntl.LOCK_UN)
    print("locked", fcntl.fcntl(file, fcntl.F_GETFD))
#: program flock
#: boxed Function not implemented
#: because a lock on a file of /usr would be seen by the host and other boxes
import fcntl
with open("a", "w") as file, open("a") as other:
    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        print(error)
    fcntl.flock(file, fcntl.LOCK_UN)
    print("locked")
#: program extended attributes
import os
open("a", "w").close()
try:
    os.setxattr("a", "user.note", b"x")
    print(os.listxattr("a"), os.getxattr("a", "user.note"))
except OSError as error:
    print(error)
#: program memory maps
import mmap
with open("a", "w+b") as file:
    file.write(b"hello world")
    file.flush()
    with mmap.mmap(file.fileno(), 0) as view:
        view[0:5] = b"HELLO"
        print(view[:], view.find(b"world"), len(view))
        view.flush()
print(open("a", "rb").read())
with mmap.mmap(-1, 4096) as view:
    view.write(b"anonymous")
    print(view[:9])
#: program sendfile and copy_file_range
import os
open("a", "wb").write(b"x" * 1000)
with open("a", "rb") as source, open("b", "wb") as target, open("c", "wb") as third:
    print(os.sendfile(target.fileno(), source.fileno(), 0, 500))
    print(os.copy_file_range(source.fileno(), third.fileno(), 300, 0))
print(os.path.getsize("b"), os.path.getsize("c"))
#: program scandir and directory descriptors
import os
os.mkdir("d")
open("d/a", "w").write("x")
os.mkdir("d/e")
with os.scandir("d") as rows:
    print(sorted((row.name, row.is_dir(), row.is_file(), row.stat().st_size if row.is_file() else 0) for row in rows))
fd = os.open("d", os.O_RDONLY)
print(os.stat("a", dir_fd=fd).st_size, sorted(os.listdir(fd)))
os.rename("a", "b", src_dir_fd=fd, dst_dir_fd=fd)
print(os.path.exists("d/b"))
#: program fifo
import os, threading
os.mkfifo("f")
writer = threading.Thread(target=lambda: open("f", "w").write("through the pipe"))
writer.start()
print(open("f").read())
writer.join()
#: program memfd and sync
#: uncounted
#: boxed memfd_create
#: because no limit but a control group's counts such memory
import os
fd = os.memfd_create("x")
os.write(fd, b"abc")
os.fsync(fd)
os.fdatasync(fd)
print(os.fstat(fd).st_size)
os.sync()
#: program devices
print(len(open("/dev/urandom", "rb").read(8)), open("/dev/zero", "rb").read(2), open("/dev/null").read())
try:
    with open("/dev/full", "w") as file:
        file.write("x")
except OSError as error:
    print(error)
#: program a device node is refused
import os, stat
try:
    os.mknod("d", stat.S_IFCHR | 0o600, os.makedev(1, 3))
except OSError as error:
    print(error)
os.mknod("f", stat.S_IFREG | 0o600)
print(os.path.getsize("f"))
#: program the system's files cannot be written
#: boxed OSError
#: because the box's root is read-only rather than another user's
for path in "/usr/bin/x", "/etc/x", "/x":
    try:
        open(path, "w")
    except OSError as error:
        print(path, type(error).__name__)
#: program the host's files are absent
#: boxed False
#: because the box has its own root
import os
print(os.path.exists("/var/lib"), os.path.exists("/home"))
