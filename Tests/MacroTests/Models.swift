#if Macros
  import Foundation
  import StoredObjects

  enum Genre: UInt8, DataBufferValue { case jazz, folk, opera }

  struct Size: Codable, Equatable {
    struct Unit: Codable, Equatable { var name = "cm" }
    enum Kind: Codable, Equatable {
      case flat
      case round(radius: Double)
    }
    var width = 0.0
    var unit = Unit()
    var kind = Kind.flat
  }

  @Stored final class Artist: StoredObject {
    var name: String = ""
  }

  @Stored final class Song: StoredObject {
    var title: String = ""
    var seconds: UInt32 = 0
    var artist: Artist?
    @Transient var isPlaying: Bool = false
    @Transient let made = 1
    static let kind = "song"
    @Transient lazy var shout = title.uppercased()
    var minutes: UInt32 { seconds / 60 }

    convenience init(_ title: String, _ seconds: UInt32 = 0) {
      self.init()
      self.title = title
      self.seconds = seconds
    }
  }

  /// One of everything.
  @Stored final class Everything: StoredObject {
    var flag: Bool = false
    var small: Int8 = 0
    var large: UInt64 = 0
    var ratio: Double = 0
    var single: Float = 0
    var text: String? = nil
    var data: Data = Data()
    var bytes: [UInt8] = []
    var date: Date?
    var id: UUID?
    var genre: Genre = .jazz
    var genres: Set<Genre> = []
    var size: Size = Size()
    var sizes: [Size] = []
    var counts: [String: UInt32] = [:]
    var nested: [[String?]] = []
    var song: Song?
    var songs: [Song] = []
    var songSet: Set<Song> = []
    var any: StoredObject?
    var anys: [StoredObject] = []
    var anySet: Set<StoredObject> = []
    var `class`: String = "first"
    var maybeSize: Size? = nil
  }

  @Stored class Album: StoredObject {
    var title: String = ""
    @Since(2) var label: String?

    /// A designated initializer sets properties before `super.init()`.
    init(title: String) {
      self.title = title
      super.init()
    }
    required init() { super.init() }
  }

  @Stored final class Single: Album {
    var side: String = "A"
    @Since(3) var price: Double = 9.5
  }
#endif
