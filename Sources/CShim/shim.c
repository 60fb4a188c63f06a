#define _GNU_SOURCE
#define XXH_INLINE_ALL
#include "CShim.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <xxhash.h>
#include <sys/inotify.h>

uint64_t shim_hash64(const void *bytes, size_t length, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes, length, seed);
}

// Of Swift's runtime.
extern void *swift_tryRetain(void *object);
extern void *swift_allocObject(const void *metadata, size_t size, size_t alignment_mask);

void *shim_try_retain(void *object) { return swift_tryRetain(object); }

void *shim_allocate_object(const void *metadata, size_t size, size_t alignment_mask) {
  return swift_allocObject(metadata, size, alignment_mask);
}

static uint64_t file_calls = 0;

static _Thread_local int leaves_out_file_calls __attribute__((tls_model("initial-exec"))) = 0;

void shim_leave_out_file_calls(int is_on) { leaves_out_file_calls = is_on; }

// Relaxed: it publishes nothing. Beside a call of the system it costs nothing.
void shim_count_file_call(void) {
  if (!leaves_out_file_calls) __atomic_add_fetch(&file_calls, 1, __ATOMIC_RELAXED);
}

uint64_t shim_file_calls(void) { return __atomic_load_n(&file_calls, __ATOMIC_RELAXED); }

int shim_memory_file(const char *name) { return memfd_create(name, MFD_CLOEXEC); }

int shim_rename_to_new(const char *path, const char *new_path) {
  shim_count_file_call();
  if (renameat2(AT_FDCWD, path, AT_FDCWD, new_path, RENAME_NOREPLACE) == 0) return 0;
  // File systems without the flag: a second name fails if it is taken, too.
  if (errno != EINVAL && errno != ENOSYS) return errno;
  shim_count_file_call();
  if (link(path, new_path) != 0) return errno;
  shim_count_file_call();
  return unlink(path) == 0 ? 0 : errno;
}

static int lock_operation(int descriptor, int command, short type, int64_t byte, int64_t length,
                          struct flock *description) {
  memset(description, 0, sizeof *description);
  description->l_type = type;
  description->l_whence = SEEK_SET;
  description->l_start = byte;
  description->l_len = length;
  for (;;) {
    shim_count_file_call();
    if (fcntl(descriptor, command, description) == 0) return 0;
    if (errno != EINTR) return errno;
  }
}

int shim_lock_byte(int descriptor, int64_t byte, int exclusive, int wait) {
  struct flock description;
  return lock_operation(descriptor, wait ? F_OFD_SETLKW : F_OFD_SETLK,
                        exclusive ? F_WRLCK : F_RDLCK, byte, 1, &description);
}

int shim_unlock_byte(int descriptor, int64_t byte) {
  struct flock description;
  return lock_operation(descriptor, F_OFD_SETLK, F_UNLCK, byte, 1, &description);
}

int shim_unlock_all_bytes(int descriptor) {
  struct flock description;
  memset(&description, 0, sizeof description);
  description.l_type = F_UNLCK;
  description.l_whence = SEEK_SET;
  shim_count_file_call();
  return fcntl(descriptor, F_OFD_SETLK, &description) == 0 ? 0 : errno;
}

int shim_byte_is_locked(int descriptor, int64_t byte) {
  struct flock description;
  int failure = lock_operation(descriptor, F_OFD_GETLK, F_WRLCK, byte, 1, &description);
  if (failure != 0) return -failure;
  return description.l_type != F_UNLCK;
}

int shim_first_locked(int descriptor, int64_t byte, int64_t length, int64_t *start) {
  struct flock description;
  int failure = lock_operation(descriptor, F_OFD_GETLK, F_WRLCK, byte, length, &description);
  if (failure != 0) return -failure;
  *start = description.l_start;
  return description.l_type != F_UNLCK;
}

void shim_set_thread_name(const char *name) { pthread_setname_np(pthread_self(), name); }

static _Thread_local uint64_t thread_identifier = 0;

uint64_t shim_thread_identifier(void) {
  if (thread_identifier == 0) thread_identifier = (uint64_t)syscall(SYS_gettid);
  return thread_identifier;
}

enum { main_thread_token = 1 };

// In a library, too, without a call: the engine is never loaded while a program runs.
static _Thread_local uint64_t thread_token __attribute__((tls_model("initial-exec"))) = 0;
static uint64_t last_thread_token = main_thread_token;

static __attribute__((noinline)) uint64_t draw_thread_token(void) {
  // Relaxed: only uniqueness matters, the number publishes nothing.
  uint64_t token = shim_thread_identifier() == (uint64_t)getpid()
                       ? main_thread_token
                       : __atomic_add_fetch(&last_thread_token, 1, __ATOMIC_RELAXED);
  thread_token = token;
  return token;
}

uint64_t shim_thread_token(void) {
  uint64_t token = thread_token;
  return __builtin_expect(token != 0, 1) ? token : draw_thread_token();
}

uint64_t shim_thread_token_or_zero(void) { return thread_token; }

static _Thread_local void *remembered __attribute__((tls_model("initial-exec"))) = NULL;
static pthread_key_t remembered_key;
static int has_remembered_key = 0;

// Of Swift's runtime: they count what keeps the memory of an object, not the object.
extern void *swift_unownedRetain(void *object);
extern void swift_unownedRelease(void *object);

static void forget_remembered(void *object) {
  // The thread ends; what runs in it after this may remember anew.
  remembered = NULL;
  swift_unownedRelease(object);
}

__attribute__((constructor)) static void make_remembered_key(void) {
  has_remembered_key = pthread_key_create(&remembered_key, forget_remembered) == 0;
}

void *shim_remembered(void) { return remembered; }

void shim_remember(void *object) {
  // Without a key nobody would let go of it.
  if (!has_remembered_key || pthread_setspecific(remembered_key, object) != 0) return;
  void *old = remembered;
  swift_unownedRetain(object);
  remembered = object;
  if (old) swift_unownedRelease(old);
}

static uint64_t fork_generation = 0;

uint64_t shim_fork_generation(void) { return __atomic_load_n(&fork_generation, __ATOMIC_RELAXED); }

static void count_fork(void) {
  thread_identifier = 0;
  __atomic_add_fetch(&fork_generation, 1, __ATOMIC_RELAXED);
}

__attribute__((constructor)) static void watch_forks(void) {
  pthread_atfork(NULL, NULL, count_fork);
}

int shim_file_system_magic(const char *path, uint32_t *magic) {
  struct statfs description;
  for (;;) {
    shim_count_file_call();
    if (statfs(path, &description) == 0) break;
    if (errno != EINTR) return errno;
  }
  *magic = (uint32_t)description.f_type;
  return 0;
}

int shim_overwrites_in_place(int descriptor) {
  struct statfs description;
  shim_count_file_call();
  if (fstatfs(descriptor, &description) != 0) return 0;
  if ((uint32_t)description.f_type == 0x01021994) return 1; // tmpfs, and files in memory
  // ext2 to ext4; a smaller block would leave a page with a part that has no place yet.
  return (uint32_t)description.f_type == 0xef53 && description.f_bsize >= sysconf(_SC_PAGESIZE);
}

void shim_start_writing(int descriptor, int64_t offset, int64_t length) {
  shim_count_file_call();
  (void)sync_file_range(descriptor, offset, length, SYNC_FILE_RANGE_WRITE);
}

int shim_write_durably(int descriptor, const void *bytes, size_t length, int64_t offset) {
  const char *next = bytes;
  int is_synced = 1;
  while (length > 0) {
    struct iovec piece = {(void *)next, length};
    shim_count_file_call();
    ssize_t written = pwritev2(descriptor, &piece, 1, offset, is_synced ? RWF_DSYNC : 0);
    if (written < 0) {
      if (errno == EINTR) continue;
      // A kernel or file system that does not know the flag.
      if (is_synced && (errno == EOPNOTSUPP || errno == ENOSYS)) {
        is_synced = 0;
        continue;
      }
      return errno;
    }
    if (written == 0) return EIO;
    next += written;
    offset += written;
    length -= (size_t)written;
  }
  if (is_synced) return 0;
  for (;;) {
    shim_count_file_call();
    if (fdatasync(descriptor) == 0) return 0;
    if (errno != EINTR) return errno;
  }
}

int shim_bypass_cache(int descriptor, int is_on) {
  shim_count_file_call();
  int flags = fcntl(descriptor, F_GETFL);
  if (flags < 0) return errno;
  flags = is_on ? flags | O_DIRECT : flags & ~O_DIRECT;
  shim_count_file_call();
  return fcntl(descriptor, F_SETFL, flags) < 0 ? errno : 0;
}

/// Reads whole pages into an aligned buffer.
static int64_t read_pages(int descriptor, char *buffer, size_t length, int64_t offset) {
  size_t done = 0;
  while (done < length) {
    shim_count_file_call();
    ssize_t received = pread(descriptor, buffer + done, length - done, offset + (int64_t)done);
    if (received < 0) {
      if (errno == EINTR) continue;
      // A disk that wants more than pages.
      return errno == EINVAL ? -EOPNOTSUPP : -errno;
    }
    done += (size_t)received;
    // Only at the end of the file is there less than a page.
    if (received == 0 || done % 4096 != 0) break;
  }
  return (int64_t)done;
}

int64_t shim_read_past_cache(int descriptor, void *bytes, size_t length, int64_t offset) {
  char path[40];
  snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
  // Another open file: the flag is not for those who read by this one.
  shim_count_file_call();
  int direct = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
  if (direct < 0) return -EOPNOTSUPP;
  int64_t start = offset / 4096 * 4096;
  size_t skipped = (size_t)(offset - start);
  size_t whole = (skipped + length + 4095) / 4096 * 4096;
  void *buffer;
  if (posix_memalign(&buffer, 4096, whole) != 0) {
    close(direct);
    return -ENOMEM;
  }
  int64_t received = read_pages(direct, buffer, whole, start);
  shim_count_file_call();
  close(direct);
  if (received >= 0) {
    received -= (int64_t)skipped;
    if (received < 0) received = 0;
    if ((size_t)received > length) received = (int64_t)length;
    memcpy(bytes, (char *)buffer + skipped, (size_t)received);
  }
  free(buffer);
  return received;
}

int64_t shim_random_bytes(void *buffer, size_t length) { return getrandom(buffer, length, 0); }

int shim_watches_open(void) {
  int descriptor = inotify_init1(IN_CLOEXEC);
  return descriptor < 0 ? -errno : descriptor;
}

int shim_watches_add(int descriptor, const char *path) {
  int watch = inotify_add_watch(descriptor, path, IN_MODIFY);
  return watch < 0 ? -errno : watch;
}

int shim_watches_remove(int descriptor, int watch) {
  return inotify_rm_watch(descriptor, watch) < 0 ? -errno : 0;
}

int shim_watches_wait(int descriptor, int *watches, int capacity) {
  _Alignas(struct inotify_event) char buffer[4096];
  // What is read is gone: no more than there is room for. Events of files have no name.
  size_t room = (size_t)capacity * sizeof(struct inotify_event);
  ssize_t length = read(descriptor, buffer, room < sizeof buffer ? room : sizeof buffer);
  if (length < 0) return -errno;
  int count = 0;
  for (char *next = buffer; next < buffer + length && count < capacity;) {
    const struct inotify_event *event = (const struct inotify_event *)next;
    watches[count++] = event->wd;
    next += sizeof *event + event->len;
  }
  return count;
}

static _Thread_local void *loose_values;

void *shim_loose_values(void) { return loose_values; }
void shim_set_loose_values(void *values) { loose_values = values; }

size_t shim_stack_left(void) {
  static _Thread_local const char *low, *high;
  char here;
  if (low == NULL) {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
      return SIZE_MAX;
    void *stack;
    size_t size;
    int failure = pthread_attr_getstack(&attributes, &stack, &size);
    pthread_attr_destroy(&attributes);
    if (failure != 0)
      return SIZE_MAX;
    low = stack;
    high = low + size;
  }
  // Code may run on a stack of its own.
  return &here > low && &here < high ? (size_t)(&here - low) : SIZE_MAX;
}

static _Thread_local int32_t nesting_depth;

int32_t shim_enter_nesting(void) { return ++nesting_depth; }
void shim_leave_nesting(void) { nesting_depth--; }
