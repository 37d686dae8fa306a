import Files
import Foundation
import StoredObjectsCore
import StoredObjectsTestSupport
import TestFiles
import TestedBackends
import Testing

@Suite("Segments of earlier versions")
struct EarlierSegmentsTests {
  @Test("A table with a part and two runs, as 1.0 wrote them, is read and continued")
  func version1() throws {
    try withTemporaryDirectory { directory in
      for (name, content) in Self.files {
        let data = try #require(Data(base64Encoded: content, options: .ignoreUnknownCharacters))
        try data.write(to: URL(filePath: "\(directory)/\(name)"))
      }
      let backend = try TestedBackend.cdb.open(directory)
      let table = try backend.orderedTable(OrderedTableName("Words", kind: .data))
      var changes = ChangeSet()
      changes.set(Array("word 300".utf8), to: [6], in: table)
      try backend.commit(changes)
      for _ in 0..<2 {
        var found: [String: [UInt8]] = [:]
        _ = try backend.scanKeys(of: table, KeyRange(), isReversed: false) { key, value in
          found[String(decoding: [UInt8](copying: key), as: UTF8.self)] = [UInt8](copying: value)
          return .next
        }
        #expect(found == Self.words)
        #expect(try backend.keyCount(in: table, KeyRange()) == found.count)
        try backend.checkpoint()
      }
      try backend.close()
      let findings = try TestedBackend.cdb.check(directory).findings
      #expect(findings.filter { $0.kind == .fileDamaged } == [])
    }
  }

  private static var words: [String: [UInt8]] {
    var words = ["word 300": [6 as UInt8]]
    for number in 0..<166 { words["word \(100 + number)"] = number < 148 ? [1, 2, 3] : [5] }
    for number in [3, 151, 152] { words["word \(100 + number)"] = nil }
    return words
  }

  private static let files = [
    "Words.ordered": """
    U09LZXlzAAGMAAAAqAa4OAQAAAAAAAAAAAAWADAAUgABAAQAAAAAAAAAowAAAAAAAAAAAAAABQEAAAAAAQAAAAAA
    AAA4Eo90NQEtElGwq08FAgAAAAACAAAAAAAAADkSj3Q1AS0SoVVLIA8AAAAAAAAABQIAAAABAwAAAAAAAAA6Eo90
    NQEtEjNN8jH9/////////1NPS2V5RW5kAgAAAAEAAAAIAAAAAAAAAIwAAAAAAAAABAAAAAAAAADUAAAAAAAAADoS
    j3Q1AS0SM03yMSNjVzA=
    """,
    "Words.ordered.1.keys": """
    U09LZXlzAAFiBQAAWjrZPJcAAAAFAAAAAAAHAA4AFQAcACMAKgAxADgAPwBGAE0AVABbAGIAaQBwAHcAfgCFAIwA
    kwCaAKEAqACvALYAvQDEAMsA0gDZAOAA5wDuAPUA/AADAQoBEQEYAR8BJgEtATQBOwFCAUkBUAFXAV4BZQFsAXMB
    egGBAYgBjwGWAZ0BpAGrAbIBuQHAAccBzgHVAdwB4wHqAfEB+AH/AQYCDQIUAhsCIgIpAjACNwI+AkUCTAJTAloC
    YQJoAm8CdgJ9AoQCiwKSApkCoAKnAq4CtQK8AsMCygLRAtgC3wLmAu0C9AL7AgIDCQMQAxcDHgMlAywDMwM6A0ED
    SANPA1YDXQNkA2sDcgN5A4ADhwOOA5UDnAOjA6oDsQO4A78DxgPNA9QD2wPiA+kD8AP3A/4DBQQMBBMEGgR3b3Jk
    IAMxMDABAgMDMTAxAQIDAzEwMgECAwMxMDMBAgMDMTA0AQIDAzEwNQECAwMxMDYBAgMDMTA3AQIDAzEwOAECAwMx
    MDkBAgMDMTEwAQIDAzExMQECAwMxMTIBAgMDMTEzAQIDAzExNAECAwMxMTUBAgMDMTE2AQIDAzExNwECAwMxMTgB
    AgMDMTE5AQIDAzEyMAECAwMxMjEBAgMDMTIyAQIDAzEyMwECAwMxMjQBAgMDMTI1AQIDAzEyNgECAwMxMjcBAgMD
    MTI4AQIDAzEyOQECAwMxMzABAgMDMTMxAQIDAzEzMgECAwMxMzMBAgMDMTM0AQIDAzEzNQECAwMxMzYBAgMDMTM3
    AQIDAzEzOAECAwMxMzkBAgMDMTQwAQIDAzE0MQECAwMxNDIBAgMDMTQzAQIDAzE0NAECAwMxNDUBAgMDMTQ2AQID
    AzE0NwECAwMxNDgBAgMDMTQ5AQIDAzE1MAECAwMxNTEBAgMDMTUyAQIDAzE1MwECAwMxNTQBAgMDMTU1AQIDAzE1
    NgECAwMxNTcBAgMDMTU4AQIDAzE1OQECAwMxNjABAgMDMTYxAQIDAzE2MgECAwMxNjMBAgMDMTY0AQIDAzE2NQEC
    AwMxNjYBAgMDMTY3AQIDAzE2OAECAwMxNjkBAgMDMTcwAQIDAzE3MQECAwMxNzIBAgMDMTczAQIDAzE3NAECAwMx
    NzUBAgMDMTc2AQIDAzE3NwECAwMxNzgBAgMDMTc5AQIDAzE4MAECAwMxODEBAgMDMTgyAQIDAzE4MwECAwMxODQB
    AgMDMTg1AQIDAzE4NgECAwMxODcBAgMDMTg4AQIDAzE4OQECAwMxOTABAgMDMTkxAQIDAzE5MgECAwMxOTMBAgMD
    MTk0AQIDAzE5NQECAwMxOTYBAgMDMTk3AQIDAzE5OAECAwMxOTkBAgMDMjAwAQIDAzIwMQECAwMyMDIBAgMDMjAz
    AQIDAzIwNAECAwMyMDUBAgMDMjA2AQIDAzIwNwECAwMyMDgBAgMDMjA5AQIDAzIxMAECAwMyMTEBAgMDMjEyAQID
    AzIxMwECAwMyMTQBAgMDMjE1AQIDAzIxNgECAwMyMTcBAgMDMjE4AQIDAzIxOQECAwMyMjABAgMDMjIxAQIDAzIy
    MgECAwMyMjMBAgMDMjI0AQIDAzIyNQECAwMyMjYBAgMDMjI3AQIDAzIyOAECAwMyMjkBAgMDMjMwAQIDAzIzMQEC
    AwMyMzIBAgMDMjMzAQIDAzIzNAECAwMyMzUBAgMDMjM2AQIDAzIzNwECAwMyMzgBAgMDMjM5AQIDAzI0MAECAwMy
    NDEBAgMDMjQyAQIDAzI0MwECAwMyNDQBAgMDMjQ1AQIDAzI0NgECAwMyNDcBAgMDMjQ4AQIDAzI0OQECAwMyNTAE
    U09LZXlFbmQBAAAAAQAAAAgAAAAAAAAAYgUAAAAAAACXAAAAAAAAAKoFAAAAAAAAOBKPdDUBLRJRsKtPsI+MbA==
    """,
    "Words.ordered.2.changes": """
    U09LZXlzAAGUAAAAZQuD2RIAAAAGAAAAAAAFAAoADwAUABkAHgAjACgALQAyADcAPABBAEYASwBQAFUAd29yZCAy
    AjQ4AwUCNDkDBQI1MAMFAjUxAQUCNTIBBQI1MwEFAjU0AQUCNTUBBQI1NgEFAjU3AQUCNTgBBQI1OQEFAjYwAQUC
    NjEBBQI2MgEFAjYzAQUCNjQBBQI2NQEFMAAAAPamjEzQKPUHkLJszihAAAaCBCAIG1AwsUSyAB5oBFjCgSBJgg0w
    BAIAIiQgU09LZXlFbmQDAAAAAQAAAAgAAAAAAAAAlAAAADAAAAASAAAAAAAAAAwBAAAAAAAAORKPdDUBLRKhVUsg
    UAZEBA==
    """,
    "Words.ordered.3.changes": """
    U09LZXlzAAEqAAAAdmoyHAMAAAAFAAAAAAAFAAoAd29yZCADMTAzAgMyNTECAzI1MgJTT0tleUVuZAMAAAABAAAA
    CAAAAAAAAAAqAAAAAAAAAAMAAAAAAAAAcgAAAAAAAAA6Eo90NQEtEjNN8jFSeNEy
    """,
  ]
}
