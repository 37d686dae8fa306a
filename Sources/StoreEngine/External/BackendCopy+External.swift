extension BackendCopy {
  /// Copies the external values, before the table that lists them.
  func copyValues(
    from source: any StoreBackend, to target: any StoreBackend
  ) throws(StoreError) {
    guard let old = source.externalStorage, let catalogue = try ExternalCatalogue.ifUsed(in: source)
    else { return }
    guard let new = target.externalStorage else {
      throw StoreError(
        .invalidArgument, "The store has external values, and the target can't keep any.",
        at: .init(path: target.location))
    }
    var last: ExternalID?
    try catalogue.forEach { (reference, _) throws(StoreError) in
      if reference.id == last { return }
      last = reference.id
      var reader = ExternalReader(try old.open(reference), reference)
      var writer = try ExternalValueWriter(new, reference.id)
      while let chunk = try reader.next() { try writer.write(chunk) }
      guard try writer.finish() == reference else {
        throw StoreError(
          .damaged, "The copy of the value \(reference.id) differs.",
          at: .init(path: target.location))
      }
    }
    try new.synchronize()
  }
}
