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

/// Opens a new file that is in memory only and has no name in any directory; or -1 with `errno`.
int files_open_memory(const char *name);

/// Lets two names in open directories change places, in one step (`RENAME_EXCHANGE`); 0, or -1 with
/// `errno`.
int files_exchange(int first_directory, const char *first, int second_directory, const char *second);

/// Fills memory with random bytes that nobody can guess (`getrandom`); how many were, which are fewer
/// after a signal, or -1 with `errno`.
long files_random(void *bytes, unsigned long count);

/// A number for the calling process, never 0. A child that was forked gets another one.
///
/// Reads a word of memory that the kernel clears in a child. Asking for the process ID would be a system
/// call each time.
unsigned long files_process(void);

#endif
