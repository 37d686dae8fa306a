#if COVERAGE
  import FormatFuzzing
  import Foundation

  /// Fuzzes a format with libFuzzer, guided by the code coverage of its reader: `./dev fuzz FORMAT
  /// --coverage`.
  ///
  /// The environment variable `FUZZED_FORMAT` contains the name of the format, because libFuzzer
  /// starts this program again with other arguments to merge and to shorten files. All arguments
  /// are libFuzzer's.
  @main
  struct CoverageFuzzer {
    static func main() {
      guard fuzzedFormat != nil else {
        print("FUZZED_FORMAT is none of \(fuzzedFormats.map(\.name).joined(separator: ", ")).")
        exit(64)
      }
      var count = CommandLine.argc
      var arguments = unsafe CommandLine.unsafeArgv
      exit(unsafe runFuzzer(&count, &arguments, readOnce))
    }
  }

  private let fuzzedFormat = fuzzedFormats.first {
    $0.name == ProcessInfo.processInfo.environment["FUZZED_FORMAT"]
  }

  /// Reads a file of libFuzzer's; a contradiction ends the process like a crash.
  private func readOnce(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe Array(UnsafeBufferPointer(start: start, count: count))
    do {
      try fuzzedFormat?.read(bytes)
    } catch { fatalError("\(error)") }
    return 0
  }

  private typealias Arguments = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

  @_silgen_name("LLVMFuzzerRunDriver")
  private func runFuzzer(
    _ count: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutablePointer<Arguments>,
    _ readOnce: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
  ) -> CInt
#endif
