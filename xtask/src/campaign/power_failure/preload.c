/* Loaded into the service before other libraries. Simulates a power failure: when the control file requests one, it
   undoes the writes to the embedded database that no fsync has made durable, reports the result in the control file,
   and ends the process. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { LOSE_ALL = 1, LOSE_SOME = 2 };
enum { COMPLETED = 1, FAILED = 2 };
enum { FILES_MAX = 64, SECTOR_BYTES = 512 };

struct control {
    volatile int64_t power_failure;
    volatile int64_t seed;
    volatile int64_t undone_bytes;
    volatile int64_t outcome;
};

/* A write that is not durable yet, with the bytes that it replaced. Beyond the former end of the file, these are 0. */
struct unsynced {
    struct unsynced *previous;
    uint64_t number;
    off64_t offset, size_before;
    size_t count;
    unsigned char replaced[];
};

/* A file of the database. Its descriptor is never closed, because that would release the locks of the process. */
struct file {
    dev_t device;
    ino_t inode;
    int descriptor;
    uint64_t write_count;
    struct unsynced *last;
};

static struct control *control;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct file files[FILES_MAX];
static int file_count;
static uint64_t random_state;

static void fail(const char *what) {
    fprintf(stderr, "power failure: %s: %s\n", what, strerror(errno));
    if (control) control->outcome = FAILED;
    abort();
}

static int flip_coin(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state >> 63;
}

/* The file of a descriptor; NULL unless it is the database or its write-ahead log. */
static struct file *find_file(int descriptor) {
    char link[32], path[4096];
    struct stat status;
    if (!control || fstat(descriptor, &status) != 0) return NULL;
    for (int i = 0; i < file_count; i++)
        if (files[i].inode == status.st_ino && files[i].device == status.st_dev) return &files[i];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length > 0 ? length : 0] = 0;
    const char *name = strrchr(path, '/');
    if (!name || (strcmp(name, "/guerdon.db") != 0 && strcmp(name, "/guerdon.db-wal") != 0)) return NULL;
    if (file_count == FILES_MAX) fail("too many files");
    int own = open(link, O_RDWR | O_CLOEXEC);
    if (own < 0) fail(path);
    files[file_count] = (struct file){status.st_dev, status.st_ino, own, 0, NULL};
    return &files[file_count++];
}

static void remember(struct file *file, size_t count, off64_t offset) {
    struct stat status;
    struct unsynced *entry = calloc(1, sizeof *entry + count);
    if (!entry || fstat(file->descriptor, &status) != 0) fail("remembering a write");
    *entry = (struct unsynced){file->last, ++file->write_count, offset, status.st_size, count};
    if (pread(file->descriptor, entry->replaced, count, offset) < 0) fail("reading replaced bytes");
    file->last = entry;
}

/* Forgets the writes up to this number, which are durable now. Other threads may have forgotten some of them. */
static void forget(struct file *file, uint64_t last_durable) {
    struct unsynced **link = &file->last;
    while (*link && (*link)->number > last_durable) link = &(*link)->previous;
    struct unsynced *entry = *link;
    *link = NULL;
    while (entry) {
        struct unsynced *previous = entry->previous;
        free(entry);
        entry = previous;
    }
}

static void restore(int descriptor, const struct unsynced *entry, size_t from, size_t count) {
    if (syscall(SYS_pwrite64, descriptor, entry->replaced + from, count, entry->offset + from) != (ssize_t)count)
        fail("restoring replaced bytes");
    control->undone_bytes += count;
}

/* Undoes a random half of the sectors of a write. The file keeps its length. */
static void restore_some(int descriptor, const struct unsynced *entry) {
    for (size_t from = 0; from < entry->count;) {
        size_t rest_of_sector = SECTOR_BYTES - (entry->offset + from) % SECTOR_BYTES;
        size_t count = rest_of_sector < entry->count - from ? rest_of_sector : entry->count - from;
        if (flip_coin()) restore(descriptor, entry, from, count);
        from += count;
    }
}

static void undo(struct file *file, int64_t mode) {
    struct stat status;
    for (const struct unsynced *entry = file->last; entry; entry = entry->previous) {
        if (mode == LOSE_SOME) {
            restore_some(file->descriptor, entry);
            continue;
        }
        restore(file->descriptor, entry, 0, entry->count);
        if (fstat(file->descriptor, &status) != 0) fail("examining a file");
        if (status.st_size > entry->size_before && syscall(SYS_ftruncate, file->descriptor, entry->size_before) != 0)
            fail("shortening a file");
    }
}

/* Waits for the power failure. No write continues after it. */
static void *wait_for_power_failure(void *unused) {
    (void)unused;
    while (!control->power_failure) usleep(1000);
    pthread_mutex_lock(&lock);
    random_state = (uint64_t)control->seed * 0x9E3779B97F4A7C15u | 1;
    for (int i = 0; i < file_count; i++) undo(&files[i], control->power_failure);
    control->outcome = COMPLETED;
    kill(getpid(), SIGKILL);
    return NULL;
}

__attribute__((constructor)) static void start(void) {
    const char *path = getenv("FAULT_CONTROL");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *map = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    pthread_t thread;
    if (map == MAP_FAILED) fail("mapping the control file");
    control = map;
    if (pthread_create(&thread, NULL, wait_for_power_failure, NULL) != 0) fail("starting a thread");
}

static ssize_t write_at(int descriptor, const void *bytes, size_t count, off64_t offset) {
    pthread_mutex_lock(&lock);
    struct file *file = find_file(descriptor);
    if (file) remember(file, count, offset);
    ssize_t written = syscall(SYS_pwrite64, descriptor, bytes, count, offset);
    int cause = errno;
    pthread_mutex_unlock(&lock);
    errno = cause;
    return written;
}

/* Makes the writes before this call durable. Writes during the call may or may not reach the disk with it, so they stay
   in memory until the next call. */
static int sync_file(long call, int descriptor) {
    pthread_mutex_lock(&lock);
    struct file *file = find_file(descriptor);
    uint64_t last = file ? file->write_count : 0;
    pthread_mutex_unlock(&lock);
    int result = (int)syscall(call, descriptor);
    if (!file || result != 0) return result;
    pthread_mutex_lock(&lock); /* waits forever during a power failure, so that nothing is acknowledged after it */
    forget(file, last);
    pthread_mutex_unlock(&lock);
    return result;
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) { return write_at(file, bytes, count, offset); }

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
    return write_at(file, bytes, count, offset);
}

int fsync(int file) { return sync_file(SYS_fsync, file); }

int fdatasync(int file) { return sync_file(SYS_fdatasync, file); }
