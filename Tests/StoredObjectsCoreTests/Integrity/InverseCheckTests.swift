import StoredObjectsTestSupport
import Testing

@testable import StoredObjectsCore

@Suite("Checking both sides of relationships")
struct InverseCheckTests {
  /// A store with two tunes on a disc, both in a list, the first one twice; without checksums, so
  /// that records can be planted.
  private func saved() throws -> Fixture {
    let fixture = try Fixture(Tune.self, TuneList.self, Disc.self, Sleeve.self, Branch.self)
    let store = try fixture.store(StoreConfiguration(checksumsRecords: false))
    let tunes = [Tune("a"), Tune("b")]
    let (disc, list) = (Disc(), TuneList("l"))
    for object in tunes + [disc, list] as [StoredObject] { store.insert(object) }
    disc.tunes = tunes
    list.tunes = [tunes[0], tunes[0], tunes[1]]
    try store.saveChanges()
    return fixture
  }

  /// The record of a tune.
  private func tune(_ name: String, lists: [UInt8], disc: UInt8) -> [UInt8] {
    [0, 1, 0, 0, 0] + Array(name.utf8) + [UInt8(lists.count), 0, 0, 0]
      + lists.flatMap { [$0, 0, 0, 0] } + [disc, 0, 0, 0]
  }

  private func findings(_ fixture: Fixture) throws -> [StoreFinding] {
    try fixture.store().check().findings
  }

  @Test("Relationships that were only edited are sound")
  func sound() throws {
    let fixture = try saved()
    #expect(try findings(fixture) == [])
    try fixture.overwrite(Tune.self, 2, tune("a", lists: [2, 2], disc: 2))
    #expect(try findings(fixture) == [])
  }

  @Test("A list with an object that does not refer back is found, with class, row and property")
  func list() throws {
    let fixture = try saved()
    try fixture.overwrite(Tune.self, 3, tune("b", lists: [2], disc: 0))
    let findings = try findings(fixture)
    #expect(findings.map(\.kind) == [.oneSided])
    let finding = try #require(findings.first)
    #expect(finding.location.className == "Disc" && finding.location.rowID == 2)
    #expect(finding.message.hasPrefix("\"tunes\" refers to Tune row 3, whose \"disc\""))
  }

  @Test("A reference to an object whose list lacks it is found")
  func reference() throws {
    let fixture = try saved()
    // No tunes, no sleeve, no favourites.
    try fixture.overwrite(Disc.self, 2, [UInt8](repeating: 0, count: 1 + 4 + 4 + 4))
    let findings = try findings(fixture)
    #expect(findings.map(\.kind) == [.oneSided, .oneSided])
    #expect(findings.map(\.location.className) == ["Tune", "Tune"])
    #expect(findings.map(\.location.rowID) == [2, 3])
    #expect(findings.first?.message.hasPrefix("\"disc\" refers to Disc row 2") == true)
  }

  @Test("Two lists with different counts of each other are found")
  func repeats() throws {
    let fixture = try saved()
    try fixture.overwrite(Tune.self, 2, tune("a", lists: [2], disc: 2))
    #expect(try findings(fixture).map(\.location.className) == ["TuneList"])
    try fixture.overwrite(Tune.self, 2, tune("a", lists: [2, 2, 2], disc: 2))
    #expect(try findings(fixture).map(\.location.className) == ["Tune"])
  }

  @Test("A class that refers to itself is compared with itself")
  func tree() throws {
    let fixture = try Fixture(Branch.self)
    let store = try fixture.store(StoreConfiguration(checksumsRecords: false))
    let branches = (0..<5).map { _ in Branch() }
    for branch in branches { store.insert(branch) }
    branches[0].children = [branches[1], branches[2]]
    branches[2].children = [branches[3], branches[4]]
    try store.saveChanges()
    #expect(try findings(fixture) == [])
    // The parent of the last one is the root.
    try fixture.overwrite(Branch.self, 6, [0, 2, 0, 0, 0, 0, 0, 0, 0])
    let findings = try findings(fixture)
    #expect(findings.map(\.location.rowID) == [4, 6])
    #expect(findings.map { String($0.message.prefix(10)) } == ["\"children\"", "\"parent\" r"])
  }

  @Test("A reference to a missing or unreadable record is reported once")
  func once() throws {
    let fixture = try saved()
    try fixture.overwrite(Tune.self, 3, nil)
    #expect(try findings(fixture).map(\.kind) == [.danglingReference, .danglingReference])
    try fixture.overwrite(Tune.self, 3, [0, 1, 0, 0])
    #expect(try findings(fixture).map(\.kind) == [.recordDamaged])
  }

  @Test("A check of a large store names the one surplus reference")
  func large() throws {
    let fixture = try Fixture(Tune.self, TuneList.self, Disc.self, Sleeve.self, Branch.self)
    let store = try fixture.store(StoreConfiguration(checksumsRecords: false))
    let tunes = (0..<3_000).map { Tune("\($0)") }
    let lists = (0..<30).map { TuneList("\($0)") }
    for object in tunes + lists as [StoredObject] { store.insert(object) }
    for (number, list) in lists.enumerated() {
      list.tunes = (0..<200).map { tunes[($0 * 7 + number * 100) % 3_000] }
    }
    try store.saveChanges()
    #expect(try findings(fixture) == [])
    let lost = tunes[1_234]
    #expect(!lost.lists.isEmpty)
    try fixture.overwrite(Tune.self, lost.rowID, tune("x", lists: [], disc: 0))
    let findings = try findings(fixture)
    #expect(findings.count == lost.lists.count)
    #expect(findings.allSatisfy { $0.message.contains("Tune row \(lost.rowID),") })
  }
}
