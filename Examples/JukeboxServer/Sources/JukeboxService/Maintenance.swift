import Hummingbird
import StoredObjects

extension JukeboxService {
  func addMaintenance(to router: Router<BasicRequestContext>) {
    router.get("health") { _, _ in
      if let failure = container.backend.foldFailure { return "The disk is full: \(failure)" }
      return "ok, commit \(container.backend.lastCommitNumber)"
    }
    router.post("backups/:name") { _, context in
      let name = try context.parameters.require("name")
      guard name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "-" }) else {
        throw HTTPError(.badRequest)
      }
      try await container.withBackend { backend in
        guard let backend = backend as? any DirectoryBackend else {
          throw HTTPError(.notImplemented)
        }
        try backend.backup(to: "\(backend.location)-\(name)") { _ in }
      }
      return HTTPResponse.Status.created
    }
  }
}
