/// What a save survives once it has returned.
///
/// Whatever the level, a save is whole or not at all when a process dies at any moment. The level
/// is that of the backend that writes; nothing in the files depends on it.
public enum Durability: String, Sendable, CaseIterable {
  /// Power cuts and crashes of the system: every save waits for the disk (`fdatasync`).
  ///
  /// The default.
  case full
  /// The end of the process, however violent.
  ///
  /// After a power cut the last saves may be missing, each as a whole. Checkpoints wait for the
  /// disk.
  case process
  /// The end of the process; nothing ever waits for the disk.
  ///
  /// For bulk loads that can be done again: a power cut may leave files that don't open.
  case none
}
