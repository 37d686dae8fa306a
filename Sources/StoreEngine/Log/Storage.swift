/// A file, as the commit log needs it: a few calls, so that tests can put a failing disk in its
/// place.
///
/// What is written is durable once ``synchronize()`` has returned, and not before: until then each
/// 512-byte sector may be old or new after a power cut. Calls come from one thread at a time.
public protocol Storage: AnyObject, Sendable {
  /// The size in bytes.
  ///
  /// - Throws: what the operating system says.
  func size() throws -> Int
  /// Reads up to so many bytes; fewer at the end of the file.
  ///
  /// - Throws: what the operating system says.
  func read(_ count: Int, at offset: Int) throws -> [UInt8]
  /// Writes all of these bytes; the file grows if need be.
  ///
  /// - Throws: what the operating system says.
  func write(_ bytes: [UInt8], at offset: Int) throws
  /// Grows a file with zeros, so that later writes change no metadata; or cuts it off.
  ///
  /// - Throws: what the operating system says.
  func resize(to size: Int) throws
  /// Brings what was written to the disk (`fdatasync`).
  ///
  /// - Throws: what the operating system says.
  func synchronize() throws
  /// Writes all of these bytes within the file, and brings them, not what was written before, to
  /// the disk.
  ///
  /// What stands behind them in the file, up to a block of the disk, may become zero.
  ///
  /// - Returns: false, with nothing done, where that is no quicker than ``write(_:at:)`` and
  ///   ``synchronize()``.
  /// - Throws: what the operating system says. Nobody knows then what the disk holds.
  func writeThrough(_ bytes: [UInt8], at offset: Int) throws -> Bool
  /// Gives the file back.
  func close()
}

extension Storage {
  /// Leaves it to ``write(_:at:)`` and ``synchronize()``.
  public func writeThrough(_ bytes: [UInt8], at offset: Int) throws -> Bool { false }
}
