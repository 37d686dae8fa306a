import StoreEngine

extension Store {
  /// Returns the current state of an object.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `notEncodable` for any error of the class's
  ///   `writeContent(to:)`.
  func image(
    of object: StoredObject, _ entry: RegisteredClass
  ) throws(StoreError) -> ObjectImage {
    if object.state.contains(.deleted) { return .absent }
    guard object.hasContent else { return .unreadable }
    return .content(try contentImage(of: object, entry))
  }

  func contentImage(
    of object: StoredObject, _ entry: RegisteredClass, _ strangers: Strangers = Strangers()
  ) throws(StoreError) -> ContentImage {
    let outer = (self.strangers, isEncoding)
    (self.strangers, isEncoding) = (strangers, true)
    defer { (self.strangers, isEncoding) = outer }
    var buffer = DataBuffer([], store: self)
    do {
      try object.writeContent(to: &buffer)
      if let failure = buffer.failure { throw failure }
    } catch {
      throw .wrapping(error, .notEncodable, at: entry.location(object.rowID))
    }
    return ContentImage(
      bytes: buffer.bytes, version: entry.version, strangers: strangers.objects)
  }

  /// Sets the content of an object to that of an image.
  func setContent(
    of object: StoredObject, _ entry: RegisteredClass, to image: ContentImage
  ) throws(StoreError) {
    let outer = strangers
    strangers = Strangers(image.strangers)
    defer { strangers = outer }
    var buffer = DataBuffer(image.bytes, store: self)
    buffer.version = image.version
    try setContent(of: object, entry, from: &buffer) { _ in }
  }
}
