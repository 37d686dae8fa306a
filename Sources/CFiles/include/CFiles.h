#ifndef CFILES_H
#define CFILES_H

// Calls of the system that Swift can't import, or that differ between systems. Each system has a source
// of its own, and one has the calls that are the same.

/// Tells the processor to read memory that will be needed soon; any address is allowed.
static inline void files_prefetch(const void *address) { __builtin_prefetch(address); }

/// The number of names that an open file has, or -1 with `errno`.
///
/// `fstat` has the number, too, but also reads the times of the file. Linux since 6.13 then gives the
/// next write a time of its own, which makes each sync write the file's inode.
int files_link_count(int descriptor);

/// Opens a file of an open directory for writes that bypass the cache of the system, and are durable
/// when they return. Returns -1 with `errno` if that fails.
int files_open_direct(int directory, const char *name);

/// Locks an open file against record locks of other openings, shared and without waiting. Returns 0, or
/// -1 with `errno`.
///
/// The lock belongs to the opening (`F_OFD_SETLK`): it ends when the last descriptor of the opening is
/// closed. Other record locks end when the process closes any descriptor of the file.
int files_lock_shared(int descriptor);

/// Locks one byte of an open file against other openings, without waiting. Returns 0, or -1 with
/// `errno`.
///
/// The mode is 2 for an exclusive lock, 1 for a shared one, and 0 to unlock. The byte need not be in the
/// file. The lock belongs to the opening, as with `files_lock_shared`.
int files_lock_byte(int descriptor, long byte, int mode);

/// Whether another opening has a lock on a byte that prevents an exclusive lock: 1 or 0, or -1 with
/// `errno`.
int files_byte_is_locked(int descriptor, long byte);

/// Whether an open file is on a file system of another machine: 1 or 0, or -1 with `errno`.
int files_is_remote(int descriptor);

/// Waits until a thread wakes the waiters of a word, for at most the given time (`FUTEX_WAIT`).
///
/// Returns at once if the low half of the word isn't the expected one. The address of the word is a
/// multiple of 8.
void files_word_wait(const void *word, unsigned int expected, long nanoseconds);

/// Wakes all threads that wait for a word, in all processes (`FUTEX_WAKE`).
void files_word_wake(const void *word);

/// Opens a new file in memory, without a name in any directory; or -1 with `errno`.
int files_open_memory(const char *name);

/// Exchanges two names in open directories in one step (`RENAME_EXCHANGE`). Returns 0, or -1 with
/// `errno`.
int files_exchange(int first_directory, const char *first, int second_directory, const char *second);

/// Copies bytes from one open file to another at their positions, and shares them where the file system
/// can (`copy_file_range`). Returns the number of bytes copied, or -1 with `errno`.
long files_copy_range(int target, int source, unsigned long count);

/// Copies bytes from one open file to another at their positions, at most so many (`sendfile`). Returns
/// the number of bytes copied, or -1 with `errno`.
long files_send(int target, int source, unsigned long count);

/// Syncs a file to the disk (`fsync`, or `F_FULLFSYNC` on macOS). Returns 0, or -1 with `errno`.
int files_sync(int descriptor);

/// Syncs the content of a file to the disk (`fdatasync`). Returns 0, or -1 with `errno`.
int files_sync_data(int descriptor);

/// Lets the system begin to write a part of a file to the disk (`sync_file_range`; does nothing on
/// macOS). Returns 0, or -1 with `errno`.
int files_start_writing(int descriptor, long offset, long count);

/// Allocates disk space for a part of a file, which grows if needed (`posix_fallocate`). Returns 0, or
/// the number of the error.
int files_allocate(int descriptor, long offset, long count);

/// Returns the limit on file sizes of the process (`RLIMIT_FSIZE`), or the greatest number for none.
unsigned long files_size_limit(void);

/// Returns the number of processors that the calling thread may run on (`sched_getaffinity`).
///
/// `taskset` or the CPU set of a container may leave it fewer than the machine has, and may change that
/// while the process runs.
int files_processor_count(void);

/// Fills memory with unpredictable bytes (`getrandom`). Returns their number, which is smaller after a
/// signal, or -1 with `errno`.
long files_random(void *bytes, unsigned long count);

/// Returns a number for the calling process, never 0. A forked child gets another number.
///
/// The number is in memory that the kernel clears in a child. Getting the process ID would be a system
/// call each time.
unsigned long files_process(void);

#endif
