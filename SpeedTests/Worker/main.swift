// One step of one run, in a separate process:
// speedtests-worker one --workload W --engine E --count N --operations N --directory D
//   --durability L --step prepare|run
//
// The measurements are written to the standard output as JSON. The programs of the rivals have the
// same arguments and output. Foundation is not used, because a process with it takes longer to
// start.
import SpeedWorkloads

/// The workspace of the run.
///
/// It lives until the process ends, and so do the objects that a workload keeps.
var workspace: Workspace?

if CommandLine.arguments.count == 5, CommandLine.arguments[1] == "cdb" {
  // cdb STEP FILE COUNT, for the comparison with libcdb: it prints the milliseconds of the step.
  let words = CommandLine.arguments
  guard let step = ConstantDatabase.Step(rawValue: words[2]), let count = UInt32(words[4]) else {
    throw Misuse(description: "cdb STEP FILE COUNT")
  }
  let elapsed = try ContinuousClock().measure { try ConstantDatabase.run(step, words[3], count) }
  print(elapsed / .milliseconds(1))
} else {
  workspace = try runStep(on: engines)
}
