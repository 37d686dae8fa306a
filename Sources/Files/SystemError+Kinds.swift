#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

extension SystemError {
  /// Whether a path leads to something other than a regular file: a directory, a pipe, a device.
  package var isOfNoRegularFile: Bool { [ENODEV, EISDIR, ENXIO].contains(number) }
}
