import Foundation
import StoredObjectsCore
import TokyoCabinetBackend

// Compares hand-written classes with those of @Stored, one after the other in one process, so that
// what slows the machine slows both.

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
  for (name, digits, value) in SongTimes.columns {
    let (old, new) = (median(handwritten, value), median(generated, value))
    print(String(format: "%@: %.*f : %.*f, %.2f", name, digits, old, digits, new, new / old))
  }
#else
  print("built without the trait Macros, there is no @Stored to measure")
#endif
