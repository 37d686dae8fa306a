import Foundation
import StoredObjectsTestSupport
import Testing

@testable import StoreEngine

@Suite("Times of saves")
struct SaveTimesTests {
  @Test("A share is never shorter than the real one, and at most 1.42 times as long")
  func shares() throws {
    var generator = Seeds.generator(for: "times of saves")
    for count in [1, 2, 3, 100, 2000] {
      var times = SaveTimes()
      var durations: [Duration] = []
      for _ in 0..<count {
        // From a microsecond to eight seconds, each doubling as often.
        let exponent = Double.random(in: 0..<23, using: &generator)
        durations.append(.microseconds(exp2(exponent)))
        times.add(durations[durations.count - 1])
      }
      durations.sort()
      #expect(times.count == UInt64(count))
      for share in [0, 0.1, 0.5, 0.9, 0.99, 1] {
        let real = durations[max(1, Int((Double(count) * share).rounded(.up))) - 1]
        let found = try #require(times.time(ofShare: share))
        #expect(found >= real && found <= real * 1.42 + .microseconds(2), "\(share) of \(count)")
      }
    }
  }

  @Test("Times are counted in one of the buckets, however short or long they are")
  func extremes() {
    var last = 0
    for microseconds in [0, 1, 2, 3, 1000, 1_000_000, 12_000_000, 1e12, 1e15] {
      let bucket = SaveTimes.bucket(of: .microseconds(microseconds))
      #expect((last..<SaveTimes.bucketCount).contains(bucket))
      last = bucket
    }
    #expect(last == SaveTimes.bucketCount - 1 && SaveTimes.bucket(of: .seconds(-1)) == 0)
  }

  @Test("The times since a look are those of later saves; of other processes they are all")
  func differences() {
    var times = SaveTimes()
    #expect(times.time(ofShare: 0.5) == nil)
    times.add(.milliseconds(1))
    let look = times
    times.add(.seconds(1))
    #expect(times.since(look).count == 1)
    #expect(times.since(look).time(ofShare: 0) ?? .zero >= .seconds(1))
    #expect(times.since(times).count == 0)
    // They have begun again, with fewer.
    #expect(look.since(times) == look)
  }
}
