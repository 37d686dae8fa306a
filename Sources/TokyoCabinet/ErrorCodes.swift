internal import CTokyoCabinet

/// The meaning of an error code of the C library.
struct ErrorCode {
  /// The code in this module.
  let code: TokyoCabinetError.Code
  /// Whether `errno` has details.
  let isSystemError: Bool
  /// A message that replaces the library's own.
  let message: String?

  /// Looks up a code of `tchdbecode`; see the list at that function in tchdb.h.
  init(_ number: Int32) {
    let known = Self.table[Int(number)]
    code = known?.code ?? .other
    isSystemError = known?.isSystemError ?? false
    message = known?.message
  }

  private init(_ code: TokyoCabinetError.Code, system: Bool = false, _ message: String? = nil) {
    self.code = code
    isSystemError = system
    self.message = message
  }

  private static let table: [Int: ErrorCode] = [
    TCETHREAD: ErrorCode(
      .inUse, "in use: this process has the file open already; share that database object"),
    TCELOCK: ErrorCode(
      .inUse, "in use by another process; quit that, or open both for reading only"),
    TCEINVALID: ErrorCode(.invalid),
    TCENOFILE: ErrorCode(.noFile, system: true),
    TCENOPERM: ErrorCode(.noPermission, system: true),
    TCEMETA: ErrorCode(.damaged),
    TCERHEAD: ErrorCode(
      .damaged, "a record's header is not valid: the file is damaged; restore a copy"),
    TCEOPEN: ErrorCode(.openFailed, system: true),
    TCECLOSE: ErrorCode(.closeFailed, system: true),
    TCETRUNC: ErrorCode(.truncateFailed, system: true),
    TCESYNC: ErrorCode(.syncFailed, system: true),
    TCESTAT: ErrorCode(.statFailed, system: true),
    TCESEEK: ErrorCode(.seekFailed, system: true),
    TCEREAD: ErrorCode(.readFailed, system: true),
    TCEWRITE: ErrorCode(.writeFailed, system: true),
    TCEMMAP: ErrorCode(.mapFailed, system: true),
    TCEUNLINK: ErrorCode(.unlinkFailed, system: true),
    TCERENAME: ErrorCode(.renameFailed, system: true),
    TCEMKDIR: ErrorCode(.makeDirectoryFailed, system: true),
    TCERMDIR: ErrorCode(.removeDirectoryFailed, system: true),
    TCEKEEP: ErrorCode(.recordExists),
    TCENOREC: ErrorCode(.noRecord),
  ]
}
