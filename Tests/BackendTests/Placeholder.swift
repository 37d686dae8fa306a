// BackendTests
