import FoundationEssentials
import StoreEngine

/// The texts of values stored outside of records: their Base64, or short placeholders for it.
struct ExternalTexts {
  /// Opens a value when its text is needed.
  let open: (ExternalReference) throws -> ExternalReader
  /// The values that are written in pieces; nil if all texts are needed in memory.
  var large: LargeTexts<() throws -> ExternalReader>?

  /// Creates texts of the values of a backend.
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

  /// Creates placeholders for values that a closure opens and that are written in pieces.
  init(
    large: LargeTexts<() throws -> ExternalReader>,
    open: @escaping (ExternalReference) throws -> ExternalReader
  ) { (self.open, self.large) = (open, large) }

  /// Returns the Base64 of a value, or a placeholder for it.
  ///
  /// - Throws: ``/StoreEngine/StoreError``.
  func text(of reference: ExternalReference) throws -> String {
    if let large { return large.standIn(for: { [open] in try open(reference) }) }
    return Data(try open(reference).readAll()).base64EncodedString()
  }
}
