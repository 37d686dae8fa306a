// The same as speedtests-worker, for the encrypted engines. It is a separate program because
// swift-crypto needs Foundation, and a process with Foundation takes longer to start.
import EncryptedEngines
import SpeedWorkloads

/// The workspace of the run.
///
/// It lives until the process ends, and so do the objects that a workload keeps.
let workspace = try runStep(on: encryptedEngines)
