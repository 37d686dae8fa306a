#if Macros
  /// Makes a subclass of ``/StoredObjectsCore/StoredObject`` a stored class.
  ///
  ///     @Stored final class Song: StoredObject {
  ///       var title = ""
  ///       var seconds = 0
  ///       var artist: Artist?
  ///       @Transient var isPlaying = false
  ///     }
  ///
  /// Every stored property becomes a field of the record, and has a default. Reading one
  /// reads the record of a fault first, changing one tells the store. The bytes are those of a
  /// hand-written class that writes the same properties in the order of the declarations.
  ///
  /// The store keeps the names and types of the properties. You can add, remove and move
  /// properties: records of earlier layouts are read by name. See <doc:ChangingAClass>.
  ///
  /// A class that is `Codable`, say for an export, has a hand-written `encode(to:)` and
  /// `init(from:)`, which use the properties: a fix-it writes them.
  ///
  /// - Parameter version: The version of the class, if it is higher than what its properties say.
  @attached(
    member, names: named(readContent), named(writeContent), named(classVersion), named(layout),
    named(Former), named(isCodedOnAnyThread), named(relationships), named(indexes),
    named(fullTextAttributes), named(dissolveAllRelationships), named(_isNotEncodable),
    named(init))
  @attached(memberAttribute)
  public macro Stored(version: UInt8 = 0) =
    #externalMacro(module: "StoredObjectsMacros", type: "StoredMacro")

  /// What ``Stored(version:)`` puts on each stored property; not for writing by hand.
  @attached(accessor, names: named(init), named(get), named(_modify))
  @attached(peer, names: prefixed(_))
  public macro StoredField() =
    #externalMacro(module: "StoredObjectsMacros", type: "StoredFieldMacro")

  /// Keeps a property out of the record; it begins with its default in every run.
  @attached(peer)
  public macro Transient() = #externalMacro(module: "StoredObjectsMacros", type: "MarkMacro")

  /// Marks a property that a version of the class has brought.
  ///
  /// New classes don't need it: the store knows which properties a record has. It is for classes
  /// whose records were written before stores kept layouts.
  @attached(peer)
  public macro Since(_ version: UInt8) =
    #externalMacro(module: "StoredObjectsMacros", type: "MarkMacro")

  /// Tells under which name the records of earlier layouts have a property.
  ///
  ///     @Formerly("remark") var note: String?
  ///
  /// A property that was renamed more than once has one for each name.
  @attached(peer)
  public macro Formerly(_ name: String) =
    #externalMacro(module: "StoredObjectsMacros", type: "MarkMacro")

  /// Converts the values that a property had when its type was another.
  ///
  ///     @Converted(from: UInt32.self, by: { Double($0) }) var seconds: Double = 0
  ///     @Converted("seconds", from: UInt32.self, by: Duration.seconds) var length = Duration()
  ///
  /// Types that lose nothing need no conversion: see <doc:ChangingAClass>. Keep the attribute as
  /// long as there are records with the former type.
  ///
  /// - Parameters:
  ///   - formerName: The name that the property had then; nil if it is the same.
  ///   - oldType: The type of the values then.
  ///   - convert: Makes a value of today of a former one. It may run on any thread.
  @attached(peer)
  public macro Converted<Old, New>(
    _ formerName: String? = nil, from oldType: Old.Type, by convert: (Old) throws -> New
  ) = #externalMacro(module: "StoredObjectsMacros", type: "MarkMacro")

  /// Says which field stood in the place of a property in records of earlier versions.
  ///
  /// The class's `upgrade(from:former:)` turns the former value, nil where there was none, into the
  /// new one.
  @attached(peer)
  public macro Formerly<Value>(_ name: String, _ type: Value.Type, until version: UInt8) =
    #externalMacro(module: "StoredObjectsMacros", type: "MarkMacro")

  /// Keeps the place of a property that the class no longer has.
  ///
  /// Records of earlier versions have it, those that are written do not, and an object has no room
  /// for it. The class's `upgrade(from:former:)` can look at the value.
  @attached(accessor, names: named(get))
  public macro Dropped(in version: UInt8) =
    #externalMacro(module: "StoredObjectsMacros", type: "DroppedMacro")

  /// Says what becomes of the objects that a property refers to when the object is deleted, and
  /// which of their properties is the other side.
  ///
  ///     @Relationship(deleteRule: .cascade, inverse: \Song.album) var songs: [Song] = []
  ///
  /// See ``StoredObjectsCore/Relationship``, which this makes. Only one side names the inverse, or
  /// the compiler finds a circle; the other may have the attribute for its delete rule.
  @attached(peer)
  public macro Relationship(
    deleteRule: Relationship.DeleteRule = .nullify, inverse: AnyKeyPath? = nil
  ) = #externalMacro(module: "StoredObjectsMacros", type: "MarkMacro")

  /// Says that no two objects of the class have the same value in the property, but for nil.
  ///
  /// It is another way to write `@Indexed(unique: true)`, see ``Indexed(unique:folded:)``.
  @attached(peer)
  public macro Unique() = #externalMacro(module: "StoredObjectsMacros", type: "MarkMacro")

  /// Says that no two objects of the class have the same values in the property and another.
  ///
  /// It makes a unique ``/StoredObjectsCore/AttributeIndex`` that is named by both: "side and
  /// number".
  @attached(peer)
  public macro Unique(with other: AnyKeyPath) =
    #externalMacro(module: "StoredObjectsMacros", type: "MarkMacro")

  /// Says that objects can be found by a property.
  ///
  ///     @Indexed var title = ""
  ///     @Indexed(unique: true) var number = 0
  ///     @Indexed var songs: [Song] = []
  ///
  /// It is for single values, references to objects, and lists and sets of references, by which
  /// their referrers are found. It makes an ``/StoredObjectsCore/AttributeIndex`` that has the name
  /// of the property.
  ///
  /// - Parameters:
  ///   - unique: Whether a save is refused that would give two objects the same value, but for nil.
  ///   - folded: Whether a text is indexed without case, accents and width. The index is named
  ///     "folded title" then and answers `$0.title.folded == "halo"`; a unique one refuses a
  ///     text that differs from another only in these. See ``/StoredObjectsCore/FoldedString``.
  @attached(peer)
  public macro Indexed(unique: Bool = false, folded: Bool = false) =
    #externalMacro(module: "StoredObjectsMacros", type: "MarkMacro")

  /// Says that objects can be found by several properties together, of which the first counts most.
  ///
  ///     @Stored final class Song: StoredObject {
  ///       #Index<Song>([\.artist, \.title], [\.year])
  ///
  ///       var artist = ""
  ///       var title = ""
  ///       var year = 0
  ///     }
  ///
  /// It stands in a class of ``Stored(version:)``. Each list of one to three properties makes an
  /// ``/StoredObjectsCore/AttributeIndex`` that is named by them: "artist and title".
  @freestanding(declaration)
  public macro Index<Object: StoredObject>(_ properties: [PartialKeyPath<Object>]...) =
    #externalMacro(module: "StoredObjectsMacros", type: "IndexMacro")

  /// Sets the size above which the value of a property is stored outside of the record.
  ///
  ///     @External(above: 4096) var cover = ExternalData()
  ///     @External(above: 1 << 20) var pages: [ExternalData] = []
  ///
  /// Other properties have the limit of the store, `StoreConfiguration.externalThreshold`. The limit
  /// counts when an object is saved, and you can change it at any time. See <doc:StoringLargeValues>.
  ///
  /// - Parameter byteCount: The size in bytes; 0 keeps every value outside that isn't empty.
  @attached(peer)
  public macro External(above byteCount: Int) =
    #externalMacro(module: "StoredObjectsMacros", type: "MarkMacro")

  /// Says that objects can be found by words, and parts of words, of a text.
  ///
  ///     @FullText(weight: 2) var title = ""
  ///     @FullText var remark: String?
  ///
  /// It is for `String` and `String?`, and makes a ``/StoredObjectsCore/FullTextAttribute`` that
  /// has the name of the property.
  ///
  /// - Parameter weight: How much a match counts against one in other properties; above 0.
  @attached(peer)
  public macro FullText(weight: Double = 1) =
    #externalMacro(module: "StoredObjectsMacros", type: "MarkMacro")

  /// What expansions of ``Stored(version:)`` call.
  public enum StoredExpansion {
    /// Runs what may throw or not, which the expansion can't see.
    ///
    /// - Throws: what the body throws.
    @inlinable public static func run(_ body: @autoclosure () throws -> Void) throws {
      try body()
    }

    /// A value that can't be encoded: see ``Stored(version:)``.
    public struct NotEncodable: Sendable {
      /// Makes the value.
      @inlinable public init() {}
    }

    /// A value that is no reference stays.
    @inlinable @_disfavoredOverload public static func letGo<Value>(_ value: inout Value) {}
    /// A reference becomes nil.
    @inlinable public static func letGo<Object: StoredObject>(_ object: inout Object?) {
      object = nil
    }
    /// A list of references is empty afterwards.
    @inlinable public static func letGo<List: RangeReplaceableCollection>(_ list: inout List)
    where List.Element: StoredObject { list = List() }
    /// A set of references is empty afterwards.
    @inlinable public static func letGo<Object: StoredObject>(_ objects: inout Set<Object>) {
      objects = []
    }
  }
#endif
