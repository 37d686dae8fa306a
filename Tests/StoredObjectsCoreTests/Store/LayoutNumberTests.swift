import StoreEngine
import StoredObjectsTestSupport
import Testing

@testable import StoredObjectsCore

private enum First {
  final class Tune: StoredObject {
    @Content var title = ""

    override class var layout: ClassLayout? {
      ClassLayout(Tune.self, [StoredProperty("title", String.self)])
    }
    override func writeContent(to buffer: inout DataBuffer) { buffer.write(title) }
    override func readContent(from buffer: inout DataBuffer) throws {
      title = try buffer.readString()
    }
  }
}

private enum Second {
  final class Tune: StoredObject {
    @Content var plays: UInt32 = 0
    @Content var title = ""

    override class var layout: ClassLayout? {
      ClassLayout(
        Tune.self,
        [StoredProperty("plays", UInt32.self), StoredProperty("title", String.self)])
    }
    override func writeContent(to buffer: inout DataBuffer) {
      buffer.write(plays)
      buffer.write(title)
    }
    override func readContent(from buffer: inout DataBuffer) throws {
      plays = try buffer.readUInt32()
      title = try buffer.readString()
    }
  }
}

@Suite("Numbers of layouts")
struct LayoutNumberTests {
  /// The class in its *n*th form: its one property has another name each time.
  private func declared(_ number: Int) -> DeclaredLayout {
    let property = StoredProperty("p\(number)", Int64.self).formerly("p\(number - 1)")
    return DeclaredLayout(
      classVersion: 0, layout: ClassLayout(First.Tune.self, [property]))
  }

  private let metadata = ClassMetadata(
    classVersion: 255, classID: 0, salt: .init(0, 0), flags: [.layouts])

  private func layouts(
    _ number: Int, _ saved: [SavedLayout]
  ) throws(StoreError) -> ClassLayouts {
    try LayoutResolution("Tune", declared(number), saved.isEmpty ? nil : metadata, saved).layouts()
  }

  /// The content of a record with a number, as the class reads it now.
  private func read(_ number: UInt8, _ layouts: ClassLayouts) throws -> Int64? {
    var record = DataBuffer()
    record.write(77 as Int64)
    record.rewind()
    switch layouts.reading(number) {
    case .asVersion: return number == layouts.number ? 77 : nil
    case .later: return nil
    case .converted(let conversion, _):
      var output = DataBuffer()
      try conversion.convert(&record, fresh: nil, into: &output) { _ in 0 }
      output.rewind()
      return try output.readInt64()
    }
  }

  @Test(
    "A class that is upgraded from time to time can have any number of layouts",
    arguments: [1, 7, 40])
  func reused(_ interval: Int) throws {
    var saved: [SavedLayout] = []
    var forms: [UInt8: Int] = [:]
    for number in 0..<600 {
      let layouts = try layouts(number, saved)
      #expect(layouts.needsSaving && !layouts.isOutdated)
      // No record has the number.
      #expect(forms[layouts.number] == nil)
      forms[layouts.number] = number
      if number % 8 == 0 { for used in forms.keys { #expect(try read(used, layouts) == 77) } }
      saved = layouts.all
      #expect(saved.last?.number == layouts.number && saved.count <= 256)
      let again = try self.layouts(number, saved)
      #expect(again.number == layouts.number && !again.needsSaving)
      if number % interval == 0 {
        saved = saved.map { $0.number == layouts.number ? $0 : $0.withoutRecords }
        forms = [layouts.number: number]
      }
      // The program before this one must not write.
      if number % 8 == 1 { #expect(try self.layouts(number - 1, saved).isOutdated) }
    }
  }

  @Test("A class with records of 256 layouts is refused until it is upgraded")
  func tooMany() throws {
    let full = (0..<256).map { number in
      SavedLayout(
        number: UInt8(number), classVersion: 0,
        form: .properties([
          .init(name: "p\(number)", type: .integer(bitCount: 64, isSigned: true))
        ]))
    }
    expectStoreError(.changedLayout) { _ = try layouts(256, full) }
    let upgraded = full.map { $0.number == 255 ? $0 : $0.withoutRecords }
    #expect(try layouts(256, upgraded).number == 0)
  }

  @Test("A layout that can't be read is an error only while it has records")
  func obstacle() throws {
    let old = SavedLayout(
      number: 0, classVersion: 0, form: .properties([.init(name: "p0", type: .string)]))
    let newest = try layouts(1, [old.withoutRecords]).all
    #expect(newest.map(\.number) == [0, 1])
    expectStoreError(.changedLayout) { _ = try layouts(1, [old]) }
    expectStoreError(.changedLayout) { _ = try layouts(2, [old, newest[1]]) }
    #expect(try layouts(2, newest).number == 2)
  }

  @Test("Layouts without records are marked in the buffer, and read again")
  func bytes() throws {
    let saved = try layouts(1, try layouts(0, []).all).all
    for marks in [[true, true], [false, true]] {
      let layouts = zip(saved, marks).map { $1 ? $0 : $0.withoutRecords }
      var buffer = DataBuffer()
      LayoutFormat.write(layouts, to: &buffer)
      #expect(buffer.bytes[0] == (marks[0] ? 1 : 2))
      buffer.rewind()
      #expect(try LayoutFormat.read(&buffer).map(\.hasRecords) == marks)
    }
  }

  @Test("upgradeObjects frees the numbers of layouts without records")
  func upgraded() throws {
    let fixture = try Fixture(First.Tune.self)
    let first = try fixture.store()
    for title in ["a", "b", "c"] {
      let tune = First.Tune()
      tune.title = title
      first.insert(tune)
    }
    try first.saveChanges()
    try fixture.reopen()
    let second = Store(backend: fixture.backend)
    try second.register(Second.Tune.self)
    try second.object(Second.Tune.self, rowID: 2)?.plays = 1
    try second.saveChanges()
    func marks() throws -> [Bool] {
      try fixture.backend.savedLayouts(of: "Tune").map(\.hasRecords)
    }
    #expect(try marks() == [true, true])
    #expect(try second.upgradeObjects(of: Second.Tune.self) == 2)
    #expect(try marks() == [false, true])
    let number = fixture.backend.lastCommitNumber
    #expect(try second.upgradeObjects(of: Second.Tune.self) == 0)
    #expect(fixture.backend.lastCommitNumber == number)
    try fixture.reopen()
    let again = Store(backend: fixture.backend)
    try again.register(Second.Tune.self)
    #expect(try again.allObjects(of: Second.Tune.self).map(\.title) == ["a", "b", "c"])
    #expect(try again.check().isSound)
    let older = try fixture.store()
    let tune = First.Tune()
    older.insert(tune)
    expectStoreError(.newerVersion) { try older.saveChanges() }
  }
}
