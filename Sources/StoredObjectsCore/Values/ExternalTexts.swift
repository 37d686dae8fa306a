import FoundationEssentials
import StoreEngine

/// The texts of values outside of records: all of their Base64, or short ones that stand for it.
struct ExternalTexts {
  /// Opens a value, when its text is needed.
  let open: (ExternalReference) throws -> ExternalReader
  /// The values that are written in pieces; nil where all texts are needed in memory.
  var large: LargeTexts<() throws -> ExternalReader>?

  /// The values of a backend.
  init(
    _ storage: (any ExternalStorage)?, large: LargeTexts<() throws -> ExternalReader>? = nil
  ) {
    self.large = large
    open = { reference in
      guard let storage else {
        throw StoreError(
          .recordMissing, "The value \(reference.id) is stored outside of this backend.")
      }
      return ExternalReader(try storage.open(reference), reference)
    }
  }

  /// Values that a closure opens, written in pieces.
  init(
    large: LargeTexts<() throws -> ExternalReader>,
    open: @escaping (ExternalReference) throws -> ExternalReader
  ) { (self.open, self.large) = (open, large) }

  /// The Base64 of a value, or a text that stands for it.
  ///
  /// - Throws: ``/StoreEngine/StoreError``.
  func text(of reference: ExternalReference) throws -> String {
    if let large { return large.standIn(for: { [open] in try open(reference) }) }
    return Data(try open(reference).readAll()).base64EncodedString()
  }
}
