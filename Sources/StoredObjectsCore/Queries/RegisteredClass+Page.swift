import StoreEngine

extension RegisteredClass {
  /// Checks that the limit and the offset of a page are valid.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `invalidArgument`.
  func requirePage(limit: Int?, offset: Int) throws(StoreError) {
    if let limit, limit < 0 {
      throw StoreError(
        .invalidArgument, "The limit is \(limit): give 0 or more, or none.", at: location())
    }
    if offset < 0 {
      throw StoreError(.invalidArgument, "The offset is \(offset): give 0 or more.", at: location())
    }
  }
}
