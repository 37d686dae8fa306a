import StoreEngine

extension Store {
  /// Reports the look-ups since the last time to the backend's instrument, if there is one.
  func tellLookUps() {
    guard lookUps != StoreLookUps() else { return }
    backend.instrument?.didLookUp(lookUps)
    lookUps = StoreLookUps()
  }
}
