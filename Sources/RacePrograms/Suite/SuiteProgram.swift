// Small programs with a bug each after those of SCTBench, the public suite of controlled
// concurrency testing. Written anew from what papers say of them; names are theirs.
package import RaceHunt

/// A program of the suite.
package struct SuiteProgram: Sendable {
  /// As the papers call it.
  package let name: String
  /// What is wrong with it, in a line.
  package let summary: String
  package let program: Program

  init(_ name: String, _ summary: String, _ program: @escaping Program) {
    self.name = name
    self.summary = summary
    self.program = program
  }

  /// All of them.
  package static let all =
    smallPrograms + phasePrograms + workStealingPrograms + applicationPrograms

  /// The lowest mean number of schedules to the first failure that was published, and of which
  /// technique; nil without one.
  package var published: (technique: String, schedules: Int)? {
    Self.publishedMeans[name]
  }

  /// Source: Zhao, Wolff, Mathur, Roychoudhury: Selectively Uniform Concurrency Testing, ASPLOS
  /// 2025, artifact github.com/zhaohuanqdcn/SURW, stats/period/out.tex.
  ///
  /// Its columns are SURW, PCT-3, PCT-10, POS, RW, N-U (not uniform), N-S (not selective). Only
  /// where all 20 searches have found it; of SafeStack some have, and only by SURW.
  private static let publishedMeans: [String: (String, Int)] = [
    "CS.twostage_bad": ("SURW", 8), "CS.twostage_20_bad": ("SURW", 6),
    "CS.twostage_50_bad": ("SURW", 20), "CS.twostage_100_bad": ("SURW", 454),
    "CS.reorder_3_bad": ("SURW", 7), "CS.reorder_4_bad": ("SURW", 7),
    "CS.reorder_5_bad": ("SURW", 10), "CS.reorder_10_bad": ("SURW", 17),
    "CS.reorder_20_bad": ("SURW", 6), "CS.reorder_50_bad": ("SURW", 13),
    "CS.reorder_100_bad": ("SURW", 194), "CS.stack_bad": ("POS", 2),
    "CS.token_ring_bad": ("SURW", 8), "CS.lazy01_bad": ("SURW", 2),
    "CS.deadlock01_bad": ("SURW", 2), "CS.bluetooth_driver_bad": ("POS", 36),
    "CS.account_bad": ("N-S", 3), "CS.wronglock_bad": ("N-U", 4),
    "CS.wronglock_3_bad": ("N-U", 5), "CB.stringbuffer-jdk1.4": ("SURW", 8),
    "chess.IWSQ": ("SURW", 6), "chess.IWSQWS": ("POS", 5), "chess.SWSQ": ("POS", 6),
    "chess.WSQ": ("SURW", 6), "inspect.boundedBuffer": ("POS", 5),
    "inspect.qsort_mt": ("N-S", 297), "radbench.bug4": ("SURW", 23), "radbench.bug6": ("SURW", 4),
    "misc.safestack": ("SURW", 368_921),
  ]
}
