import StoreEngine

extension StoreError {
  /// Explains that the class has changed, if a valid record does not match what the class reads.
  func explained(_ version: UInt8, _ entry: RegisteredClass) -> StoreError {
    guard code == .damaged, let fault = underlying as? DataBufferError else { return self }
    if fault.code == .notRegistered {
      return StoreError(
        .notRegistered,
        "The object refers to one of another class. \(fault.message): register it to read the object.",
        at: location, underlying: fault)
    }
    let hint: String
    if entry.checksumsRecords {
      hint = """
        The record is as version \(version) of the class wrote it, so the class has changed: a property \
        that is new since then needs @Since, one that is gone @Dropped, and a hand-written class a \
        higher classVersion.
        """
    } else {
      hint = """
        The record is damaged, or the class has changed since version \(version) wrote it: see \
        @Since.\(entry.unversionedHint)
        """
    }
    return StoreError(
      code, "\(fault.code): \(fault.message). \(hint)", at: location, underlying: underlying)
  }
}

extension RegisteredClass {
  /// Advice for a class of BNRPersistence, which does not record whether it has versions.
  var unversionedHint: String {
    guard let metadata = shared.metadata, metadata.flags == nil, versionsRecords else { return "" }
    return """
       If BNRPersistence wrote the store without per-instance versioning, open it with \
      StoreConfiguration(versionsRecords: false).
      """
  }
}
