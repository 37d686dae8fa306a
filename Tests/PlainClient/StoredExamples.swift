#if Macros
  // The classes by @Stored of the documentation, as it has them: a test compares.

  import StoredObjects

  /// From the beginning of README.md and of GettingStarted.md.
  enum StoredFirstExample {
    @Stored final class Song: StoredObject {
      var title = ""
      var seconds = 0
    }

    @Stored final class Playlist: StoredObject {
      var title = ""
      var songs: [Song] = []
    }
  }

  /// From ChangingAClass.md.
  enum StoredChangingAClassExample {
    @Stored final class Song: StoredObject {
      var title = ""
      var artist = ""
      var seconds: UInt16 = 0
    }
  }

  /// The same class later.
  enum StoredChangedClassExample {
    @Stored final class Song: StoredObject {
      var rating: UInt8 = 3
      var artist = ""
      @Formerly("title") var name = ""
      var seconds: UInt32 = 0
    }

    @Stored(version: 1) final class Track: StoredObject {
      var title = ""
      var length: UInt32 = 0

      private func upgrade(from version: UInt8) {
        if version < 1 { length *= 1000 }
      }
    }
  }

  /// From ModelsWithoutBoilerplate.md.
  enum StoredModelsWithoutBoilerplateExample {
    @Stored final class Artist: StoredObject {}

    @Stored final class Song: StoredObject {
      var title = ""
      var seconds = 0
      var artist: Artist?
      @Transient var isPlaying = false
    }

    @Stored final class Track: StoredObject {
      var title = ""
      @Dropped(in: 2) var rating: UInt8 = 0
      @Formerly("seconds", UInt32.self, until: 3) var milliseconds: UInt64 = 0
      @Since(1) var note: String?
      @Since(4) var stars = 0.5

      private func upgrade(from version: UInt8, former: Former) {
        if let seconds = former.seconds { milliseconds = UInt64(seconds) * 1000 }
        if version < 2 { stars = Double(former.rating) / 20 }
      }
    }
  }

  /// From Relationships.md.
  enum StoredRelationshipsExample {
    @Stored final class Playlist: StoredObject {
      var title = ""
      @Relationship(deleteRule: .nullify, inverse: \Song.playlists) var songs: [Song] = []
    }

    @Stored final class Song: StoredObject {
      var title = ""
      var playlists: [Playlist] = []
    }

    @Stored final class Ticket: StoredObject {
      @Unique var number = 0
    }
  }

  /// From Macros.swift.
  enum StoredMacrosExample {
    @Stored final class Album: StoredObject {
      @Relationship(deleteRule: .cascade, inverse: \Song.album) var songs: [Song] = []
    }

    @Stored final class Song: StoredObject {
      var album: Album?
    }

    @Stored final class Playlist: StoredObject {
      @Indexed var title = ""
      @Indexed(unique: true) var number = 0
      @Indexed var songs: [Song] = []
    }

    @Stored final class Text: StoredObject {
      @FullText(weight: 2) var title = ""
      @FullText var remark: String?
    }

    enum Compound {
      @Stored final class Song: StoredObject {
        #Index<Song>([\.artist, \.title], [\.year])

        var artist = ""
        var title = ""
        var year = 0
      }
    }
  }

  /// From FindingObjects.md.
  enum StoredFindingObjectsExample {
    @Stored final class Song: StoredObject {
      #Index<Song>([\.artist, \.seconds])

      @Indexed var title = ""
      @Indexed(unique: true) var code: String?
      @Indexed var originals: [Song] = []
      var artist = ""
      var seconds = 0
    }

    enum Folded {
      @Stored final class Song: StoredObject {
        @Indexed(folded: true) var title = ""
      }
    }
  }

  /// From SubclassesAndObjectIDs.md.
  enum StoredSubclassesExample {
    @Stored class Song: StoredObject {
      var title = ""
      var seconds = 0
    }

    @Stored final class LiveSong: Song {
      var venue = ""
    }

    @Stored final class Playlist: StoredObject {
      var title = ""
      var opener: Song?
      var songs: [Song] = []
    }

    enum Isolated {
      @Stored nonisolated final class Song: StoredObject {
        @Indexed var title = ""
      }
    }
  }

  /// From FullTextSearch.md.
  enum StoredFullTextSearchExample {
    @Stored final class Song: StoredObject {
      @FullText(weight: 2) var title = ""
      @FullText var artist: String?
    }
  }

  /// From StoringLargeValues.md.
  enum LargeValues {
    @Stored final class Song: StoredObject {
      var title = ""
      var cover = ExternalData()
      var recording: ExternalData?
    }
  }

  /// From ExternalData.
  enum LargeValue {
    @Stored final class Song: StoredObject {
      var title = ""
      var cover = ExternalData()
    }
  }
#endif
