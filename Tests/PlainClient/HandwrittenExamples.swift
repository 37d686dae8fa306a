// The hand-written classes of the documentation, as it has them: a test compares.

import StoredObjects

/// From GettingStarted.md.
enum GettingStartedExample {
  final class Song: StoredObject {
    @Content var title = ""
    @Content var seconds = 0

    override func writeContent(to buffer: inout DataBuffer) {
      buffer.write(title)
      buffer.write(seconds)
    }
    override func readContent(from buffer: inout DataBuffer) throws {
      title = try buffer.readString()
      seconds = try buffer.readInt()
    }
  }

  final class Playlist: StoredObject {
    @Content var title = ""
    @Content var songs: [Song] = []

    override func writeContent(to buffer: inout DataBuffer) {
      buffer.write(title)
      buffer.write(songs)
    }
    override func readContent(from buffer: inout DataBuffer) throws {
      title = try buffer.readString()
      songs = try buffer.readObjects(of: Song.self)
    }
  }
}

/// From ChangingAClass.md.
enum ChangingAClassExample {
  final class Song: StoredObject {
    @Content var title = ""
    @Content var seconds: UInt32 = 0

    override class var layout: ClassLayout? {
      ClassLayout(
        Song.self,
        [
          StoredProperty("title", String.self),
          StoredProperty("seconds", UInt32.self),
        ])
    }
    override func writeContent(to buffer: inout DataBuffer) {
      buffer.write(title)
      buffer.write(seconds)
    }
    override func readContent(from buffer: inout DataBuffer) throws {
      title = try buffer.readString()
      seconds = try buffer.readUInt32()
    }
  }
}

/// A later version of the class without a layout.
enum ChangedClassExample {
  final class Song: StoredObject {
    @Content var title = ""
    @Content var seconds: UInt32 = 0
    @Content var artist: String? = nil

    override class var classVersion: UInt8 { 1 }

    override func readContent(from buffer: inout DataBuffer) throws {
      title = try buffer.readString()
      seconds = try buffer.readUInt32()
      if buffer.version >= 1 { artist = try buffer.read() }
    }
    override func writeContent(to buffer: inout DataBuffer) {
      buffer.write(title)
      buffer.write(seconds)
      buffer.write(artist)
    }
  }
}

/// From FaultsAndFailures.md.
enum FaultsAndFailuresExample {
  final class Song: StoredObject {
    private var storedTitle = ""
    var title: String {
      get {
        checkForContent()
        return storedTitle
      }
      set {
        willUpdate()
        storedTitle = newValue
      }
    }
  }
}

/// From Relationships.md.
enum RelationshipsExample {
  final class Playlist: StoredObject {
    @Content var songs: [Song] = []

    override class var relationships: [Relationship] {
      [Relationship(\Playlist.songs, deleteRule: .nullify, inverse: \Song.playlists)]
    }
  }

  final class Song: StoredObject {
    @Content var playlists: [Playlist] = []
  }
}

/// From ObjectList.swift.
enum ObjectListExample {
  final class Song: StoredObject {}

  final class Playlist: StoredObject {
    @Content var title = ""
    @Content var songs: ObjectList<Song> = []

    override func readContent(from buffer: inout DataBuffer) throws {
      title = try buffer.readString()
      songs = try buffer.readList(of: Song.self)
    }
  }
}

/// From Content.swift.
enum ContentExample {
  final class Song: StoredObject {}

  final class Playlist: StoredObject {
    @Content var title = ""
    @Content var songs: [Song] = []
  }
}

/// From Relationship.swift.
enum RelationshipExample {
  final class Song: StoredObject {
    @Content var playlists: [Playlist] = []
  }

  final class Playlist: StoredObject {
    @Content var songs: [Song] = []
    override class var relationships: [Relationship] {
      [Relationship(\Playlist.songs, deleteRule: .nullify, inverse: \Song.playlists)]
    }
  }
}

/// From Concurrency.md.
enum ConcurrencyExample {
  final class Song: StoredObject {
    override class var isCodedOnAnyThread: Bool { true }
  }
}

/// From FindingObjects.md.
enum FindingExample {
  final class Song: StoredObject {
    @Content var title = ""
    @Content var artist = ""
    @Content var seconds: UInt32 = 0

    override class var indexes: [AttributeIndex] {
      [
        AttributeIndex("title", \Song.title),
        AttributeIndex("artist and seconds", \Song.artist, \Song.seconds),
      ]
    }
  }
}

/// From AttributeIndex.swift.
enum AttributeIndexExample {
  final class Song: StoredObject {
    @Content var title = ""
    @Content var artist = ""
    override class var indexes: [AttributeIndex] {
      [
        AttributeIndex("title", \Song.title),
        AttributeIndex("artist and title", \Song.artist, \Song.title),
      ]
    }
  }
}

/// From FullTextAttribute.swift.
enum FullTextAttributeExample {
  final class Song: StoredObject {
    @Content var title = ""
    @Content var artist: String?
    override class var fullTextAttributes: [FullTextAttribute] {
      [
        FullTextAttribute("title", \Song.title, weight: 2),
        FullTextAttribute("artist", \Song.artist),
      ]
    }
  }
}

/// From FullTextSearch.md.
enum FullTextSearchExample {
  final class Song: StoredObject {
    @Content var title = ""
    @Content var artist: String?

    override class var fullTextAttributes: [FullTextAttribute] {
      [
        FullTextAttribute("title", \Song.title, weight: 2),
        FullTextAttribute("artist", \Song.artist),
      ]
    }
  }
}
