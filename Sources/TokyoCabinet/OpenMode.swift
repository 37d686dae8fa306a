/// The access to a database.
///
/// The file is locked in either mode, without waiting: any number of readers, or one writer.
public enum OpenMode: Sendable, Hashable {
  /// Reading only. The file must exist.
  case readOnly
  /// Reading and writing.
  case readWrite(Options)

  /// Reading and writing an existing file.
  public static let readWrite = OpenMode.readWrite([])

  /// Changes to the file before it is written.
  public struct Options: OptionSet, Sendable, Hashable {
    /// The bits of the options.
    public let rawValue: UInt8
    /// Creates options from their bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A missing file is created (`HDBOCREAT`), and an empty one initialized.
    public static let create = Options(rawValue: 1 << 0)
    /// An existing file loses its records and gets a new layout (`HDBOTRUNC`).
    public static let truncate = Options(rawValue: 1 << 1)
  }

  /// Whether this is ``readOnly``.
  public var isReadOnly: Bool { self == .readOnly }

  /// The options; none when reading only.
  var options: Options {
    switch self {
    case .readOnly: []
    case .readWrite(let options): options
    }
  }
}
