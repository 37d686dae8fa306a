#if Macros
  import FoundationEssentials
  import StoredObjects

  /// A class as five programs have it, none of which says a version.
  enum Drafts {
    enum Mood: UInt8, DataBufferValue { case calm, wild }

    @Stored final class Tune: StoredObject {
      var title: String = ""
      var artist: String = ""
      var seconds: UInt32 = 0
      var plays: UInt8 = 0
      var mood: Mood = .calm
    }
  }

  /// Properties have changed places.
  enum Moved {
    @Stored final class Tune: StoredObject {
      var mood: Drafts.Mood = .calm
      var artist: String = ""
      var title: String = ""
      var plays: UInt8 = 0
      var seconds: UInt32 = 0
    }
  }

  /// Some are new, gone, renamed, wider and renumbered.
  enum Grown {
    enum Mood: UInt8, DataBufferValue {
      case unknown, wild, calm, sad
    }

    @Stored final class Tune: StoredObject {
      var id: UUID = UUID()
      @Formerly("title") var name: String = ""
      var seconds: UInt64 = 7
      var plays: UInt32?
      var mood: Mood = .unknown
      var note: String = "none"
    }
  }

  /// One has another type.
  enum Converted {
    @Stored final class Tune: StoredObject {
      var title: String = ""
      @Converted("seconds", from: UInt32.self, by: { Double($0) / 60 }) var minutes: Double = 0
    }
  }

  /// One has another type, and nothing says how.
  enum Refused {
    @Stored final class Tune: StoredObject {
      var title: String = ""
      var seconds: Float = 0
      var plays: Int8 = 0
    }
  }

  /// A case of an enumeration has the raw value of another that is gone.
  enum Replaced {
    enum Mood: UInt8, DataBufferValue { case calm, loud }

    @Stored final class Tune: StoredObject {
      var title: String = ""
      var mood: Mood = .calm
    }
  }

  /// The same, and it says that the case was renamed.
  enum Renamed {
    enum Mood: UInt8, DataBufferValue {
      case calm, loud
      static var formerCaseNames: [String: String] { ["wild": "loud"] }
    }

    @Stored final class Tune: StoredObject {
      var title: String = ""
      var mood: Mood = .calm
    }
  }

  /// References, and a property whose type writes itself.
  enum Linked {
    struct Size: DataBufferValue, Equatable {
      var width: UInt8 = 0
      init(width: UInt8) { self.width = width }
      init(from buffer: inout DataBuffer) throws(DataBufferError) { width = try buffer.readUInt8() }
      func write(to buffer: inout DataBuffer) { buffer.write(width) }
    }

    @Stored final class Left: StoredObject { var name: String = "" }
    @Stored final class Right: StoredObject { var name: String = "" }
    @Stored final class Pair: StoredObject {
      var size: Size = Size(width: 1)
      var left: Left?
      var others: [Left] = []
    }
  }

  enum Widened {
    @Stored final class Pair: StoredObject {
      var left: [Linked.Left] = []
      var others: [StoredObject] = []
      var size: Linked.Size?
    }
  }

  enum Misled {
    @Stored final class Pair: StoredObject {
      var left: Linked.Right?
    }
  }
#endif
