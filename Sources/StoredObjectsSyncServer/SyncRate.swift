#if SyncServer
  /// The number of requests that a server takes from each device or follower.
  public struct SyncRate: Sendable {
    /// The number of requests in a minute, on average.
    public var requestsPerMinute: Double
    /// The number of requests that may come at once.
    public var burst: Double

    /// Creates a limit.
    public init(requestsPerMinute: Double = 600, burst: Double = 120) {
      (self.requestsPerMinute, self.burst) = (requestsPerMinute, burst)
    }
  }

  /// Counts the requests of devices or followers: each has a bucket, which fills with time.
  actor RateLimiter {
    private struct Bucket {
      var left: Double
      var time: ContinuousClock.Instant
    }

    private let rate: SyncRate
    private var buckets: [String: Bucket] = [:]

    init(_ rate: SyncRate) { self.rate = rate }

    /// Whether a request of a device or a follower is within the limit; counts it then.
    func allows(_ id: String, at now: ContinuousClock.Instant = .now) -> Bool {
      var bucket = buckets[id] ?? Bucket(left: rate.burst, time: now)
      let seconds = (now - bucket.time) / .seconds(1)
      bucket.left = min(rate.burst, bucket.left + seconds * rate.requestsPerMinute / 60)
      bucket.time = now
      defer { buckets[id] = bucket }
      guard bucket.left >= 1 else { return false }
      bucket.left -= 1
      return true
    }
  }
#endif
