import Foundation
import StoredObjectsCore

/// A random condition for tracks, as a text and as a closure.
struct RandomCondition {
  let text: String
  let holds: (Track) -> Bool

  init(_ generator: inout some RandomNumberGenerator, depth: Int = 0) {
    switch Int.random(in: depth > 2 ? 3...9 : 0...9, using: &generator) {
    case 0: self = Self.joined("and", &generator, depth) { $0 && $1 }
    case 1: self = Self.joined("or", &generator, depth) { $0 || $1 }
    case 2:
      let part = RandomCondition(&generator, depth: depth + 1)
      self.init("not (\(part.text))") { !part.holds($0) }
    case 3: self = Self.seconds(&generator)
    case 4: self = Self.title(&generator)
    case 5: self = Self.remark(&generator)
    case 6: self = Self.rating(&generator)
    case 7: self = Self.released(&generator)
    case 8:
      let rows = (0..<3).map { _ in UInt32.random(in: 2...130, using: &generator) }
      self.init("id in (\(rows.map(String.init).joined(separator: ", ")))") {
        rows.contains($0.rowID)
      }
    default:
      let row = UInt32.random(in: 2...5, using: &generator)
      self.init("band = Band/\(row) or mood = loud and isLive = true") {
        $0.band?.rowID == row || $0.mood == .loud && $0.isLive
      }
    }
  }

  private init(_ text: String, _ holds: @escaping (Track) -> Bool) {
    (self.text, self.holds) = (text, holds)
  }

  private static func joined(
    _ word: String, _ generator: inout some RandomNumberGenerator, _ depth: Int,
    _ join: @escaping (Bool, Bool) -> Bool
  ) -> RandomCondition {
    let parts = (
      RandomCondition(&generator, depth: depth + 1), RandomCondition(&generator, depth: depth + 1)
    )
    return RandomCondition("(\(parts.0.text)) \(word) (\(parts.1.text))") {
      join(parts.0.holds($0), parts.1.holds($0))
    }
  }

  private static let comparisons: [(String, @Sendable (Int) -> Bool)] = [
    ("=", { $0 == 0 }), ("!=", { $0 != 0 }), ("<", { $0 < 0 }), ("<=", { $0 <= 0 }),
    (">", { $0 > 0 }), (">=", { $0 >= 0 }),
  ]

  private static func seconds(_ generator: inout some RandomNumberGenerator) -> RandomCondition {
    let (sign, holds) = comparisons[.random(in: 0..<6, using: &generator)]
    let number = Int.random(in: -10...310, using: &generator)
    return RandomCondition("seconds \(sign) \(number)") {
      holds($0.seconds < number ? -1 : $0.seconds > number ? 1 : 0)
    }
  }

  private static func title(_ generator: inout some RandomNumberGenerator) -> RandomCondition {
    let word = ["Sun", "S", "Rain 3", "Élan", "x", "blue 1"][.random(in: 0..<6, using: &generator)]
    if Bool.random(using: &generator) {
      return RandomCondition("title starts with \"\(word)\"") { $0.title.hasPrefix(word) }
    }
    let (sign, holds) = comparisons[.random(in: 0..<6, using: &generator)]
    return RandomCondition("title \(sign) '\(word)'") { track in
      let isLess = track.title.utf8.lexicographicallyPrecedes(word.utf8)
      return holds(isLess ? -1 : track.title == word ? 0 : 1)
    }
  }

  private static func remark(_ generator: inout some RandomNumberGenerator) -> RandomCondition {
    switch Int.random(in: 0...2, using: &generator) {
    case 0: RandomCondition("remark = none") { $0.remark == nil }
    case 1: RandomCondition("remark != none") { $0.remark != nil }
    default: RandomCondition("remark contains un") { $0.remark?.contains("un") ?? false }
    }
  }

  private static func rating(_ generator: inout some RandomNumberGenerator) -> RandomCondition {
    if .random(using: &generator) { return RandomCondition("rating = none") { $0.rating == nil } }
    let (sign, holds) = comparisons[.random(in: 0..<6, using: &generator)]
    let number = Double(Int.random(in: 0...10, using: &generator)) / 2
    return RandomCondition("rating \(sign) \(number)") { track in
      guard let rating = track.rating else { return sign == "!=" }
      return holds(rating < number ? -1 : rating > number ? 1 : 0)
    }
  }

  private static func released(_ generator: inout some RandomNumberGenerator) -> RandomCondition {
    let (sign, holds) = comparisons[.random(in: 0..<6, using: &generator)]
    let day = Int.random(in: 0...27, using: &generator)
    return RandomCondition("released \(sign) 1970-01-\(String(format: "%02d", day + 1))") { track in
      let number = Int(track.released.timeIntervalSince1970 / 86_400)
      return holds(number < day ? -1 : number > day ? 1 : 0)
    }
  }
}
