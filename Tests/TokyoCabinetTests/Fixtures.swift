import ProgramTesting
import TokyoCabinet

/// Whether the C library's command-line tool is installed (Debian package tokyocabinet-bin).
let hasManager = InstalledProgram("tchmgr") != nil

/// A number as the 4 bytes of a key, least significant first.
func key(_ number: UInt32) -> [UInt8] {
  (0..<4).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
}

/// The code of the error that a call throws; nil when it throws none, or another.
func code(_ body: () throws -> Void) -> TokyoCabinetError.Code? {
  do {
    try body()
    return nil
  } catch {
    return (error as? TokyoCabinetError)?.code
  }
}
