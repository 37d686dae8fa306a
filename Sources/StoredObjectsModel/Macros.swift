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
  /// Each stored property becomes a field of the record, and needs a default. Reading a property of
  /// a fault reads its record first, and changing a property reports the change to the store. The
  /// bytes are the same as those of a hand-written class that writes the properties in declaration
  /// order.
  ///
  /// The store keeps the names and types of the properties. You can add, remove and move
  /// properties: records of earlier layouts are read by name. See
  /// <doc:/StoredObjectsCore/ChangingAClass>.
  ///
  /// If the class is `Codable`, for example for an export, write its `encode(to:)` and
  /// `init(from:)` by hand, with the properties. A fix-it adds them.
  ///
  /// - Parameter version: The version of the class, if it is higher than its properties imply.
  @attached(
    member, names: named(readContent), named(writeContent), named(classVersion), named(layout),
    named(Former), named(isCodedOnAnyThread), named(relationships), named(indexes),
    named(fullTextAttributes), named(dissolveAllRelationships), named(_isNotEncodable),
    named(init))
  @attached(memberAttribute)
  public macro Stored(version: UInt8 = 0) =
    #externalMacro(module: "StoredObjectsMacros", type: "StoredMacro")

  /// Implements a stored property for ``Stored(version:)``; don't write it by hand.
  @attached(accessor, names: named(init), named(get), named(_modify))
  @attached(peer, names: prefixed(_))
  public macro StoredField() =
    #externalMacro(module: "StoredObjectsMacros", type: "StoredFieldMacro")

  /// Keeps a property out of the record; it has its default in every new run.
  @attached(peer)
  public macro Transient() = #externalMacro(module: "StoredObjectsMacros", type: "MarkMacro")

  /// Marks a property that a version of the class has added.
  ///
  /// New classes don't need it: the store knows which properties a record has. It is for classes
  /// whose records were written before stores kept layouts.
  @attached(peer)
  public macro Since(_ version: UInt8) =
    #externalMacro(module: "StoredObjectsMacros", type: "MarkMacro")

  /// Declares the name of a property in records of earlier layouts.
  ///
  ///     @Formerly("remark") var note: String?
  ///
  /// A property that was renamed more than once has one attribute for each name.
  @attached(peer)
  public macro Formerly(_ name: String) =
    #externalMacro(module: "StoredObjectsMacros", type: "MarkMacro")

  /// Converts the values of a property from an earlier type.
  ///
  ///     @Converted(from: UInt32.self, by: { Double($0) }) var seconds: Double = 0
  ///     @Converted("bytes", from: UInt32.self, by: { $0 / 1024 }) var kibibytes: UInt32 = 0
  ///
  /// Conversions that lose nothing don't need it: see <doc:/StoredObjectsCore/ChangingAClass>. Keep
  /// the attribute as long as there are records with the earlier type.
  ///
  /// - Parameters:
  ///   - formerName: The name that the property had then; nil if it is the same.
  ///   - oldType: The type of the values then.
  ///   - convert: Returns the new value for an earlier one. It may run on any thread.
  @attached(peer)
  public macro Converted<Old, New>(
    _ formerName: String? = nil, from oldType: Old.Type, by convert: (Old) throws -> New
  ) = #externalMacro(module: "StoredObjectsMacros", type: "MarkMacro")

  /// Declares the field that records of earlier versions have in place of a property.
  ///
  /// The class's `upgrade(from:former:)` converts the former value, nil if there was none, to the
  /// new one.
  @attached(peer)
  public macro Formerly<Value>(_ name: String, _ type: Value.Type, until version: UInt8) =
    #externalMacro(module: "StoredObjectsMacros", type: "MarkMacro")

  /// Declares a property that the class no longer has, so that earlier records can be read.
  ///
  /// Records of earlier versions have the property. New records do not, and objects have no storage
  /// for it. The class's `upgrade(from:former:)` can read the value.
  @attached(accessor, names: named(get))
  public macro Dropped(in version: UInt8) =
    #externalMacro(module: "StoredObjectsMacros", type: "DroppedMacro")

  /// Declares the delete rule of a property with references, and its inverse.
  ///
  ///     @Relationship(deleteRule: .cascade, inverse: \Song.album) var songs: [Song] = []
  ///
  /// The delete rule decides what happens to the referenced objects when the object is deleted. The
  /// attribute creates a ``/StoredObjectsCore/Relationship``; see there. Name the inverse on one
  /// side only: on both sides, the compiler reports a circular reference. The other side may have
  /// the attribute for its delete rule.
  @attached(peer)
  public macro Relationship(
    deleteRule: Relationship.DeleteRule = .nullify, inverse: AnyKeyPath? = nil
  ) = #externalMacro(module: "StoredObjectsMacros", type: "MarkMacro")

  /// Declares that no two objects of the class have the same value in the property, except nil.
  ///
  /// It is the same as `@Indexed(unique: true)`, see ``Indexed(unique:folded:)``.
  @attached(peer)
  public macro Unique() = #externalMacro(module: "StoredObjectsMacros", type: "MarkMacro")

  /// Declares that no two objects of the class have the same values in this property and another.
  ///
  /// It creates a unique ``/StoredObjectsCore/AttributeIndex`` that is named by both: "side and
  /// number".
  @attached(peer)
  public macro Unique(with other: AnyKeyPath) =
    #externalMacro(module: "StoredObjectsMacros", type: "MarkMacro")

  /// Declares an index of a property, for finding objects.
  ///
  ///     @Indexed var title = ""
  ///     @Indexed(unique: true) var number = 0
  ///     @Indexed var songs: [Song] = []
  ///
  /// Use it for single values, references to objects, and lists and sets of references, whose index
  /// finds the referrers. It creates an ``/StoredObjectsCore/AttributeIndex`` with the name of the
  /// property.
  ///
  /// - Parameters:
  ///   - unique: Whether a save throws if it would give two objects the same value, except nil.
  ///   - folded: Whether to index a text without case, accents and width. The index is then named
  ///     "folded title" and answers `$0.title.folded == "halo"`. A unique one also rejects a text
  ///     that differs from another only in these. See ``/StoredObjectsCore/FoldedString``.
  @attached(peer)
  public macro Indexed(unique: Bool = false, folded: Bool = false) =
    #externalMacro(module: "StoredObjectsMacros", type: "MarkMacro")

  /// Declares indexes of several properties together, the most significant property first.
  ///
  ///     @Stored final class Song: StoredObject {
  ///       #Index<Song>([\.artist, \.title], [\.year])
  ///
  ///       var artist = ""
  ///       var title = ""
  ///       var year = 0
  ///     }
  ///
  /// Use it inside of a ``Stored(version:)`` class. Each list of one to three properties creates an
  /// ``/StoredObjectsCore/AttributeIndex`` that is named by them: "artist and title".
  @freestanding(declaration)
  public macro Index<Object: StoredObject>(_ properties: [PartialKeyPath<Object>]...) =
    #externalMacro(module: "StoredObjectsMacros", type: "IndexMacro")

  /// Sets the size above which the value of a property is stored outside of the record.
  ///
  ///     @External(above: 4096) var cover = ExternalData()
  ///     @External(above: 1 << 20) var pages: [ExternalData] = []
  ///
  /// Other properties have the limit of the store, `StoreConfiguration.externalThreshold`. The
  /// limit applies when an object is saved, and you can change it at any time. See
  /// <doc:/StoredObjectsCore/StoringLargeValues>.
  ///
  /// - Parameter byteCount: The size in bytes; with 0, every value that is not empty is stored
  ///   outside.
  @attached(peer)
  public macro External(above byteCount: Int) =
    #externalMacro(module: "StoredObjectsMacros", type: "MarkMacro")

  /// Declares a full-text index of a property, for finding objects by words and parts of words.
  ///
  ///     @FullText(weight: 2) var title = ""
  ///     @FullText var remark: String?
  ///
  /// Use it for `String` and `String?`. It creates a ``/StoredObjectsCore/FullTextAttribute`` with
  /// the name of the property.
  ///
  /// - Parameter weight: The weight of a match, relative to other properties; above 0.
  @attached(peer)
  public macro FullText(weight: Double = 1) =
    #externalMacro(module: "StoredObjectsMacros", type: "MarkMacro")

  /// Functions for the expansions of ``Stored(version:)``.
  public enum StoredExpansion {
    /// Runs an expression that may or may not throw, which the expansion can't know.
    ///
    /// Complexity: that of the expression.
    ///
    /// - Throws: The errors of the expression.
    @inlinable public static func run(_ body: @autoclosure () throws -> Void) throws {
      try body()
    }

    /// A value that can't be encoded: see ``Stored(version:)``.
    public struct NotEncodable: Sendable {
      /// Creates the value.
      @inlinable public init() {}
    }

    /// Keeps a value that is not a reference.
    @inlinable @_disfavoredOverload public static func letGo<Value>(_ value: inout Value) {}
    /// Sets a reference to nil.
    @inlinable public static func letGo<Object: StoredObject>(_ object: inout Object?) {
      object = nil
    }
    /// Empties a list of references.
    ///
    /// Complexity: linear in the number of references, which are released.
    @inlinable public static func letGo<List: RangeReplaceableCollection>(_ list: inout List)
    where List.Element: StoredObject { list = List() }
    /// Empties a set of references.
    ///
    /// Complexity: linear in the number of references, which are released.
    @inlinable public static func letGo<Object: StoredObject>(_ objects: inout Set<Object>) {
      objects = []
    }
  }
#endif
