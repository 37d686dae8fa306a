import StoredObjectsCore

/// A user with many comments.
final class Writer: StoredObject {
  @Content var remarks: [Remark] = []
  @Content var name = ""

  override class var relationships: [Relationship] {
    [Relationship(\Writer.remarks, inverse: \Remark.writer)]
  }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(remarks)
    buffer.write(name)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    remarks = try buffer.readObjects(of: Remark.self)
    name = try buffer.readString()
  }
}

/// A comment, which quotes another one, without an inverse.
final class Remark: StoredObject {
  @Content var writer: Writer?
  @Content var text = ""
  @Content var quoted: Remark?

  override class var relationships: [Relationship] { [Relationship(\Remark.quoted)] }
  override class var indexes: [AttributeIndex] { [AttributeIndex("quoted", \Remark.quoted)] }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(writer)
    buffer.write(text)
    buffer.write(quoted)
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    writer = try buffer.readObject(of: Writer.self)
    text = try buffer.readString()
    quoted = try buffer.readObject(of: Remark.self)
  }
}
