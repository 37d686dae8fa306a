import StoreEngine

extension Store {
  /// Reports the look-ups since the last time to the backend's instrument, if there is one, and to
  /// other processes.
  func tellLookUps() {
    guard lookUps != StoreLookUps() else { return }
    backend.coordinator.didLookUp(lookUps)
    lookUps = StoreLookUps()
  }
}
