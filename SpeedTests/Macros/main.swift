import Foundation
import StoredObjectsCore
import TokyoCabinetBackend

// Compares hand-written classes with those of @Stored, alternately in one process, so that anything
// that slows the machine slows both.

#if Macros
  let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
  let count = arguments.first ?? 1_000_000
  let runs = arguments.dropFirst().first ?? 5
  print("\(count) objects, medians of \(runs) runs; hand-written : @Stored")

  var handwritten: [SongTimes] = []
  var generated: [SongTimes] = []
  for _ in 0..<runs {
    handwritten.append(try measure(HandwrittenSong.self, count, accesses: accessHandwritten))
    generated.append(try measure(GeneratedSong.self, count, accesses: accessGenerated))
  }
  var isWithinLimits = true
  for column in SongTimes.columns {
    let (old, new) = (median(handwritten, column.value), median(generated, column.value))
    let isFast = column.isWithinLimit(handwritten: old, generated: new)
    let digits = column.digits
    print(
      String(
        format: "%@: %.*f : %.*f, %.2f%@", column.name, digits, old, digits, new, new / old,
        isFast ? "" : ", beyond its limit"))
    if !isFast { isWithinLimits = false }
  }
  print("limits: saves and fetches 1.1 times as long, 2 ns more to read a property")
  if !isWithinLimits { exit(1) }
#else
  print("built without the trait Macros, there is no @Stored to measure")
#endif
