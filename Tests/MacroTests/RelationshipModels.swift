#if Macros
  import StoredObjects

  @Stored final class Band: StoredObject {
    @Unique var name: String = ""
    @Relationship(deleteRule: .cascade, inverse: \Record.band) var records: [Record] = []

    convenience init(_ name: String) {
      self.init()
      self.name = name
    }
  }

  @Stored final class Record: StoredObject {
    var title: String = ""
    /// The other side may have a rule of its own.
    @Relationship(deleteRule: .nullify) var band: Band?
    @Unique(with: \Record.title) var year: UInt16? = nil
    @Relationship(inverse: \Shelf.records) var shelves: [Shelf] = []

    convenience init(_ title: String) {
      self.init()
      self.title = title
    }
  }

  @Stored class Shelf: StoredObject {
    var records: [Record] = []
    @Relationship(deleteRule: .deny) var locks: Set<Record> = []
  }

  @Stored final class GlassShelf: Shelf {
    @Relationship(deleteRule: .nullify) var lamp: Shelf?
  }
#endif
