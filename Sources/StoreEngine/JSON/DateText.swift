package import FoundationEssentials

/// Dates as ISO 8601 texts in UTC, such as "2026-11-23T16:40:21.5Z".
///
/// A text has enough digits of a second to read the same `Date` back, to the last bit.
package enum DateText {
  private static let secondsPerDay: Int64 = 86_400
  /// The days from 1970-01-01 to 2001-01-01.
  private static let referenceDay: Int64 = 11_323

  /// Returns the text of a date; nil if no text gives the same bits, or outside of years 1 to 9999.
  package static func text(of date: Date) -> String? {
    let seconds = date.timeIntervalSinceReferenceDate
    guard seconds.isFinite, seconds.magnitude < 1e12, !(seconds == 0 && seconds.sign == .minus)
    else { return nil }
    let parts = seconds.magnitude.description.split(separator: ".")
    guard parts.count == 2, var whole = Int64(parts[0]) else { return nil }
    var fraction = parts[1] == "0" ? "" : String(parts[1])
    if seconds < 0 {
      whole = -whole
      if !fraction.isEmpty {
        guard let rest = complement(of: fraction) else { return nil }
        (whole, fraction) = (whole - 1, rest)
      }
    }
    guard let text = text(wholeSeconds: whole, fraction), self.date(of: text) == date else {
      return nil
    }
    return text
  }

  /// Returns one minus the fraction, with the same number of digits.
  private static func complement(of fraction: String) -> String? {
    guard fraction.utf8.count <= 36, let number = UInt128(fraction) else { return nil }
    let one = fraction.utf8.reduce(UInt128(1)) { one, _ in one * 10 }
    guard number > 0 else { return nil }
    let digits = "\(one - number)"
    return String(repeating: "0", count: fraction.utf8.count - digits.utf8.count) + digits
  }

  private static func text(wholeSeconds: Int64, _ fraction: String) -> String? {
    let time = ((wholeSeconds % secondsPerDay) + secondsPerDay) % secondsPerDay
    let (year, month, day) = civil((wholeSeconds - time) / secondsPerDay + referenceDay)
    guard (1...9999).contains(year) else { return nil }
    let clock = [time / 3600, time / 60 % 60, time % 60].map { padded($0, 2) }
    let end = fraction.isEmpty ? "Z" : ".\(fraction)Z"
    return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T"
      + clock.joined(separator: ":") + end
  }

  private static func padded(_ number: Int64, _ count: Int) -> String {
    let digits = "\(number)"
    return String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
  }

  /// Returns the date of a text; nil for a text in another form.
  package static func date(of text: String) -> Date? {
    let bytes = Array(text.utf8)
    guard bytes.count >= 20, bytes.last == UInt8(ascii: "Z") else { return nil }
    for (location, mark) in zip([4, 7, 10, 13, 16], "--T::".utf8) where bytes[location] != mark {
      return nil
    }
    guard let year = number(bytes[0..<4]), let month = number(bytes[5..<7]),
      let day = number(bytes[8..<10]), let hour = number(bytes[11..<13]),
      let minute = number(bytes[14..<16]), let second = number(bytes[17..<19]),
      year >= 1, (1...12).contains(month), hour < 24, minute < 60, second < 60
    else { return nil }
    let days = day0(year, month, day)
    guard civil(days) == (year, month, day) else { return nil }
    let whole = (days - referenceDay) * secondsPerDay + hour * 3600 + minute * 60 + second
    if bytes.count == 20 { return Date(timeIntervalSinceReferenceDate: Double(whole)) }
    let digits = bytes[20..<bytes.count - 1]
    guard bytes[19] == UInt8(ascii: "."), !digits.isEmpty, digits.count <= 36,
      digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    else { return nil }
    return date(whole, String(decoding: digits, as: UTF8.self))
  }

  private static func date(_ whole: Int64, _ fraction: String) -> Date? {
    var text = "\(whole).\(fraction)"
    if whole < 0, let rest = complement(of: fraction) { text = "-\(-whole - 1).\(rest)" }
    return Double(text).map { Date(timeIntervalSinceReferenceDate: $0) }
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
    var number: Int64 = 0
    for digit in digits {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
      number = number * 10 + Int64(digit - UInt8(ascii: "0"))
    }
    return number
  }

  // The proleptic Gregorian calendar in eras of 400 years, which begin in March.

  private static func civil(_ day: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = day + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153
    let isNewYear = month >= 10
    return (
      yearOfEra + era * 400 + (isNewYear ? 1 : 0), isNewYear ? month - 9 : month + 3,
      dayOfYear - (153 * month + 2) / 5 + 1
    )
  }

  /// Returns the number of days since 1970-01-01.
  private static func day0(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let year = month <= 2 ? year - 1 : year
    let era = year / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }
}
