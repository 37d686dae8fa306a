import Files

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

extension SystemError {
  /// Whether a directory can't get a name because something else has it.
  var isNameTaken: Bool { [EEXIST, ENOTEMPTY, ENOTDIR].contains(number) }

  /// Whether the file system can't move or exchange the two directories, although others can.
  var isUnsupportedMove: Bool {
    [EXDEV, EINVAL, ENOSYS, ENOTSUP, EOPNOTSUPP, EPERM].contains(number)
  }
}
