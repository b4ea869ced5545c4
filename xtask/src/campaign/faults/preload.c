/* Loaded into the service or into PostgreSQL before other libraries. Injects faults into reads and writes of the
   database, and moves the wall clock. The control file, which is mapped into memory, says which. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { DISK_FULL = 1, WRITE_ERROR = 2, SYNC_ERROR = 3, SLOW_SYNC = 4, READ_ERROR = 5, SHORT_WRITE = 6 };
enum { LOG_FULL = 7, LOG_SYNC_ERROR = 8 };

struct control {
    volatile int64_t clock_offset_seconds;
    volatile int64_t disk_fault;
};

static const struct control *control;
static int (*next_clock_gettime)(clockid_t, struct timespec *);

__attribute__((constructor)) static void open_control(void) {
    const char *path = getenv("FAULT_CONTROL");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    next_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
    if (file < 0) return;
    void *map = mmap(NULL, sizeof *control, PROT_READ, MAP_SHARED, file, 0);
    if (map != MAP_FAILED) control = map;
    close(file);
}

/* Whether a fault concerns a file: the embedded database with its log, and PostgreSQL's tables and indexes. PostgreSQL
   stops if it cannot write its log, so separate faults concern the log; a slow disk concerns both. */
static int is_concerned(const char *path, int64_t fault) {
    if (fault == LOG_FULL || fault == LOG_SYNC_ERROR) return strstr(path, "/data/pg_wal/") != NULL;
    return strstr(path, "/guerdon.db") || strstr(path, "/data/base/")
        || (fault == SLOW_SYNC && strstr(path, "/data/pg_wal/"));
}

/* Writes the path of a file; an empty one if it has none. */
static void read_path(int file, char path[4096]) {
    char link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, 4095);
    path[length > 0 ? length : 0] = 0;
}

/* The current fault of a file; 0 if it has none. */
static int64_t fault_of(int file) {
    char path[4096];
    if (!control || !control->disk_fault) return 0;
    read_path(file, path);
    return is_concerned(path, control->disk_fault) ? control->disk_fault : 0;
}

static int fails_to_write(int file) {
    int64_t fault = fault_of(file);
    if (fault != DISK_FULL && fault != WRITE_ERROR && fault != LOG_FULL) return 0;
    errno = fault == WRITE_ERROR ? EIO : ENOSPC;
    return 1;
}

/* Whether a new file of PostgreSQL's log cannot be created. PostgreSQL names it relative to its data folder. */
static int fails_to_create(const char *path, int flags) {
    if (!control || control->disk_fault != LOG_FULL || !(flags & O_CREAT)) return 0;
    if (!strstr(path, "pg_wal/") || access(path, F_OK) == 0) return 0;
    errno = ENOSPC;
    return 1;
}

/* How many of these bytes a write may write. */
static size_t limit_write(int file, size_t count) {
    return count > 1 && fault_of(file) == SHORT_WRITE ? count / 2 : count;
}

static int fails_to_sync(int file) {
    int64_t fault = fault_of(file);
    if (fault == SLOW_SYNC) usleep(200000);
    if (fault != SYNC_ERROR && fault != LOG_SYNC_ERROR) return 0;
    errno = EIO;
    return 1;
}

static int fails_to_read(int file) {
    if (fault_of(file) != READ_ERROR) return 0;
    errno = EIO;
    return 1;
}

static int open_file(const char *path, int flags, mode_t mode) {
    return fails_to_create(path, flags) ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int open(const char *path, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return open_file(path, flags, mode);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));

ssize_t read(int file, void *bytes, size_t count) {
    return fails_to_read(file) ? -1 : syscall(SYS_read, file, bytes, count);
}

ssize_t pread(int file, void *bytes, size_t count, off_t offset) {
    return fails_to_read(file) ? -1 : syscall(SYS_pread64, file, bytes, count, offset);
}

ssize_t pread64(int file, void *bytes, size_t count, off64_t offset) {
    return fails_to_read(file) ? -1 : syscall(SYS_pread64, file, bytes, count, offset);
}

/* Whether a change of the length fails. PostgreSQL stops if it cannot shorten a table, which even a full disk permits. */
static int fails_to_resize(int file, off64_t length) {
    char path[4096];
    struct stat status;
    if (!fails_to_write(file)) return 0;
    int cause = errno;
    read_path(file, path);
    int shortens_table = strstr(path, "/data/base/") && fstat(file, &status) == 0 && length <= status.st_size;
    errno = cause;
    return !shortens_table;
}

int ftruncate(int file, off_t length) {
    return fails_to_resize(file, length) ? -1 : syscall(SYS_ftruncate, file, length);
}

int ftruncate64(int file, off64_t length) {
    return fails_to_resize(file, length) ? -1 : syscall(SYS_ftruncate, file, length);
}

ssize_t write(int file, const void *bytes, size_t count) {
    return fails_to_write(file) ? -1 : syscall(SYS_write, file, bytes, limit_write(file, count));
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
    return fails_to_write(file) ? -1 : syscall(SYS_pwrite64, file, bytes, limit_write(file, count), offset);
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
    return fails_to_write(file) ? -1 : syscall(SYS_pwrite64, file, bytes, limit_write(file, count), offset);
}

ssize_t pwritev(int file, const struct iovec *parts, int count, off_t offset) {
    return fails_to_write(file) ? -1 : syscall(SYS_pwritev, file, parts, count, offset, 0L);
}

ssize_t pwritev64(int file, const struct iovec *parts, int count, off64_t offset) {
    return fails_to_write(file) ? -1 : syscall(SYS_pwritev, file, parts, count, offset, 0L);
}

ssize_t preadv(int file, const struct iovec *parts, int count, off_t offset) {
    return fails_to_read(file) ? -1 : syscall(SYS_preadv, file, parts, count, offset, 0L);
}

ssize_t preadv64(int file, const struct iovec *parts, int count, off64_t offset) {
    return fails_to_read(file) ? -1 : syscall(SYS_preadv, file, parts, count, offset, 0L);
}

int posix_fallocate(int file, off_t offset, off_t length) {
    return fails_to_write(file) ? errno : syscall(SYS_fallocate, file, 0, offset, length) ? errno : 0;
}

int posix_fallocate64(int file, off64_t offset, off64_t length) {
    return fails_to_write(file) ? errno : syscall(SYS_fallocate, file, 0, offset, length) ? errno : 0;
}

int fsync(int file) { return fails_to_sync(file) ? -1 : syscall(SYS_fsync, file); }

int fdatasync(int file) { return fails_to_sync(file) ? -1 : syscall(SYS_fdatasync, file); }

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = next_clock_gettime ? next_clock_gettime(clock, time) : (int)syscall(SYS_clock_gettime, clock, time);
    if (result == 0 && control && clock == CLOCK_REALTIME) time->tv_sec += control->clock_offset_seconds;
    return result;
}
