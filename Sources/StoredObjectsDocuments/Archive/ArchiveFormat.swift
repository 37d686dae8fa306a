/// The layout of an archive: a ZIP file whose entries are not compressed.
///
///     mimetype            the MIME type, first, so that its bytes are at offset 38 of the file
///     Document.json
///     Versions.json       if the document keeps versions
///     Preview/...
///     Store/...           the files of the store, encrypted if the store is
///
/// Every program that reads ZIP files can unpack it. Sizes and offsets from 4 GiB on, and numbers
/// of entries from 65,535 on, are in ZIP64 records.
enum ArchiveFormat {
  static let localHeader: UInt32 = 0x0403_4B50
  static let centralHeader: UInt32 = 0x0201_4B50
  static let end: UInt32 = 0x0605_4B50
  static let end64: UInt32 = 0x0606_4B50
  static let end64Locator: UInt32 = 0x0706_4B50

  static let localHeaderSize = 30
  static let centralHeaderSize = 46
  static let endSize = 22
  static let end64Size = 56
  static let end64LocatorSize = 20
  /// The place of the checksum in a local header.
  static let checksumOffset = 14

  /// The flag of names in UTF-8, and the flags that an entry may have.
  static let utf8Flag: UInt16 = 1 << 11
  static let encryptedFlag: UInt16 = 1 << 0
  /// The ID of the extra field with 64-bit numbers.
  static let extra64: UInt16 = 1

  static let mimeTypeName = "mimetype"
  /// The date of all entries, 1 January 1980, so that equal documents have equal archives.
  static let date: UInt32 = 0x0021_0000

  /// The modes of files in the upper half of the external attributes.
  static let regularFile: UInt32 = 0o100_000
  static let directory: UInt32 = 0o040_000
  static let typeMask: UInt32 = 0o170_000

  static let chunkSize = 1 << 18
}

/// The limits of an imported archive, which protect the program from malicious files.
public struct ArchiveLimits: Sendable, Hashable {
  /// The maximum size of the content in bytes; 64 GiB by default.
  ///
  /// Entries are not compressed, so the content is never larger than the archive.
  public var byteCount = 64 << 30
  /// The maximum number of entries; 1,000,000 by default.
  public var entryCount = 1_000_000

  /// Creates the default limits.
  public init() {}
}
