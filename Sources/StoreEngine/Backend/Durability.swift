/// The failures that a save survives once it has returned.
///
/// At every level, a save is complete or absent when a process dies at any moment. The level is
/// that of the backend that writes; nothing in the files depends on it.
public enum Durability: String, Sendable, CaseIterable {
  /// Survives power cuts and crashes of the system: every save waits for the disk (`fdatasync`).
  ///
  /// This is the default.
  case full
  /// Survives the end of the process, however it ends.
  ///
  /// After a power cut the last saves may be missing, each as a whole. Checkpoints wait for the
  /// disk.
  case process
  /// Survives the end of the process; nothing ever waits for the disk.
  ///
  /// Use it for bulk loads that can be repeated: after a power cut, the files may not open.
  case none
}
