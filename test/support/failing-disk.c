// For LD_PRELOAD. While the file $FAIL_SWITCH exists, writes, flushes and truncations of files whose
// path contains $FAIL_PATH fail: one in $FAIL_ONE_IN, or, as on a full disk, writes beyond byte
// $FAIL_BEHIND.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int fails(int fd, off64_t end) {
  const char *part = getenv("FAIL_PATH"), *one_in = getenv("FAIL_ONE_IN");
  const char *on = getenv("FAIL_SWITCH"), *behind = getenv("FAIL_BEHIND");
  char link[64], path[4096];
  if (part == NULL || on == NULL || (one_in == NULL && behind == NULL)) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  if (strstr(path, part) == NULL || access(on, F_OK) != 0) return 0;
  if (behind != NULL) {
    errno = ENOSPC;
    return end > atoi(behind);
  }
  if (random() % atoi(one_in) != 0) return 0;
  errno = random() % 2 ? EIO : ENOSPC;
  return 1;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

// of some that fail a part is written
#define WRITING(name, offset)                                                        \
  ssize_t name(int fd, const void *bytes, size_t size, offset at) {                  \
    if (!fails(fd, at + size)) return NEXT(name)(fd, bytes, size, at);               \
    int error = errno;                                                               \
    if (random() % 2 && size > 1) return NEXT(name)(fd, bytes, random() % size, at); \
    errno = error;                                                                   \
    return -1;                                                                       \
  }
WRITING(pwrite, off_t)
WRITING(pwrite64, off64_t)

ssize_t write(int fd, const void *bytes, size_t size) {
  return fails(fd, lseek64(fd, 0, SEEK_CUR) + size) ? -1 : NEXT(write)(fd, bytes, size);
}

int fsync(int fd) { return fails(fd, 0) ? -1 : NEXT(fsync)(fd); }
int fdatasync(int fd) { return fails(fd, 0) ? -1 : NEXT(fdatasync)(fd); }
int ftruncate(int fd, off_t size) { return fails(fd, 0) ? -1 : NEXT(ftruncate)(fd, size); }
int ftruncate64(int fd, off64_t size) { return fails(fd, 0) ? -1 : NEXT(ftruncate64)(fd, size); }
