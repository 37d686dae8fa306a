import Locks

/// A cache of recently opened pages of an encrypted table.
///
/// Look-ups pass the same few pages at the top each time, and a sorted page of results passes the
/// same ones below: opening them again for each key would be slow. A slot holds the last page that
/// was assigned to it, so that a file keeps at most ``byteCount`` bytes.
final class OpenedPages: Sendable {
  private static let slotCount = 64
  /// The maximum size of a cached page; larger ones have long values.
  private static let pageSize = 2 * OrderedFileFormat.pageSize
  /// The maximum size of the cache.
  static var byteCount: Int { 2 * slotCount * pageSize }

  /// The slots for pages of level 0, followed by separate ones for higher levels.
  ///
  /// So pages of level 0 can't evict those above.
  private let slots = Locked([Slot](repeating: Slot(), count: 2 * slotCount))

  private struct Slot: Sendable {
    var offset = -1
    var page: [UInt8] = []
  }

  /// Returns a page from its slot, or opens it with a closure.
  func page<Failure: Error>(
    at offset: Int, level: Int, open: () throws(Failure) -> [UInt8]
  ) throws(Failure) -> [UInt8] {
    // The offsets of adjacent pages are about 4 KiB apart.
    let slot =
      offset / OrderedFileFormat.pageSize % Self.slotCount + (level > 0 ? Self.slotCount : 0)
    let known = slots.withLock { $0[slot] }
    if known.offset == offset { return known.page }
    let page = try open()
    if page.count <= Self.pageSize {
      slots.withLock { $0[slot] = Slot(offset: offset, page: page) }
    }
    return page
  }
}
