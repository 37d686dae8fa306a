/// The content of a file on a ``SimulatedDisk``, live and durable.
struct SimulatedFile: Sendable {
  static let sectorSize = 512

  private(set) var live: [UInt8] = []
  private var durable: [UInt8] = []
  /// The sectors that have been written since the last sync.
  private var dirty: Set<Int> = []
  /// The sizes since the last sync.
  private var sizes: [Int] = []

  init() {}

  /// A file whose content has been on the disk for long.
  init(_ content: [UInt8]) {
    live = content
    durable = content
  }

  mutating func write(_ bytes: some Collection<UInt8>, at offset: Int) {
    guard !bytes.isEmpty else { return }
    if offset + bytes.count > live.count { resize(to: offset + bytes.count) }
    live.replaceSubrange(offset..<offset + bytes.count, with: bytes)
    let last = (offset + bytes.count - 1) / Self.sectorSize
    for sector in offset / Self.sectorSize...last { dirty.insert(sector) }
  }

  mutating func resize(to size: Int) {
    if size < live.count {
      live.removeSubrange(size...)
    } else {
      live.append(contentsOf: repeatElement(0, count: size - live.count))
    }
    sizes.append(size)
  }

  mutating func synchronize() {
    if sizes.isEmpty {
      for sector in dirty { copySector(sector, to: &durable) }
    } else {
      durable = live
    }
    forgetUnsynced()
  }

  /// Takes what is unsynced for synced, without making it durable.
  mutating func forgetUnsynced() {
    dirty = []
    sizes = []
  }

  private func copySector(_ sector: Int, to image: inout [UInt8]) {
    let start = sector * Self.sectorSize
    let end = min(start + Self.sectorSize, live.count, image.count)
    if start < end { image.replaceSubrange(start..<end, with: live[start..<end]) }
  }

  func afterPowerCut(using generator: inout some RandomNumberGenerator) -> SimulatedFile {
    var image = durable
    // The old size, or any that the file has had since.
    if let size = ([durable.count] + sizes).randomElement(using: &generator) {
      if size < image.count { image.removeSubrange(size...) }
      image.append(contentsOf: repeatElement(0, count: size - image.count))
    }
    // Now and then all or nothing, else each sector for itself.
    let fate = Int.random(in: 0..<6, using: &generator)
    for sector in dirty.sorted() {
      let isNew = Bool.random(using: &generator)
      if fate == 0 || fate > 1 && isNew { copySector(sector, to: &image) }
    }
    return SimulatedFile(image)
  }
}
