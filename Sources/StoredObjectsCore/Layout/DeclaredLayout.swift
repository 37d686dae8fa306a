import Locks
import StoreEngine

/// What a class of the program says of its records.
struct DeclaredLayout: Sendable {
  let classVersion: UInt8
  /// The properties of all versions; nil for a class that doesn't declare them.
  let layout: ClassLayout?
  /// The kinds of values that a new object of a class without a layout writes; nil where that can't
  /// be found out.
  let values: [StoredType]?
  /// What a store has of a class that never changed, version 0 of it; nil for later versions.
  private let sole: Sole?

  /// The one layout of a class, and its bytes in a named buffer.
  private struct Sole {
    let name: String
    let sealed: [UInt8]
    let layouts: ClassLayouts

    init(_ className: String, _ form: SavedLayout.Form) {
      let layout = SavedLayout(number: 0, classVersion: 0, form: form)
      name = LayoutFormat.bufferName(of: className)
      sealed = LayoutFormat.sealed([layout], of: className)
      layouts = ClassLayouts(
        number: 0, classVersion: 0, all: [layout], needsSaving: false, isOutdated: false,
        assumed: [], readings: [.asVersion(0)], rareReading: { _ in .later })
    }
  }

  /// The layouts found so far.
  ///
  /// An array: the process's first dictionary of a kind takes as long to make as a file to open.
  private static let known = Locked<[Known]>([])

  private struct Known {
    let type: ObjectIdentifier
    let declared: DeclaredLayout
  }

  /// The layout of a class, which is found out once in a process.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `invalidLayout` for one that is not what the class
  ///   writes.
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
    sole = classVersion == 0 ? form.map { Sole(type.storedName, $0) } : nil
    if let layout = self.layout { try Self.validate(layout, of: type) }
  }

  /// The form of the records that a version of the class writes; nil where that is not known.
  func form(at version: UInt8) -> SavedLayout.Form? {
    Self.form(of: layout, version == classVersion ? values : nil, at: version)
  }

  /// The form of today's records.
  var form: SavedLayout.Form? { form(at: classVersion) }

  private static func form(
    of layout: ClassLayout?, _ values: [StoredType]?, at version: UInt8
  ) -> SavedLayout.Form? {
    guard let layout else { return values.map { .values($0) } }
    return .properties(layout.properties(at: version).map(SavedLayout.SavedProperty.init))
  }

  /// The layouts of a class without a version that a store doesn't have yet; nil for others.
  var newLayouts: ClassLayouts? {
    guard var layouts = sole?.layouts else { return nil }
    layouts.needsSaving = true
    return layouts
  }

  /// The layouts of a class that never changed, if a store has just them; nil otherwise.
  ///
  /// Compares bytes, which is faster than reading all names and types.
  ///
  /// - Throws: ``/StoreEngine/StoreError`` with `ioError` or `damaged`.
  func soleLayouts(savedIn backend: any StoreBackend) throws(StoreError) -> ClassLayouts? {
    guard let sole else { return nil }
    return try backend.hasSealedBuffer(named: sole.name, sole.sealed) ? sole.layouts : nil
  }

  private static func valuesOfNewObject(_ type: StoredObject.Type) -> [StoredType]? {
    let recorder = ShapeRecorder()
    return freshContent(of: type, recorder: recorder) == nil ? nil : recorder.types
  }

  /// Makes sure that a new object writes what the layout says.
  private static func validate(
    _ layout: ClassLayout, of type: StoredObject.Type
  ) throws(StoreError) {
    let properties = layout.properties(at: type.classVersion)
    let names = properties.map(\.name)
    guard Set(names).count == names.count else {
      let name = names.first { name in names.count { $0 == name } > 1 } ?? ""
      throw invalid(type, "it has two properties named \"\(name)\"")
    }
    // A content that can't be written without a store tells nothing.
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

  /// The content of an object that has the defaults of its class; nil where it can't be written.
  static func freshContent(
    of type: StoredObject.Type, _ store: Store? = nil, recorder: ShapeRecorder? = nil
  ) -> DataBuffer? {
    var buffer = DataBuffer([], store: store)
    buffer.recorder = recorder
    let sample = type.init()
    // To let go of it with care takes as long as opening a file, the first time.
    sample.state.insert(.sample)
    do { try sample.writeContent(to: &buffer) } catch { return nil }
    if buffer.failure != nil { return nil }
    buffer.rewind()
    return buffer
  }
}
