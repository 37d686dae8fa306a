extension StoreError {
  /// Whether it is an index that is damaged, which can be made anew, and not what it was made from.
  var isOfIndex: Bool { code == .damaged && place.className == nil }
}

extension RegisteredClass {
  /// The error of a query; where the file of an index is damaged, with what to do about it.
  func queryError(_ error: any Error) -> StoreError {
    guard let damage = error as? StoreError, damage.code == .damaged,
      damage.place.path?.hasSuffix(".\(OrderedTableName.Kind.index.rawValue)") == true
    else { return .wrapping(error, .ioError, at: place()) }
    var place = damage.place
    place.className = name
    return StoreError(
      .damaged,
      """
      \(damage.message) That is an index, and no object is lost: rebuildIndexes(of:) makes the indexes \
      of the class anew.
      """, at: place, underlying: damage)
  }
}
