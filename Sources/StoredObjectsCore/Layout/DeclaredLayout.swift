import Locks
import StoreEngine

/// The layout that a class of the program declares for its records.
struct DeclaredLayout: Sendable {
  let classVersion: UInt8
  /// The properties of all versions; nil for a class that doesn't declare them.
  let layout: ClassLayout?
  /// The types of the values that a new object of a class without a layout writes.
  ///
  /// It is nil if they can't be determined.
  let values: [StoredType]?
  /// The layouts in a store if the class is at version 0; nil for later versions.
  private let sole: Sole?

  /// The only layout of a class, and its bytes in a named buffer, which a class whose layout is not
  /// known does not have.
  private final class Sole: Sendable {
    let name: String
    let sealed: [UInt8]?
    let layouts: ClassLayouts

    init(_ className: String, _ form: SavedLayout.Form?) {
      let layout = form.map { SavedLayout(number: 0, classVersion: 0, form: $0) }
      name = LayoutFormat.bufferName(of: className)
      sealed = layout.map { LayoutFormat.sealed([$0], of: className) }
      layouts = ClassLayouts(
        number: 0, classVersion: 0, all: layout.map { [$0] } ?? [], needsSaving: false,
        isOutdated: false, assumed: [], readings: [.asVersion(0)], rareReading: { _ in .later })
    }
  }

  /// The layouts found so far.
  ///
  /// This is an array of objects, since creating a process's first dictionary of a type takes as
  /// long as opening a file, and the first array of a type of structures a third of that.
  private static let known = Locked<[Known]>([])

  private final class Known: Sendable {
    let type: ObjectIdentifier
    let declared: DeclaredLayout

    init(type: ObjectIdentifier, declared: DeclaredLayout) {
      (self.type, self.declared) = (type, declared)
    }
  }

  /// Returns the layout of a class, which is determined once in a process.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `invalidLayout` if the class writes something else.
  static func of(_ type: StoredObject.Type) throws(StoreError) -> DeclaredLayout {
    let id = ObjectIdentifier(type)
    if let found = known.withLock({ $0.first { $0.type == id } }) { return found.declared }
    let declared = try DeclaredLayout(type)
    known.withLock { $0.append(Known(type: id, declared: declared)) }
    return declared
  }

  init(classVersion: UInt8, layout: ClassLayout?) {
    (self.classVersion, self.layout, values, sole) = (classVersion, layout, nil, nil)
  }

  private init(_ type: StoredObject.Type) throws(StoreError) {
    classVersion = type.classVersion
    let layout = type.layout
    self.layout = layout?.owner == ObjectIdentifier(type) ? layout : nil
    values = self.layout == nil ? Self.valuesOfNewObject(type) : nil
    let form = Self.form(of: self.layout, values, at: classVersion)
    sole = classVersion == 0 ? Sole(type.storedName, form) : nil
    if let layout = self.layout { try Self.validate(layout, of: type) }
  }

  /// Returns the form of the records that a version of the class writes, or nil if it is not known.
  func form(at version: UInt8) -> SavedLayout.Form? {
    Self.form(of: layout, version == classVersion ? values : nil, at: version)
  }

  /// The form of the records that the class writes now.
  var form: SavedLayout.Form? { form(at: classVersion) }

  private static func form(
    of layout: ClassLayout?, _ values: [StoredType]?, at version: UInt8
  ) -> SavedLayout.Form? {
    guard let layout else { return values.map { .values($0) } }
    return .properties(layout.properties(at: version).map(SavedLayout.SavedProperty.init))
  }

  /// The layouts for a store that has none of the class; nil for a class with a version.
  var newLayouts: ClassLayouts? {
    guard var layouts = sole?.layouts else { return nil }
    layouts.needsSaving = sole?.sealed != nil
    return layouts
  }

  /// Returns the only layouts of the class if the store has exactly these, or if it has only the
  /// metadata row of a class that does not declare its properties; otherwise nil.
  ///
  /// The comparison of bytes is faster than reading all names and types.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `ioError` or `damaged`.
  func soleLayouts(
    savedIn backend: any StoreBackend, _ metadata: ClassMetadata
  ) throws(StoreError) -> ClassLayouts? {
    guard let sole else { return nil }
    if let saved = try backend.sealedBuffer(named: sole.name) {
      return saved == sole.sealed ? sole.layouts : nil
    }
    return layout == nil && metadata.classVersion == 0 ? newLayouts : nil
  }

  private static func valuesOfNewObject(_ type: StoredObject.Type) -> [StoredType]? {
    let recorder = ShapeRecorder()
    return freshContent(of: type, recorder: recorder) == nil ? nil : recorder.types
  }

  /// Checks that a new object writes the properties of the layout.
  private static func validate(
    _ layout: ClassLayout, of type: StoredObject.Type
  ) throws(StoreError) {
    let properties = layout.properties(at: type.classVersion)
    let names = properties.map(\.name)
    guard Set(names).count == names.count else {
      let name = names.first { name in names.count { $0 == name } > 1 } ?? ""
      throw invalid(type, "it has two properties named \"\(name)\"")
    }
    // If the content can't be written without a store, there is nothing to check.
    guard var buffer = freshContent(of: type) else { return }
    do {
      for property in properties { try property.skip(&buffer) }
    } catch {
      throw invalid(type, "it has more than the class writes")
    }
    guard buffer.remainingCount == 0 else {
      throw invalid(type, "the class writes \(buffer.remainingCount) bytes more")
    }
  }

  private static func invalid(_ type: StoredObject.Type, _ reason: String) -> StoreError {
    StoreError(
      .invalidLayout,
      """
      The layout of \(type) is not what writeContent(to:) writes: \(reason). Declare every property \
      that is written, in order.
      """, at: .init(className: type.storedName))
  }

  /// Returns the content of an object with the defaults of its class; nil if it can't be written.
  static func freshContent(
    of type: StoredObject.Type, _ store: Store? = nil, recorder: ShapeRecorder? = nil
  ) -> DataBuffer? {
    var buffer = DataBuffer([], store: store)
    buffer.recorder = recorder
    let sample = type.init()
    // The careful release of an object takes as long as opening a file, the first time.
    sample.state.insert(.sample)
    do { try sample.writeContent(to: &buffer) } catch { return nil }
    if buffer.failure != nil { return nil }
    buffer.rewind()
    return buffer
  }
}
