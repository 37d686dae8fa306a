import Files

/// The mark that identifies a file of a store: the checkpoint that created it.
///
/// A file that a checkpoint creates contains the mark, at a place that other programs ignore. The
/// log's record of the checkpoint and the manifest contain it, too. So a file that was restored
/// from a backup, or copied at another moment than the rest, is not taken for the store's own.
public struct FileMark: Hashable, Sendable {
  /// The epoch of the log at the checkpoint.
  ///
  /// It grows by one with each checkpoint. The first epoch is random, so those of other stores are
  /// far away.
  public let epoch: UInt64
  /// A random number that distinguishes independently modified copies of a store.
  public let number: UInt32

  /// The number of bytes of a mark.
  package static let byteCount = 12
  /// The bytes before a mark, in files where something else could be in its place.
  package static let magic = Array("SOMark".utf8) + [0, 1]

  /// Creates a mark.
  public init(epoch: UInt64, number: UInt32) { (self.epoch, self.number) = (epoch, number) }

  /// A substitute for a mark that damage hides; reading the file reports the damage.
  static let unreadable = FileMark(epoch: 0, number: 0)

  /// Creates the mark of a new checkpoint.
  init(checkpointIn epoch: UInt64) {
    self.init(epoch: epoch, number: .random(in: 0 ... .max))
  }

  /// The bytes of the mark: epoch (8) and number (4), little-endian.
  package var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(littleEndian: epoch)
    bytes.append(littleEndian: number)
    return bytes
  }

  /// Reads a mark; nil for zeros, which mean no mark, and for a wrong number of bytes.
  package init?(_ bytes: ArraySlice<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    let (epoch, number) = Array(bytes).lend {
      ($0.loadUInt64(at: 0, isBigEndian: false), $0.loadUInt32(at: 8, isBigEndian: false))
    }
    guard epoch > 0 else { return nil }
    self.init(epoch: epoch, number: number)
  }

  /// The bytes of the mark after its magic.
  package var markedBytes: [UInt8] { Self.magic + bytes }

  /// Reads a mark after its magic; nil if there is none.
  package init?(marked bytes: ArraySlice<UInt8>) {
    guard bytes.starts(with: Self.magic) else { return nil }
    self.init(bytes.dropFirst(Self.magic.count))
  }

  /// Whether both marks are of one store, or of copies of it.
  func isOfSameStore(as other: FileMark) -> Bool {
    max(epoch, other.epoch) - min(epoch, other.epoch) < StoreManifest.epochLimit
  }
}

extension FileMark {
  /// Returns the error for a file that is not the store's own, with advice.
  ///
  /// - Parameters:
  ///   - expected: The mark of the store's own file.
  ///   - found: The mark in the file; nil if there is none.
  ///   - location: The file.
  /// - Returns: An error with `damaged`.
  static func stranger(
    expected: FileMark, found: FileMark?, at location: StoreError.Location
  ) -> StoreError {
    StoreError(.damaged, "\(strangeness(expected, found)) \(cure)", at: location)
  }

  private static func strangeness(_ expected: FileMark, _ found: FileMark?) -> String {
    guard let found else {
      return "This is not the file that the store wrote: it has none of the store's marks."
    }
    guard found.isOfSameStore(as: expected) else { return "The file belongs to another store." }
    if found.epoch == expected.epoch {
      return "The file belongs to a copy of this store that was changed separately."
    }
    return found.epoch < expected.epoch
      ? "The file is older than the rest of the store."
      : "The file is newer than the rest of the store."
  }

  /// Advice about files from different moments.
  static let cure = """
    A file was restored by itself, or the store was copied while it was in use. Restore the whole \
    store from one backup, or salvage what is there.
    """
}
