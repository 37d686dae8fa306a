#if Macros
  import StoredObjects

  // A class and its subclass that have changed four times between them, as they are today and as
  // each earlier version of the program had them.

  /// Where a recording was made.
  struct Venue: Codable, Equatable {
    var name = ""
    var seats: UInt32 = 0
  }

  /// The requirements of each version of the subclass.
  protocol LiveRecordingClass: StoredObject {
    /// Fills an object with the values in its version's fixture.
    func fill()
  }

  @Stored class Recording: StoredObject {
    var title: String = ""
    @Formerly("seconds", UInt32.self, until: 3) var milliseconds: UInt64 = 0
    @Dropped(in: 3) var rating: UInt8 = 0
    @Since(1) var note: String?
    @Transient var hadRating: UInt8 = 0

    private func upgrade(from version: UInt8, former: Former) {
      if let seconds = former.seconds { milliseconds = UInt64(seconds) * 1000 }
      hadRating = former.rating
    }
  }

  @Stored final class LiveRecording: Recording, LiveRecordingClass {
    @Formerly("place", String.self, until: 4) var venue: Venue = Venue()
    @Since(2) var audience: UInt32 = 0
    @Since(4) var guests: ObjectList<Recording> = []

    private func upgrade(from version: UInt8, former: Former) {
      if let place = former.place { venue = Venue(name: place, seats: audience) }
    }

    func fill() {
      (title, milliseconds, note) = ("Kashmir", 511_250, "loud")
      (venue, audience) = (Venue(name: "Oslo", seats: 9), 8)
    }
  }

  enum Version0 {
    @Stored class Recording: StoredObject {
      var title: String = ""
      var seconds: UInt32 = 0
      var rating: UInt8 = 0
    }

    @Stored final class LiveRecording: Recording, LiveRecordingClass {
      var place: String = ""

      func fill() { (title, seconds, rating, place) = ("Kashmir", 511, 90, "Oslo") }
    }
  }

  enum Version1 {
    @Stored class Recording: StoredObject {
      var title: String = ""
      var seconds: UInt32 = 0
      var rating: UInt8 = 0
      @Since(1) var note: String?
    }

    @Stored final class LiveRecording: Recording, LiveRecordingClass {
      var place: String = ""

      func fill() {
        (title, seconds, rating, note, place) = ("Kashmir", 511, 90, "loud", "Oslo")
      }
    }
  }

  enum Version2 {
    @Stored class Recording: StoredObject {
      var title: String = ""
      var seconds: UInt32 = 0
      var rating: UInt8 = 0
      @Since(1) var note: String?
    }

    @Stored final class LiveRecording: Recording, LiveRecordingClass {
      var place: String = ""
      @Since(2) var audience: UInt32 = 0

      func fill() {
        (title, seconds, rating, note) = ("Kashmir", 511, 90, "loud")
        (place, audience) = ("Oslo", 8)
      }
    }
  }

  enum Version3 {
    @Stored class Recording: StoredObject {
      var title: String = ""
      @Formerly("seconds", UInt32.self, until: 3) var milliseconds: UInt64 = 0
      @Dropped(in: 3) var rating: UInt8 = 0
      @Since(1) var note: String?

      private func upgrade(from version: UInt8, former: Former) {
        if let seconds = former.seconds { milliseconds = UInt64(seconds) * 1000 }
      }
    }

    @Stored final class LiveRecording: Recording, LiveRecordingClass {
      var place: String = ""
      @Since(2) var audience: UInt32 = 0

      func fill() {
        (title, milliseconds, note, place, audience) = ("Kashmir", 511_250, "loud", "Oslo", 8)
      }
    }
  }
#endif
