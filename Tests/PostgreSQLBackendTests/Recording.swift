import StoredObjectsCore

/// A class with a value outside of records.
final class Recording: StoredObject {
  @Content var title = ""
  @Content var audio = ExternalData()

  override class var layout: ClassLayout? {
    ClassLayout(
      Recording.self,
      [StoredProperty("title", String.self), StoredProperty("audio", ExternalData.self)])
  }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(title)
    buffer.write(audio)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    title = try buffer.readString()
    audio = try buffer.read()
  }
}
