import StoreEngine

extension Store {
  /// Tells the instrument of the backend what was looked up since the last time, if there is one.
  func tellLookUps() {
    guard lookUps != StoreLookUps() else { return }
    backend.instrument?.didLookUp(lookUps)
    lookUps = StoreLookUps()
  }
}
