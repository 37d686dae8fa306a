import Files

/// By what a file of a store is known: the checkpoint that has made it.
///
/// Files that a checkpoint makes have its mark in them, at a place where nobody else looks. The
/// log's record of the checkpoint and the manifest name it, too. So a file that was brought back
/// from a backup, or copied at another moment than the rest, does not pass for the store's own.
public struct FileMark: Hashable, Sendable {
  /// The epoch of the log at the checkpoint.
  ///
  /// It grows by one with each checkpoint. The first is random: those of another store are far
  /// away.
  public let epoch: UInt64
  /// A random number, by which copies of a store that went on by themselves differ.
  public let number: UInt32

  /// How many bytes a mark takes.
  package static let byteCount = 12
  /// The bytes in front of a mark, in files where something else could be.
  package static let magic = Array("SOMark".utf8) + [0, 1]

  /// Describes a mark.
  public init(epoch: UInt64, number: UInt32) { (self.epoch, self.number) = (epoch, number) }

  /// Stands for the mark of a file whose damage hides it; reading the file reports that.
  static let unreadable = FileMark(epoch: 0, number: 0)

  /// The mark of a checkpoint that begins.
  init(checkpointIn epoch: UInt64) {
    self.init(epoch: epoch, number: .random(in: 0 ... .max))
  }

  /// The bytes of a mark: epoch (8), number (4), the least significant byte first.
  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(littleEndian: epoch)
    bytes.append(littleEndian: number)
    return bytes
  }

  /// Reads a mark; nil for zeros, which stand for none, and for another number of bytes.
  package init?(_ bytes: ArraySlice<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    let (epoch, number) = Array(bytes).lend {
      ($0.loadUInt64(at: 0, isBigEndian: false), $0.loadUInt32(at: 8, isBigEndian: false))
    }
    guard epoch > 0 else { return nil }
    self.init(epoch: epoch, number: number)
  }

  /// The bytes of a mark with its magic in front.
  package var markedBytes: [UInt8] { Self.magic + bytes }

  /// Reads a mark behind its magic; nil where there is none.
  package init?(marked bytes: ArraySlice<UInt8>) {
    guard bytes.starts(with: Self.magic) else { return nil }
    self.init(bytes.dropFirst(Self.magic.count))
  }

  /// Whether both are of one store, or of copies of it.
  func isOfSameStore(as other: FileMark) -> Bool {
    max(epoch, other.epoch) - min(epoch, other.epoch) < StoreManifest.epochLimit
  }
}

extension FileMark {
  /// Why a file is not the one that a store has, and what to do.
  ///
  /// - Parameters:
  ///   - expected: The mark of the store's own file.
  ///   - found: The mark that is in the file; nil when there is none.
  ///   - location: The file.
  /// - Returns: damage.
  static func stranger(
    expected: FileMark, found: FileMark?, at location: StoreError.Location
  ) -> StoreError {
    StoreError(.damaged, "\(strangeness(expected, found)) \(cure)", at: location)
  }

  private static func strangeness(_ expected: FileMark, _ found: FileMark?) -> String {
    guard let found else {
      return "This is not the file that the store has made: it has none of the store's marks."
    }
    guard found.isOfSameStore(as: expected) else { return "The file is that of another store." }
    if found.epoch == expected.epoch {
      return "The file is that of a copy of this store that went on by itself."
    }
    return found.epoch < expected.epoch
      ? "The file is older than the rest of the store."
      : "The file is newer than the rest of the store."
  }

  /// Advice about files of different moments.
  static let cure = """
    A file was brought back by itself, or the store was copied while it was in use. Bring back the \
    whole store from one backup, or salvage what is there.
    """
}
