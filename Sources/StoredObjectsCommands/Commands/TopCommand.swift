import ArgumentParser
import Foundation
import RecordBrowsing
import StoreEngine

struct TopCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "top",
    abstract: """
      Show commits per second, times of saves, look-ups, objects and sizes, while programs save.
      """,
    discussion: """
      Times and look-ups are those of the programs that have the store open for writing. Half of \
      the saves since the last look took up to the first time, and 99 of 100 up to the second one. \
      Of the objects that were looked up, the shown share was in memory already. A program of \
      another user shows this only if it shares the store with other processes.

      The command holds no lock between two looks at the store, so programs can open it and save. \
      On a terminal it shows the classes in a table until you press Control-C. Otherwise each look \
      is a line.
      """)

  @OptionGroup var store: StoreArgument
  @Option(help: "The seconds between two looks, at least 0.1.") var interval = 1.0
  @Option(help: "The number of looks after which to end; unlimited by default.") var count: Int?
  @Flag(help: "Write a line of JSON for each look.") var json = false

  func validate() throws {
    guard interval.isFinite, (0.1...86_400).contains(interval) else {
      throw ValidationError("--interval must be from 0.1 to 86400.")
    }
    if let count, count < 1 { throw ValidationError("--count must be above 0.") }
  }

  func run() throws {
    let source = try store.stateSource()
    defer { source.close() }
    let name = store.directory.split(separator: "/").last.map(String.init) ?? store.directory
    let isScreen = !json && isatty(STDOUT_FILENO) == 1
    let stop = StopSignal()
    var last: StoreLook?
    for number in 0..<(count ?? .max) {
      if number > 0 { stop.sleep(.seconds(interval)) }
      if stop.isRequested { break }
      let look = StoreLook(try source.state(), after: last)
      try write(look, name, isScreen: isScreen)
      last = look
    }
  }

  private func write(_ look: StoreLook, _ name: String, isScreen: Bool) throws {
    var text: String
    if json {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
      encoder.dateEncodingStrategy = .iso8601
      text = String(decoding: try encoder.encode(look), as: UTF8.self)
    } else {
      text = "\(name)  \(look.line)"
      // Clears the screen, and begins at its top.
      if isScreen { text = "\u{1B}[H\u{1B}[2J\(text)\n\n" + look.table.joined(separator: "\n") }
    }
    try StandardOutput.write([text])
  }
}

/// The numbers of a store at one moment, and the changes since the moment before.
struct StoreLook: Encodable {
  var time = Date()
  var commit: UInt64
  var commitsPerSecond: Double
  var objects: Int
  /// The bytes of the class files; absent for stores without files.
  var bytes: Int?
  /// The bytes of the log that are not yet in class files; absent for stores without a log.
  var logBytes: Int?
  /// The times of the saves since the last look; absent if no program that saves is known.
  var saves: Saves?
  var classes: [Class]
  /// The objects that were looked up since the last look; absent if no program is known.
  var lookUps: LookUps?
  private let activity: StoreActivity?

  struct LookUps: Encodable {
    var count: Int
    /// The share of those that were in memory; absent without look-ups.
    var hitPercentage: Double?
  }

  struct Saves: Encodable {
    var count: Int
    /// The time up to which half of them took, and 99 of 100; absent without saves.
    var medianMilliseconds: Double?
    var slowMilliseconds: Double?

    init(_ times: SaveTimes) {
      count = Int(clamping: times.count)
      medianMilliseconds = times.milliseconds(ofShare: 0.5)
      slowMilliseconds = times.milliseconds(ofShare: 0.99)
    }
  }

  struct Class: Encodable {
    var name: String
    var objects: Int
    /// The number of objects since the last look, minus those that are gone.
    var change: Int
    var bytes: Int?
  }

  private enum CodingKeys: String, CodingKey {
    case time, commit, commitsPerSecond, objects, bytes, logBytes, saves, lookUps, classes
  }

  init(_ state: BrowsedState, after last: StoreLook?) {
    commit = state.number
    let former = Dictionary(
      (last?.classes ?? []).map { ($0.name, $0.objects) }
    ) { first, _ in first }
    classes = state.classes.map { known in
      let change = last == nil ? 0 : known.objectCount - (former[known.name] ?? 0)
      return Class(
        name: known.name, objects: known.objectCount, change: change,
        bytes: state.fileSize(of: known))
    }
    objects = classes.reduce(0) { $0 + $1.objects }
    let sizes = classes.compactMap(\.bytes)
    bytes = sizes.isEmpty ? nil : sizes.reduce(0, +)
    logBytes = try? (state.backend as? any DirectoryBackend)?.logState()?.pendingCount
    activity = state.activity
    // The first look shows nothing. A program that has begun since the last one shows all.
    let news = activity.map { $0.since(last.map { $0.activity ?? StoreActivity() } ?? $0) }
    saves = (news?.saves).map(Saves.init)
    lookUps = (news?.lookUps).map { LookUps(count: $0.count, hitPercentage: $0.hitPercentage) }
    commitsPerSecond = 0
    if let last {
      let seconds = time.timeIntervalSince(last.time)
      let made = commit >= last.commit ? Double(commit - last.commit) : 0
      commitsPerSecond = seconds > 0 ? (made / seconds * 10).rounded() / 10 : 0
    }
  }
}

extension StoreLook {
  /// The numbers of the store.
  var line: String {
    var parts = [
      "commit \(Self.text(Int(commit)))", "\(commitsPerSecond) commits/s",
      "\(Self.text(objects)) \(objects == 1 ? "object" : "objects")",
    ]
    if let bytes { parts.append(bytesText(bytes)) }
    if let logBytes { parts.append("log \(bytesText(logBytes))") }
    if let median = saves?.medianMilliseconds, let slow = saves?.slowMilliseconds {
      parts.append("saves \(median) ms, 99 % \(slow) ms")
    }
    if let lookUps, let share = lookUps.hitPercentage {
      parts.append("\(Self.text(lookUps.count)) look-ups, \(share) % in memory")
    }
    return parts.joined(separator: "  ")
  }

  /// The classes in columns.
  var table: [String] {
    let rows =
      [["class", "objects", "change", "bytes"]]
      + classes.map { known in
        [
          Self.plain(known.name), Self.text(known.objects),
          (known.change > 0 ? "+" : "") + Self.text(known.change),
          known.bytes.map(bytesText) ?? "",
        ]
      }
    let widths = (0..<4).map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      let cells = row.enumerated().map { column, text in
        let space = String(repeating: " ", count: widths[column] - text.count)
        return column == 0 ? text + space : space + text
      }
      return "  " + cells.joined(separator: "  ")
    }
  }

  /// Returns a name without characters that would control the terminal.
  private static func plain(_ name: String) -> String {
    String(
      name.unicodeScalars.map { scalar in
        [.control, .format].contains(scalar.properties.generalCategory) ? "?" : Character(scalar)
      })
  }

  private static func text(_ number: Int) -> String {
    number.formatted(.number.locale(Locale(identifier: "en_US")))
  }
}
