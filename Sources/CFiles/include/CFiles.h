#ifndef CFILES_H
#define CFILES_H

// What the system's headers keep from Swift.

/// The number of names that an open file has, or -1 with `errno`.
///
/// `fstat` would tell it too, but it reads the times of the file as well. Linux since 6.13 then gives
/// the next write a time of its own, which makes each sync write the file's inode.
int files_link_count(int descriptor);

/// Opens a file of an open directory, to be written past the system's cache, each write durable when it
/// returns; or -1 with `errno`.
int files_open_direct(int directory, const char *name);

/// Locks an open file, shared, without waiting, against record locks of other openings; 0, or -1 with
/// `errno`. The lock belongs to the opening (`F_OFD_SETLK`): it ends when the last descriptor of that
/// is closed, and not, as other record locks do, when the process closes any descriptor of the file.
int files_lock_shared(int descriptor);

/// Locks one byte of an open file against other openings, without waiting: alone (2), shared (1) or not
/// at all (0); 0, or -1 with `errno`. The byte need not be in the file. As `files_lock_shared`, the lock
/// belongs to the opening.
int files_lock_byte(int descriptor, long byte, int mode);

/// Whether another opening has a lock on a byte that keeps this one from locking it alone: 1 or 0, or -1
/// with `errno`.
int files_byte_is_locked(int descriptor, long byte);

/// Whether an open file is on a file system of another machine: 1 or 0, or -1 with `errno`.
int files_is_remote(int descriptor);

/// Waits until a word is woken, for at most so many nanoseconds; returns at once if its low half isn't the
/// expected one (`FUTEX_WAIT`). The word's address is a multiple of 8.
void files_word_wait(const void *word, unsigned int expected, long nanoseconds);
/// Wakes every thread that waits for a word, in all processes (`FUTEX_WAKE`).
void files_word_wake(const void *word);

/// Opens a new file that is in memory only and has no name in any directory; or -1 with `errno`.
int files_open_memory(const char *name);

/// Lets two names in open directories change places, in one step (`RENAME_EXCHANGE`); 0, or -1 with
/// `errno`.
int files_exchange(int first_directory, const char *first, int second_directory, const char *second);

/// Copies bytes from one open file to another at their positions, sharing them where the file system can
/// (`copy_file_range`); how many were, or -1 with `errno`.
long files_copy_range(int target, int source, unsigned long count);

/// Fills memory with random bytes that nobody can guess (`getrandom`); how many were, which are fewer
/// after a signal, or -1 with `errno`.
long files_random(void *bytes, unsigned long count);

/// A number for the calling process, never 0. A child that was forked gets another one.
///
/// Reads a word of memory that the kernel clears in a child. Asking for the process ID would be a system
/// call each time.
unsigned long files_process(void);

#endif
