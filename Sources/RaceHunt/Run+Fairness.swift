// That nobody waits for ever for its turn while others spin.

extension Run {
  /// Others may spin in turn and wait for one that has the least priority: it gets the highest.
  func lookForStarving() {
    for number in ready {
      let strand = strands[number]
      strand.looks = strand.stepsSeen == strand.steps ? strand.looks + 1 : 0
      strand.stepsSeen = strand.steps
      if strand.looks > min(limits.points, 10_000) / 512 {
        strand.looks = 0
        chooser.favour(number)
      }
    }
  }
}
