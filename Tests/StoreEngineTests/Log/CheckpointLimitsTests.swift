import Testing

@testable import StoreEngine

@Suite("The limits of checkpoints")
struct CheckpointLimitsTests {
  private let limits = CheckpointLimits()
  private let mebibyte = 1 << 20

  private func keys(_ mebibytes: Int) -> FoldedBytes {
    FoldedBytes(keys: mebibytes * mebibyte, areOnlyKeys: true)
  }

  @Test(
    "A log of keys alone waits for four times their files, for 64 MiB, or for an eighth of them",
    arguments: [(0, 8), (1, 8), (4, 16), (16, 64), (100, 64), (512, 64), (1024, 128)])
  func keysAlone(files: Int, due: Int) {
    #expect(limits.dueBytes(foldingOver: keys(files)) == due * mebibyte)
  }

  @Test(
    "A log with records, too, waits for an eighth of their files, and half of those of keys",
    arguments: [(0, 0, 8), (80, 0, 10), (80, 8, 14), (80, 100, 42), (80, 800, 110)])
  func both(records: Int, keys: Int, due: Int) {
    let files = FoldedBytes(records: records * mebibyte, keys: keys * mebibyte)
    #expect(limits.dueBytes(foldingOver: files) == due * mebibyte)
  }

  @Test(
    "A save of keys skips the log if copying their files costs less than the log and a later fold",
    arguments: [
      (0, 1, true), (1, 1, true), (2, 1, false), (100, 12, false), (100, 50, true), (64, 32, true),
      (65, 32, false), (1000, 111, false), (1000, 112, true),
      // More than 64 bits hold as a product.
      (100_000_000, 1, false),
    ])
  func bulk(files: Int, save: Int, isBulk: Bool) {
    #expect(limits.isBulk(save * mebibyte, over: keys(files)) == isBulk)
  }

  @Test("A save of records skips the log from an eighth of the files on")
  func bulkOfRecords() {
    let files = FoldedBytes(records: 80 * mebibyte)
    #expect(limits.isBulk(10 * mebibyte, over: files))
    #expect(!limits.isBulk(10 * mebibyte - 1, over: files))
  }

  @Test("Saves are delayed more and more before they would have to wait for a fold")
  func delay() {
    let late = limits.lateBytes(foldingOver: keys(512))
    #expect(late == 192 * mebibyte)
    let delays = [0, 128, 144, 160, 192, 300].map {
      limits.delay(of: 100_000, at: $0 * mebibyte, late: late)
    }
    #expect(delays == [0, 0, 1, 2, 4, 4].map { .milliseconds($0) })
    #expect(limits.delay(of: 1, at: 5, late: 0) == .nanoseconds(40))
  }

  @Test("Closing folds what is small, records of a 64th of their files, and as many keys")
  func close() {
    #expect(limits.foldsAtClose(1, over: keys(16)))
    #expect(!limits.foldsAtClose(16 * mebibyte, over: keys(17)))
    #expect(limits.foldsAtClose(17 * mebibyte, over: keys(17)))
    let records = FoldedBytes(records: 128 * mebibyte)
    #expect(limits.foldsAtClose(2 * mebibyte, over: records))
    #expect(!limits.foldsAtClose(2 * mebibyte - 1, over: records))
    var never = limits
    never.foldsAtClose = false
    #expect(!never.foldsAtClose(1, over: FoldedBytes()))
  }
}
