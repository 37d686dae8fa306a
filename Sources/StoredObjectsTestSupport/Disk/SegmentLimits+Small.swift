public import StoredObjectsCore

extension SegmentLimits {
  /// Sizes with which tables of some hundred bytes are stored in segments, and smaller ones in one file.
  public static var small: SegmentLimits {
    var limits = SegmentLimits()
    (limits.tableBytes, limits.partBytes) = (600, 4 << 10)
    (limits.runBytes, limits.fan, limits.mergedPerByte) = (1 << 10, 3, 1)
    return limits
  }
}
