import ArgumentParser
import Foundation
import KeyValueStoreCore
import StoredObjectsCore
import StoredObjectsTestSupport

/// Runs processes that share a store, and kills one of them every few moments.
struct ProcessesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "processes",
    abstract: "Kill processes that share a store, and check that the others continue.")

  @Option(help: "The duration in seconds.") var seconds = 60
  @Option(help: "The number of processes.") var count = 8
  @Option(help: "The number of milliseconds between two kills.") var pause = 50
  @Option(help: "The seed; random if left out.") var seed: UInt64?
  @Option(help: "The backend.") var backend = BackendName.tokyoCabinet

  func run() throws {
    let seed = seed ?? .random(in: 0 ... .max)
    note("crash processes: seed \(seed), backend \(backend.rawValue)")
    try withTemporaryDirectory { directory in
      var run = ProcessesRun(seed: seed, backend: backend, directory: directory.path + "/store")
      try run.work(count: count, seconds: seconds, pause: pause)
      let faults = try run.faults()
      for fault in faults { note(fault) }
      print(
        """
        kills=\(run.killCount) acknowledged=\(run.acknowledged.count) \
        increments=\(run.incrementCount) faults=\(faults.count)
        """)
      if !faults.isEmpty { throw ExitCode.failure }
    }
  }
}

/// The processes and their reports.
private struct ProcessesRun {
  let backend: BackendName
  let directory: String
  private let seed: UInt64
  private var generator: SeededGenerator
  private var children: [(child: ChildProcess, number: Int)] = []
  private var startCount = 0
  private(set) var killCount = 0
  /// The saved marks, by their numbers.
  private(set) var acknowledged: Set<Int64> = []
  private(set) var incrementCount = 0
  /// Children that have ended without being killed.
  private var failures: [String] = []

  init(seed: UInt64, backend: BackendName, directory: String) {
    (self.seed, self.backend, self.directory) = (seed, backend, directory)
    generator = SeededGenerator(seed: seed)
  }

  mutating func work(count: Int, seconds: Int, pause: Int) throws {
    for _ in 0..<count { children.append(try start()) }
    let deadline = Date().addingTimeInterval(Double(seconds))
    while Date() < deadline {
      usleep(UInt32(pause * 1000))
      for child in children { collect(from: child.child) }
      let victim = Int.random(in: 0..<count, using: &generator)
      end(children[victim])
      children[victim] = try start()
    }
    for child in children { end(child) }
    children = []
  }

  private mutating func start() throws -> (ChildProcess, Int) {
    startCount += 1
    let child = try ChildProcess([
      "share", directory, "--backend", backend.rawValue, "--number", "\(startCount)",
      "--seed", "\(seed &+ UInt64(startCount))",
    ])
    return (child, startCount)
  }

  private mutating func end(_ child: (child: ChildProcess, number: Int)) {
    let status = child.child.kill()
    collect(from: child.child)
    killCount += 1
    // 9 is SIGKILL; any other end of the child is a fault.
    if status & 0x7F != 9 { failures.append("process \(child.number) ended with status \(status)") }
  }

  private mutating func collect(from child: ChildProcess) {
    while let mark = child.next(timeout: 0) {
      if !acknowledged.insert(mark).inserted { failures.append("mark \(mark) was saved twice") }
    }
  }

  /// Returns the faults of the store when no process has it open.
  mutating func faults() throws -> [String] {
    var faults = failures
    let findings = try backend.check(directory).findings
    faults += findings.map { "check: \($0)" }
    let opened = try backend.open(directory, isReadOnly: false, limits: .init())
    defer { try? opened.close() }
    let store = Store(backend: opened)
    try store.register(Mark.self, Tally.self)
    let marks = try store.allObjects(of: Mark.self)
    var numbers = Set(marks.map(\.number))
    if numbers.count != marks.count { faults.append("marks are there twice") }
    faults += try valueFaults(opened, &numbers)
    for lost in acknowledged.subtracting(numbers).sorted().prefix(5) {
      faults.append("mark \(lost) is lost")
    }
    // Marks of one save have the same group, and contain its size.
    for (group, members) in Dictionary(grouping: marks, by: \.group)
    where members.contains(where: { $0.groupSize != members.count }) {
      faults.append("group \(group) has \(members.count) of \(members[0].groupSize) marks")
    }
    let tallies = try store.allObjects(of: Tally.self)
    incrementCount += tallies.reduce(0) { $0 + $1.count }
    for tally in tallies {
      let saved = marks.count { $0.tally == tally.name }
      if saved != tally.count {
        faults.append("tally \(tally.name) is \(tally.count), with \(saved) marks")
      }
    }
    if Set(tallies.map(\.name)).count != tallies.count { faults.append("a tally is there twice") }
    faults += try store.check().findings.map { "store: \($0)" }
    return faults
  }

  /// Returns the faults of the values, and adds the numbers of their marks to those that exist.
  private mutating func valueFaults(
    _ backend: any CrashedBackend, _ numbers: inout Set<Int64>
  ) throws -> [String] {
    let values = try SharedValues(backend)
    let marks = try values.marks.all.items().map { ($0.key, try $0.decoded(as: String.self)) }
    numbers.formUnion(marks.compactMap { Int64($0.0) })
    var faults: [String] = []
    for counter in try values.counters.all.items() {
      let (count, saved) = (try counter.decoded(as: Int.self), marks.count { $0.1 == counter.key })
      incrementCount += count
      if saved != count { faults.append("\(counter.key) is \(count), with \(saved) marks") }
    }
    return faults
  }
}

/// Saves until it is killed, together with others, and sends the number of each saved mark.
struct ShareCommand: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "share", shouldDisplay: false)

  @Argument var directory: String
  @Option var backend: BackendName
  @Option var number: Int
  @Option var seed: UInt64

  func run() throws {
    var limits = CheckpointLimits(logBytes: 60_000, filePart: 1 << 20)
    // Half of the processes write new files on a thread while they save.
    limits.besideBytes = number % 2 == 0 ? 0 : 4 << 20
    let opened = try backend.open(
      directory, isReadOnly: false, sharing: .processes, limits: limits)
    var work = SharedWork(
      try Self.store(on: opened), try SharedValues(opened), process: number, seed: seed)
    while true { try work.step() }
  }

  private static func store(on backend: any StoreBackend) throws -> Store {
    let store = Store(backend: backend)
    try store.register(Mark.self, Tally.self)
    return store
  }
}

/// The work of a process on the store.
private struct SharedWork {
  private let store: Store
  private let values: SharedValues
  private let process: Int
  private var generator: SeededGenerator
  private var count = 0

  init(_ store: Store, _ values: SharedValues, process: Int, seed: UInt64) {
    (self.store, self.values, self.process) = (store, values, process)
    generator = SeededGenerator(seed: seed)
  }

  mutating func step() throws {
    switch Int.random(in: 0..<130, using: &generator) {
    case 0: try save(groupOf: 3000)
    case 1..<10: try save(groupOf: Int.random(in: 20...300, using: &generator))
    case 10..<40: try save(groupOf: Int.random(in: 1...5, using: &generator))
    case 40..<80: try increment("t\(Int.random(in: 0..<6, using: &generator))")
    case 80..<110: try count("v\(Int.random(in: 0..<6, using: &generator))")
    case 110..<120: try look()
    default: store.mergeChanges()
    }
  }

  /// Returns a number that no other mark of any process has.
  private mutating func newNumber() -> Int64 {
    count += 1
    return Int64(process) << 32 | Int64(count)
  }

  private mutating func newMark() -> Mark {
    let mark = Mark()
    mark.number = newNumber()
    store.insert(mark)
    return mark
  }

  private mutating func count(_ name: String) throws {
    let number = newNumber()
    try values.increment(name, number)
    ChildProcess.send(number)
  }

  private mutating func save(groupOf size: Int) throws {
    let marks = (0..<size).map { _ in newMark() }
    for mark in marks { (mark.group, mark.groupSize) = (marks[0].number, size) }
    try store.saveChanges()
    for mark in marks { ChildProcess.send(mark.number) }
  }

  /// Increments a tally, which is created if necessary, and adds a mark in the same save.
  private mutating func increment(_ name: String) throws {
    while true {
      do throws(StoreError) {
        store.mergeChanges()
        let tally = try store.fetch(Tally.self, where: #Predicate { $0.name == name }).first
        let counted = tally ?? Tally()
        if tally == nil {
          counted.name = name
          store.insert(counted)
        }
        counted.count += 1
        let mark = newMark()
        (mark.tally, mark.group, mark.groupSize) = (name, mark.number, 1)
        try store.saveChanges()
        ChildProcess.send(mark.number)
        return
      } catch {
        guard [.conflict, .notUnique].contains(error.code) else { throw error }
        store.discardChanges()
      }
    }
  }

  /// Reads a group, which must be complete.
  private mutating func look() throws {
    guard let mark = try store.fetch(Mark.self, sortedBy: [.descending(\.group)], limit: 1).first
    else { return }
    let group = mark.group
    let members = try store.fetch(Mark.self, where: #Predicate { $0.group == group })
    guard members.count == mark.groupSize else {
      throw HarnessError("group \(group): \(members.count) of \(mark.groupSize)")
    }
  }
}

/// An object that is saved once.
private final class Mark: StoredObject {
  @Content var number: Int64 = 0
  @Content var group: Int64 = 0
  @Content var groupSize = 0
  @Content var tally = ""

  override class var indexes: [AttributeIndex] {
    [
      AttributeIndex("number", \Mark.number, isUnique: true),
      AttributeIndex("group", \Mark.group),
    ]
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    number = Int64(try buffer.readInt())
    group = Int64(try buffer.readInt())
    groupSize = try buffer.readInt()
    tally = try buffer.readString()
  }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(Int(number))
    buffer.write(Int(group))
    buffer.write(groupSize)
    buffer.write(tally)
  }
}

/// A counter with a unique name.
private final class Tally: StoredObject {
  @Content var name = ""
  @Content var count = 0

  override class var indexes: [AttributeIndex] {
    [AttributeIndex("name", \Tally.name, isUnique: true)]
  }
  override func readContent(from buffer: inout DataBuffer) throws {
    name = try buffer.readString()
    count = try buffer.readInt()
  }
  override func writeContent(to buffer: inout DataBuffer) {
    buffer.write(name)
    buffer.write(count)
  }
}
