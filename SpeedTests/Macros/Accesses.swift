import Foundation

// The loops are written twice, because generic loops would call the accessors through a table.

private let turns = 20_000

/// Returns the time of one of many accesses to each of a thousand objects, in nanoseconds of
/// processor time, which other processes hardly change.
private func nanoseconds(_ body: () -> Void) -> Double {
  let start = clock()
  body()
  return Double(clock() - start) / Double(CLOCKS_PER_SEC) * 1e9 / Double(turns * 1000)
}

/// Measures accesses to a thousand hand-written songs.
@inline(never) func accessHandwritten(_ songs: [HandwrittenSong], _ times: inout SongTimes) {
  var sum: UInt32 = 0
  times.readNumber = nanoseconds {
    for _ in 0..<turns { for song in songs { sum &+= song.seconds } }
  }
  times.readString = nanoseconds {
    for _ in 0..<turns { for song in songs where song.title.isEmpty { sum &+= 1 } }
  }
  times.setNumber = nanoseconds {
    for turn in 0..<turns { for song in songs { song.seconds = UInt32(turn) } }
  }
  times.append = nanoseconds {
    for _ in 0..<turns / 100 { for song in songs { song.songs.append(song) } }
  }
  times.append *= 100
  precondition(sum > 0)
}

#if Macros
  /// Measures the same accesses to songs by `@Stored`.
  @inline(never) func accessGenerated(_ songs: [GeneratedSong], _ times: inout SongTimes) {
    var sum: UInt32 = 0
    times.readNumber = nanoseconds {
      for _ in 0..<turns { for song in songs { sum &+= song.seconds } }
    }
    times.readString = nanoseconds {
      for _ in 0..<turns { for song in songs where song.title.isEmpty { sum &+= 1 } }
    }
    times.setNumber = nanoseconds {
      for turn in 0..<turns { for song in songs { song.seconds = UInt32(turn) } }
    }
    times.append = nanoseconds {
      for _ in 0..<turns / 100 { for song in songs { song.songs.append(song) } }
    }
    times.append *= 100
    precondition(sum > 0)
  }
#endif
