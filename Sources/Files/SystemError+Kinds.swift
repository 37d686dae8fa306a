#if canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

extension SystemError {
  /// Whether a path leads to something that is no regular file: a directory, a pipe, a device.
  package var isOfNoRegularFile: Bool { [ENODEV, EISDIR, ENXIO].contains(number) }
}
