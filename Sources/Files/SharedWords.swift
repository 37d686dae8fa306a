internal import CFiles
internal import Synchronization

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// A small file that several processes map at once: words that each reads without a system call.
///
/// Processes can also wait for a word to change. Any process may write anything to it, so a word is
/// a hint and never a fact. If another process *truncates* the file, reading it raises SIGBUS, as
/// with every mapping: see ``MappedFile``.
///
/// Safe on any thread.
@safe
package final class SharedWords: @unchecked Sendable {
  // Sendable: the address is a constant, and the words are read and written by single atomic
  // instructions.
  private let memory: UnsafeMutableRawPointer
  /// The size of the file; each word has its own cache line.
  package static let byteCount = 4096
  /// The distance of two words in bytes.
  package static let distance = 64

  /// Maps a file, which must have ``byteCount`` bytes.
  ///
  /// - Throws: ``SystemError``.
  package init(_ file: OpenFile) throws(SystemError) {
    let map = unsafe mmap(
      nil, Self.byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor, 0)
    guard let map = unsafe map, unsafe map != MAP_FAILED else {
      throw .last(FileCall.map.rawValue, file.location.path)
    }
    unsafe memory = map
  }

  /// Maps new words, all 0, in memory that ``MemoryFile`` makes known to other processes.
  ///
  /// - Throws: ``SystemError``.
  package convenience init(_ file: MemoryFile) throws(SystemError) {
    try file.resize(to: Self.byteCount)
    try self.init(file.opened)
  }

  deinit { unsafe munmap(memory, Self.byteCount) }

  private func address(_ index: Int) -> UnsafeMutableRawPointer {
    precondition((0..<Self.byteCount / Self.distance).contains(index), "there is no such word")
    return unsafe memory + index * Self.distance
  }

  /// Accesses a word.
  package subscript(index: Int) -> UInt64 {
    get { word(index).load() }
    set { word(index).store(newValue) }
  }

  /// Sets all words to 0, one after another.
  package func clear() {
    for index in 0..<Self.byteCount / Self.distance { self[index] = 0 }
  }

  /// Returns a word, which can be read during the lifetime of this object.
  package func word(_ index: Int) -> SharedWord {
    unsafe SharedWord(address(index).assumingMemoryBound(to: Atomic<UInt64>.self))
  }

  /// Adds to a word, wrapping around.
  ///
  /// - Returns: The previous value.
  @discardableResult
  package func add(_ difference: Int, to index: Int) -> UInt64 {
    word(index).add(UInt64(bitPattern: Int64(difference)))
  }

  /// Waits until a word is woken or the time is over; returns at once if it has changed already.
  package func wait(_ index: Int, while expected: UInt64, atMost time: Duration) {
    let parts = time.components
    let nanoseconds = parts.seconds * 1_000_000_000 + parts.attoseconds / 1_000_000_000
    unsafe files_word_wait(
      address(index), UInt32(truncatingIfNeeded: expected), Int(max(0, nanoseconds)))
  }

  /// Wakes all threads that wait for a word, in all processes.
  package func wake(_ index: Int) { unsafe files_word_wake(address(index)) }
}

/// A word with a known address, for code that reads it often.
@safe
package struct SharedWord: @unchecked Sendable {
  // Sendable: the address is a constant, and each access to the word is a single atomic step.
  private let word: UnsafePointer<Atomic<UInt64>>

  fileprivate init(_ word: UnsafePointer<Atomic<UInt64>>) { unsafe self.word = word }

  /// Returns the value of the word.
  ///
  /// Everything that was written before the word is visible afterwards.
  package func load() -> UInt64 { unsafe word.pointee.load(ordering: .acquiring) }

  fileprivate func store(_ value: UInt64) {
    unsafe word.pointee.store(value, ordering: .releasing)
  }

  fileprivate func add(_ difference: UInt64) -> UInt64 {
    unsafe word.pointee.wrappingAdd(difference, ordering: .acquiringAndReleasing).oldValue
  }
}
