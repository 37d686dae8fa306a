import Files
package import StoreEngine

extension StoreBackend {
  /// Returns the layouts of a class's records, for programs without the class.
  ///
  /// - Returns: The layouts in the order in which the store got them; none for a class that was
  ///   last saved before stores kept layouts.
  /// - Throws: ``/StoreEngine/StoreError`` with `damaged` or `ioError`.
  package func savedLayouts(of className: String) throws(StoreError) -> [SavedLayout] {
    let name = LayoutFormat.bufferName(of: className)
    guard let sealed = try sealedBuffer(named: name) else { return [] }
    return try LayoutFormat.read(sealed, of: className, in: location)
  }

  /// Returns the bytes of a named buffer, with its checksum; nil if there is no such buffer.
  func sealedBuffer(named name: String) throws(StoreError) -> [UInt8]? {
    do {
      var bytes: [UInt8] = []
      return try copyNamedBuffer(name, to: &bytes) ? bytes : nil
    } catch {
      throw .wrapping(error, .ioError, at: .init(path: location))
    }
  }
}
