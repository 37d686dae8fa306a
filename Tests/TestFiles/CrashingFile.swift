import Foundation

/// The content of a file in a ``CrashingDirectory``: live in the file, durable in this value.
struct CrashingFile: Sendable {
  private static let sectorSize = 512

  private let handle: FileHandle
  var durable: [UInt8] = []
  /// The sectors that a failed sync has forgotten, and that have not been written again.
  private var lost: Set<Int> = []

  init(_ handle: FileHandle) { self.handle = handle }

  func live() throws -> [UInt8] {
    try handle.seek(toOffset: 0)
    return Array(try handle.readToEnd() ?? Data())
  }

  /// Records a write: sectors that are written again become durable with the next sync.
  mutating func noteWrite(_ range: Range<Int>) {
    if lost.isEmpty || range.isEmpty { return }
    lost.subtract(range.lowerBound / Self.sectorSize...(range.upperBound - 1) / Self.sectorSize)
  }

  mutating func synchronize() throws {
    var image = try live()
    for sector in lost {
      for offset in Self.range(of: sector).clamped(to: image.indices) {
        image[offset] = offset < durable.count ? durable[offset] : 0
      }
    }
    durable = image
  }

  mutating func forgetUnsynced() throws {
    lost.formUnion(Self.changedSectors(from: durable, to: try live()))
  }

  func afterPowerCut(using generator: inout some RandomNumberGenerator) throws -> [UInt8] {
    let live = try live()
    if durable == live { return live }
    var image = durable
    if Bool.random(using: &generator) {
      image = Array(durable.prefix(live.count))
      image += [UInt8](repeating: 0, count: live.count - image.count)
    }
    // Sometimes all sectors or none, otherwise each sector independently.
    let fate = Int.random(in: 0..<6, using: &generator)
    for sector in Self.changedSectors(from: durable, to: live) where !lost.contains(sector) {
      let isNew = Bool.random(using: &generator)
      let part = Self.range(of: sector).clamped(to: 0..<min(image.count, live.count))
      if fate == 0 || fate > 1 && isNew { image.replaceSubrange(part, with: live[part]) }
    }
    return image
  }

  private static func range(of sector: Int) -> Range<Int> {
    sector * sectorSize..<(sector + 1) * sectorSize
  }

  private static func changedSectors(from old: [UInt8], to new: [UInt8]) -> [Int] {
    (0..<(new.count + sectorSize - 1) / sectorSize).filter { sector in
      let part = range(of: sector).clamped(to: 0..<new.count)
      return part.upperBound > old.count || old[part] != new[part]
    }
  }
}
