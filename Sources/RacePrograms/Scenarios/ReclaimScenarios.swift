// Programs that give memory, or versions of data, back too early.
internal import RaceHunt

extension HuntScenario {
  static let reclaimScenarios = [
    HuntScenario("hazard-not-checked", "announces what it reads and does not look again") {
      hasBug in
      {
        let newest = Atomic(1, name: "newest")
        let hazard = Atomic(0, name: "hazard")
        let isFreed = (0...2).map { Atomic(false, name: "\($0) is freed") }
        let reader = Thread.start(name: "reader") {
          while true {
            let seen = newest.load()
            hazard.store(seen)
            // Between both the writer may have looked at the hazard.
            if !hasBug && newest.load() != seen { continue }
            check(!isFreed[seen].load(), "the reader reads \(seen), which is freed")
            hazard.store(0)
            return
          }
        }
        newest.store(2)
        if hazard.load() != 1 { isFreed[1].store(true) }
        reader.join()
      }
    },
    HuntScenario("count-then-retain", "retains what the last owner is about to free") { hasBug in
      {
        let count = Atomic(1, name: "count")
        let isFreed = Atomic(false, name: "is freed")
        @Sendable func release() { if count.subtract(1).newValue == 0 { isFreed.store(true) } }
        @Sendable func retain() -> Bool {
          if hasBug {
            if count.load() == 0 { return false }
            count.add(1)
            return true
          }
          while true {
            let seen = count.load()
            if seen == 0 { return false }
            if count.compareExchange(expected: seen, desired: seen + 1).exchanged { return true }
          }
        }
        let user = Thread.start(name: "user") {
          guard retain() else { return }
          check(!isFreed.load(), "what the user has retained is freed")
          release()
        }
        release()
        user.join()
      }
    },
    HuntScenario("pin-after-reclaim", "judges which versions are pinned before it knows the newest")
    {
      hasBug in
      {
        let head = Atomic(1, name: "head")
        let pinned = Atomic(0, name: "pinned")
        let reclaimedBelow = Atomic(0, name: "reclaimed below")
        let reader = Thread.start(name: "reader") {
          while true {
            let version = head.load()
            pinned.store(version)
            if !hasBug && head.load() != version { continue }
            let limit = reclaimedBelow.load()
            check(version >= limit, "version \(version) is read, but \(limit) is the oldest left")
            return
          }
        }
        for version in 2...3 {
          head.store(version)
          let oldest = pinned.load()
          reclaimedBelow.store(oldest == 0 ? version : min(oldest, version))
        }
        reader.join()
      }
    },
    HuntScenario("published-before-written", "shows a version before its content is written") {
      hasBug in
      {
        let (content, version) = (Atomic(0, name: "content"), Atomic(0, name: "version"))
        let writer = Thread.start(name: "writer") {
          if hasBug { version.store(1) }
          content.store(7)
          if !hasBug { version.store(1) }
        }
        if version.load() == 1 {
          let seen = content.load()
          check(seen == 7, "version 1 shows \(seen), not 7")
        }
        writer.join()
      }
    },
  ]
}
