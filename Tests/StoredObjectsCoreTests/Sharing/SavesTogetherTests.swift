import CDBBackend
import Locks
import StoreEngine
import StoredObjectsCore
import TestFiles
import Testing

/// A member of a club, with a unique number.
private final class Member: StoredObject {
  @Content var number: UInt32 = 0
  @Content var visits: UInt32 = 0

  override class var indexes: [AttributeIndex] {
    [
      AttributeIndex("number", \Member.number, isUnique: true),
      AttributeIndex("visits", \Member.visits),
    ]
  }

  override func readContent(from buffer: inout DataBuffer) throws {
    number = try buffer.readUInt32()
    visits = try buffer.readUInt32()
  }

  /// How often objects have been written, by their numbers.
  static let writes = SharedLock<[UInt32: Int]>([:])

  override func writeContent(to buffer: inout DataBuffer) {
    Self.writes.withLock { $0[number, default: 0] += 1 }
    buffer.write(number)
    buffer.write(visits)
  }
}

@Suite("Concurrent saves of several stores")
struct SavesTogetherTests {
  enum Kind: CaseIterable {
    case memory, log

    /// Lets a test use a new backend.
    func withBackend(_ body: (any StoreBackend) throws -> Void) throws {
      guard self == .log else { return try body(MemoryBackend()) }
      try withTemporaryDirectory(in: .memory) { directory in
        let backend = try CDBBackend(directory: directory)
        try body(backend)
        try backend.close()
      }
    }
  }

  private static let threadCount = 6

  /// Runs a closure with a store of its own on each of several threads.
  private func onThreads(
    _ backend: any StoreBackend, _ body: @escaping @Sendable (Int, Store) throws -> Void
  ) {
    let threads = (0..<Self.threadCount).compactMap { number in
      JoinedThread {
        do {
          let store = Store(backend: backend)
          try store.register(Tune.self, TuneList.self, Disc.self, Sleeve.self, Branch.self)
          try store.register(Member.self)
          try body(number, store)
        } catch { Issue.record(error) }
      }
    }
    #expect(threads.count == Self.threadCount)
  }

  private func expectSound(_ backend: any StoreBackend) throws -> Store {
    let store = Store(backend: backend)
    try store.register(Tune.self, TuneList.self, Disc.self, Sleeve.self, Branch.self)
    try store.register(Member.self)
    #expect(try store.check().findings == [])
    return store
  }

  @Test("Stores that open a new backend and save concurrently find each other's classes")
  func newBackends() throws {
    for _ in 0..<40 { try Kind.log.withBackend(saveAtOnce) }
  }

  private func saveAtOnce(_ backend: any StoreBackend) throws {
    onThreads(backend) { number, store in
      let member = Member()
      member.number = UInt32(number)
      store.insert(member)
      try store.saveChanges()
    }
    let store = try expectSound(backend)
    #expect(try store.count(of: Member.self) == Self.threadCount)
    let numbers = try store.allObjects(of: Member.self).map(\.rowID)
    #expect(Set(numbers).count == Self.threadCount)
  }

  @Test("A save writes each object once, also one for which others have to wait")
  func writtenOnce() throws {
    let store = Store(backend: try MemoryBackend())
    try store.register(Member.self)
    let members = (UInt32(1_000_000)..<1_000_004).map { number in
      let member = Member()
      member.number = number
      store.insert(member)
      return member
    }
    let written = { (member: Member) in Member.writes.withLock { $0[member.number] ?? 0 } }
    try store.saveChanges()
    #expect(members.map(written) == [1, 1, 1, 1])
    store.delete(members[0])
    members[1].visits = 1
    try store.saveChanges()
    #expect(members.map(written) == [1, 2, 1, 1])
  }

  @Test("Of several saves of the same unique value, one succeeds", arguments: Kind.allCases)
  func unique(_ kind: Kind) throws { try kind.withBackend(saveUniqueValues) }

  private func saveUniqueValues(_ backend: any StoreBackend) throws {
    let (saved, refused) = (SharedLock(0), SharedLock(0))
    onThreads(backend) { _, store in
      for number in UInt32(0)..<60 {
        let member = Member()
        member.number = number
        store.insert(member)
        do {
          try store.saveChanges()
          saved.withLock { $0 += 1 }
        } catch let error as StoreError where error.code == .notUnique {
          store.discardChanges()
          refused.withLock { $0 += 1 }
        }
      }
    }
    #expect(saved.withLock { $0 } == 60)
    #expect(refused.withLock { $0 } == 60 * (Self.threadCount - 1))
    let members = try expectSound(backend).allObjects(of: Member.self)
    #expect(Set(members.map(\.number)) == Set(0..<60) && members.count == 60)
  }

  @Test(
    "No visit is lost while others save, delete and insert", arguments: Kind.allCases)
  func increments(_ kind: Kind) throws { try kind.withBackend(increment) }

  private func increment(_ backend: any StoreBackend) throws {
    onThreads(backend) { number, store in
      if number > 0 { return }
      for number in UInt32(0)..<4 {
        let member = Member()
        member.number = number
        store.insert(member)
      }
      try store.saveChanges()
    }
    let (visits, conflicts, commits) = (SharedLock(0), SharedLock(0), SharedLock<[UInt64]>([]))
    onThreads(backend) { thread, store in
      for round in 0..<80 {
        switch (thread + round) % 8 {
        case 0:
          let tune = Tune("\(round)")
          store.insert(tune)
          store.insert(TuneList("\(thread)", [tune]))
        case 1: if let tune = try store.allObjects(of: Tune.self).first { store.delete(tune) }
        default:
          let number = UInt32((thread + round) % 4)
          let member = try store.object(Member.self, where: \.number, is: number)
          member?.visits += 1
        }
        let isVisit = (thread + round) % 8 > 1
        do {
          try store.saveChanges()
          if isVisit { visits.withLock { $0 += 1 } }
          if let commit = store.lastCommit { commits.withLock { $0.append(commit.number) } }
        } catch let error as StoreError where error.code == .conflict {
          conflicts.withLock { $0 += 1 }
          store.discardChanges()
        }
        if round % 5 == 0 { store.mergeChanges() }
      }
    }
    let store = try expectSound(backend)
    let found = try store.allObjects(of: Member.self).reduce(0) { $0 + Int($1.visits) }
    #expect(found == visits.withLock { $0 } && found > 0)
    let numbers = Set(commits.withLock { $0 })
    #expect(numbers.max() == backend.lastCommitNumber)
    for tune in try store.allObjects(of: Tune.self) {
      for list in tune.lists { #expect(list.tunes.contains { $0 === tune }) }
    }
    print("\(conflicts.withLock { $0 }) conflicts, \(found) visits")
  }
}
