// What speedtests-worker does, for the engines that are encrypted. It is a program of its own
// because swift-crypto needs Foundation, and a process with that takes longer to start.
import EncryptedEngines
import SpeedWorkloads

/// The place of the run.
///
/// It lives until the process ends, and so do the objects that a workload keeps.
let workspace = try runStep(on: encryptedEngines)
