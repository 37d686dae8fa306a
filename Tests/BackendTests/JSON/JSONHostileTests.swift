import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import Testing

@Suite("Hostile JSON")
struct JSONHostileTests {
  private static let texts = [
    "null", "true", "0", "-1", "-0", "256", "1.5", "1e308", "1e400", "-1e999", "1E2", "NaN",
    "Infinity", "00", "18446744073709551616", String(repeating: "9", count: 5000),
    #""""#, #""x""#, #""\u0000""#, #""\ud800""#, #""\udc00\ud800""#, #""\x""#, #""NaN:7ff0""#,
    #""NaN:7ff0000000000001""#, #""-Infinity""#, #""2001-01-01T00:00:00Z""#, #""AAAA""#, #""AAA""#,
    "[]", "[null]", "[[]]", "[0]", "[-1]", #"[["a",1]]"#, #"[[1,["a"]],[1,["b"]]]"#, "[1,]", "{}",
    #"{"a":1,"a":1}"#, #"{"a":1,"b":{"a":null}}"#, #"{"raw":7}"#, #"{"raw":9}"#, #"{"raw":"x"}"#,
    #"{"some":null}"#, #"{"some":{"some":null}}"#, #"{"bytes":"AQAAAAE="}"#, #"{"bytes":"AQ=="}"#,
    #"{"bytes":"/////w=="}"#, #"{"$data":1}"#, #"{"$data":"AA=="}"#, #"{"$date":"x"}"#,
    #"{"$number":"NaN"}"#, #"{"$fields":{"$data":0}}"#, #"{"$fields":[]}"#, #"{"$other":1}"#,
    #"{"$propertyList":"YnBsaXN0MDA="}"#, #"{"name":null,"number":"x"}"#, #""wild""#, #""tame""#,
    #""JSONThing/2""#, #""JSONThing/9""#, #""JSONThing/1""#, #""JSONPlain/2""#, #""Nobody/2""#,
    #""JSONThing/4294967295""#, #""JSONThing/99999999999999999999""#, #"{"id":"JSONThing/2"}"#,
    #"{"id":2}"#, String(repeating: "[", count: 700) + String(repeating: "]", count: 700),
    String(repeating: "[", count: 500) + String(repeating: "]", count: 500),
    String(repeating: #"{"a":"#, count: 10_000),
  ]

  private func text(_ value: StoredValue) throws -> String {
    var bytes: [UInt8] = []
    try JSONWriter.append(value, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// A line of an object, with one hostile value, name, or end.
  private func hostileLine(
    _ thing: JSONThing, _ generator: inout SeededGenerator
  ) throws -> String {
    var fields = try thing.value().values.map { (name: $0.key, text: try text($0.value)) }
    let index = Int.random(in: fields.indices, using: &generator)
    let hostile = Self.texts.randomElement(using: &generator) ?? ""
    let old = fields[index].text
    switch Int.random(in: 0..<10, using: &generator) {
    case 0: fields.append(fields[index])
    case 1: fields.remove(at: index)
    case 2: fields[index].name = String(hostile.filter { $0 != "\"" && $0 != "\\" }.prefix(9))
    case 3: fields[index].text = "[\(old),\(hostile)]"
    case 4: fields[index].text = "[\(hostile)]"
    case 5: fields[index].text = "{\"a\":\(hostile)}"
    default: fields[index].text = hostile
    }
    let values = fields.map { "\"\($0.name)\":\($0.text)" }.joined(separator: ",")
    let line = "{\"id\":\"JSONThing/2\",\"values\":{\(values)}}"
    guard Int.random(in: 0..<8, using: &generator) == 0 else { return line }
    return String(
      decoding: line.utf8.prefix(Int.random(in: 1..<line.utf8.count, using: &generator)),
      as: UTF8.self)
  }

  private func makeStore() throws -> Store {
    let store = Store(backend: try MemoryBackend(disk: MemoryDisk()))
    try store.register(JSONThing.self, JSONPlain.self, JSONSinger.self, JSONTune.self)
    return store
  }

  @Test("Each hostile line is imported completely, or named with its class, row and property")
  func lines() throws {
    var generator = Seeds.generator(for: "hostile JSON")
    let source = try makeStore()
    let thing = JSONThing()
    source.insert(thing)
    try withTemporaryDirectory { directory in
      let path = directory + "/lines.jsonl"
      let end = ContinuousClock.now + .seconds(20)
      var (imported, refused) = (0, Set<String>())
      for _ in 0..<1500 where ContinuousClock.now < end {
        thing.randomize([thing], &generator)
        let line = try hostileLine(thing, &generator)
        try Data((JSONImportTests.good + "\n" + line).utf8).write(to: URL(fileURLWithPath: path))
        let store = try makeStore()
        do {
          try store.importJSON(from: path, batchSize: 1)
          imported += 1
          #expect(try store.check().findings.isEmpty, "\(line)")
          _ = try store.allObjects(of: JSONThing.self).map { try $0.value() }
        } catch let error as StoreError {
          refused.insert(error.code.description)
          try check(error, store, line)
        }
      }
      #expect(imported > 0 && refused == ["invalidJSON", "invalidValue"])
    }
  }

  private func check(_ error: StoreError, _ store: Store, _ line: String) throws {
    let location = error.location
    #expect(location.line == 2 && location.path?.hasSuffix("lines.jsonl") == true, "\(error)")
    if error.code == .invalidValue {
      #expect(location.className == "JSONThing" && location.rowID == 2, "\(error)")
      #expect(location.property != nil, "\(error): \(line)")
    }
    #expect(!store.hasUnsavedChanges)
    for name in try store.backend.tableNames() {
      let count = try store.backend.recordCount(in: try store.backend.table(named: name))
      #expect(count == 0, "\(error): \(line)")
    }
  }

  @Test("A million levels of nesting are an error with the offset", arguments: ["[", #"{"a":"#])
  func depth(text: String) throws {
    try withTemporaryDirectory { directory in
      let path = directory + "/deep.jsonl"
      let start = #"{"id":"JSONThing/2","values":{"title":"#
      let line = start + String(repeating: text, count: 1_000_000)
      try Data(line.utf8).write(to: URL(fileURLWithPath: path))
      let error = #expect(throws: StoreError.self) { try makeStore().importJSON(from: path) }
      #expect(error?.code == .invalidJSON && error?.location.line == 1)
      #expect(error?.location.offset == start.utf8.count + 598 * text.utf8.count)
    }
  }

  @Test("The failure is in the innermost value")
  func innermost() throws {
    let examples = [
      (#"{"counts":[1,2,-3]}"#, "counts[2]"), (#"{"names":{"a":1,"b":"x"}}"#, "names.b"),
      (#"{"pairs":[[1,["a"]],[2,["b",7]]]}"#, "pairs[1][1][1]"), (#"{"list":[null]}"#, "list[0]"),
      (#"{"shape":{"parts":{"x":[{"number":"y"}]}}}"#, "shape"), (#"{"mood":{"raw":7}}"#, "mood"),
      (#"{"point":{"bytes":"AQ=="}}"#, "point"),
    ]
    for (values, property) in examples {
      try withTemporaryDirectory { directory in
        let path = directory + "/line.jsonl"
        let line = #"{"id":"JSONThing/2","values":"# + values + "}"
        try Data(line.utf8).write(to: URL(fileURLWithPath: path))
        let error = #expect(throws: StoreError.self) { try makeStore().importJSON(from: path) }
        #expect(error?.code == .invalidValue && error?.location.property == property, "\(values)")
      }
    }
  }
}
