import Locks

/// Pages of an encrypted table that were opened lately.
///
/// A look-up goes through the same few pages at the top each time, and a sorted page of results
/// through the same ones below: they are not to be opened anew for each key. A slot holds the page
/// that was there last, so that at most ``byteCount`` bytes are kept for a file.
final class OpenedPages: Sendable {
  private static let slotCount = 64
  /// Larger pages, of long values, are not kept.
  private static let pageSize = 2 * OrderedFileFormat.pageSize
  /// The most that is kept.
  static var byteCount: Int { 2 * slotCount * pageSize }

  /// For pages of level 0, and behind these for those above, which nothing below is to push out.
  private let slots = Locked([Slot](repeating: Slot(), count: 2 * slotCount))

  private struct Slot: Sendable {
    var offset = -1
    var page: [UInt8] = []
  }

  /// A page, from its slot or opened by a closure.
  func page<Failure: Error>(
    at offset: Int, level: Int, open: () throws(Failure) -> [UInt8]
  ) throws(Failure) -> [UInt8] {
    // The offsets of neighbours are some 4 KiB apart.
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
