// From questions to answers: reads earlier runs, makes new ones while the budget lasts, fits the
// models, searches where a model is not enough, and checks each answer by a run that nothing was
// fitted to.
internal import Foundation

/// Finds answers.
package struct Planner {
  package struct Options: Sendable {
    package var questions: [PlanQuestion] = []
    package var earlier: [PlanObservation] = []
    /// Nil: only from earlier runs.
    package var budgetSeconds: Double?
    /// Settings that are predicted and run for a table of errors; 0 = none.
    package var validations = 0
    package var seed: UInt64 = 1

    package init() {}
  }

  private let options: Options
  private let runs: PlanRuns
  private let machine: MachineCosts
  private var experiments: [PlanObservation] = []
  private var model: PlanModel

  package init(_ options: Options, runs: PlanRuns, machine: MachineCosts) {
    self.options = options
    self.runs = runs
    self.machine = machine
    model = PlanModel(options.earlier, machine: machine)
  }

  /// Does everything.
  ///
  /// - Throws: `ExecutableFailure`, or `ResultsError` when there is nothing to answer from.
  package mutating func run() throws -> PlanResult {
    var result = PlanResult(machine: machine)
    if options.budgetSeconds != nil { try makeExperiments() }
    if options.earlier.isEmpty && experiments.isEmpty {
      if runs.isInterrupted {
        throw ExecutableFailure(
          message: "interrupted before the first run had ended; nothing was measured",
          code: .interrupted)
      }
      throw ResultsError("there is no run to answer from: give --from or --budget")
    }
    do {
      try answerQuestions(&result)
      try checkAnswers(&result)
      if options.validations > 0 { try validate(&result.validations) }
    } catch let failure as ExecutableFailure
      where !result.answers.isEmpty || !result.validations.isEmpty
    {
      // What there is comes from the runs before, which are whole.
      result.failure = failure
    }
    addDoubts(&result)
    for question in options.questions {
      let answer = result.answers.first { $0.question == question }
      result.curves += curves(question, answer)
    }
    result.curves = result.curves.reduce(into: []) { all, point in
      let isKnown = all.contains {
        $0.curve == point.curve && $0.setting == point.setting && $0.metric == point.metric
      }
      if !isKnown { all.append(point) }
    }
    result.experiments = options.earlier + experiments
    result.isInterrupted = runs.isInterrupted
    return result
  }

  private mutating func fit() {
    model = PlanModel(options.earlier + experiments, machine: machine)
  }

  // MARK: - Experiments

  private mutating func makeExperiments() throws {
    guard let budget = options.budgetSeconds else { return }
    let chooser = PlanExperiments(
      budgetSeconds: budget, questions: options.questions.count, cores: machine.cores)
    var wanted = options.questions.map { chooser.experiments(for: $0)[...] }
    var made: [PlanExperiment] = []
    // The most telling run of each question first, then the second ones.
    while wanted.contains(where: { !$0.isEmpty }) {
      for position in wanted.indices {
        guard var experiment = wanted[position].popFirst() else { continue }
        let isRepeated = made.filter { $0 == experiment }.count > 1
        // Nearly half of the budget is for searches and checks; a first run there has to be.
        if isRepeated || (!made.isEmpty && runs.secondsLeft < budget * 0.45) { continue }
        made.append(experiment)
        experiment.setting = model.resolved(experiment.setting)
        if experiment.setting.load != nil { continue }
        guard let observation = try runs.run(experiment, for: "experiment") else { return }
        experiments.append(observation)
        fit()
      }
    }
  }

  // MARK: - Answers

  private mutating func answerQuestions(_ result: inout PlanResult) throws {
    for question in options.questions {
      if let answer = try answer(question) {
        result.answers.append(answer)
        continue
      }
      var warning = "'\(question.text)': no run tells of it"
      if options.budgetSeconds == nil {
        warning += "; give --budget to make some"
        if let wanted = wantedRun(question) { warning += ", or make one for --from: \(wanted)" }
      }
      result.warnings.append(warning)
    }
  }

  private mutating func answer(_ question: PlanQuestion) throws -> PlanAnswer? {
    var answer: PlanAnswer?
    switch question.kind {
    case .value(let metric):
      answer = model.estimate(metric, question.setting).map {
        PlanAnswer(
          question: question, name: metric.name, unit: metric.unit, estimate: $0,
          method: metric.isSpace ? "blocks overwritten between pins" : "measured service times",
          readable: metric.readable)
      }
      if metric.isResponse { answer?.method = "queue with measured service times" }
      answer?.extrapolations = model.extrapolations(metric, question.setting)
    case .largest(let variable, let metric, let limit):
      answer = try largest(variable, metric, limit, question)
    case .readers(let rate, let cores):
      var setting = question.setting
      setting.cores = cores
      answer = model.readers(readsPerSecond: rate, cores: cores, question.setting).map {
        PlanAnswer(
          question: question, name: "readers", unit: "1", estimate: $0,
          method: "reads by threads, at most what memory brings",
          readable: { grouped(Int(wholeNumber($0.rounded(.down)))) })
      }
      answer?.extrapolations = model.extrapolations(.rate(.read), setting)
      setting.readers = cores
      if let reads = model.reads(setting), cores <= machine.cores {
        answer?.notes.append(
          "all readers together: \(grouped(Int(wholeNumber(reads.value)))) reads/s")
      }
    }
    guard var answer else { return nil }
    answer.notes += PlanNotes(model).notes(question)
    if !answer.isVouched, options.budgetSeconds == nil, let wanted = wantedRun(question) {
      answer.notes.append("a run that tells more, for --from: \(wanted)")
    }
    return answer
  }

  private mutating func largest(
    _ variable: PlanVariable, _ metric: PlanMetric, _ limit: Double, _ question: PlanQuestion
  ) throws -> PlanAnswer? {
    func make(_ found: PlanFound, _ method: String) -> PlanAnswer {
      var answer = PlanAnswer(
        question: question, name: variable.rawValue, unit: variable.unit,
        estimate: found.estimate, method: method, readable: variable.readable)
      answer.bound = found.bound
      return answer
    }
    let isRate = variable == .rate || variable == .readRate
    guard let guess = PlanInversion(model).largest(variable, metric, limit, question.setting)
    else { return nil }
    var answer = make(guess, "the model, by halving")
    if isRate && metric.unit == "ns" && options.budgetSeconds != nil && runs.secondsLeft > 0 {
      var search = PlanSearch(
        variable: variable, metric: metric, limit: limit, setting: question.setting,
        seconds: min(
          5, max(0.5, (options.budgetSeconds ?? 0) / (8 + 8 * Double(options.questions.count)))))
      // Also when a run dies: what the search has measured until then is whole.
      defer {
        experiments += search.observations
        fit()
      }
      // Where the model sees no rate that would do, a sixth of the capacity is tried all the same.
      let least =
        variable == .rate ? (model.queue(.write, question.setting)?.capacity ?? 60) / 6 : 60
      if let found = try search.run(from: max(guess.estimate.value, least), with: runs) {
        answer = make(found, "search in open loop, \(search.tries) runs, one a rate")
        answer.isBracket = found.bound == nil
      }
    }
    var setting = question.setting
    variable.set(answer.estimate.value, in: &setting)
    if case .nowhere(let from, _) = answer.bound {
      variable.set(from, in: &setting)
      if let there = model.estimate(metric, setting) {
        answer.notes.append(
          "at \(variable.rawValue) \(variable.readable(from)), \(metric.name) is "
            + metric.readable(there.value) + " by the model")
      }
    }
    answer.extrapolations = model.extrapolations(metric, setting)
    return answer
  }

  /// What makes the runs say little about times, for the answers that are about times: whatever
  /// disturbs those, files and their pins are as they are.
  private func addDoubts(_ result: inout PlanResult) {
    let runs = options.earlier + experiments
    var doubts: [String] = []
    let disturbed = runs.filter { !$0.doubts.isEmpty }
    if let first = disturbed.first {
      doubts.append(
        "\(disturbed.count) of \(runs.count) runs say little about times: \(first.doubts[0])")
    }
    let machines = Set(runs.map(\.hardware.words)).count
    if machines > 1 {
      doubts.append("the runs are of \(machines) machines, each with times of its own")
    }
    for position in result.answers.indices where result.answers[position].question.isAboutTime {
      result.answers[position].doubtsOfRuns = doubts
    }
  }

  /// The run that would tell what the ones that there are do not.
  private func wantedRun(_ question: PlanQuestion) -> String? {
    PlanExperiments(budgetSeconds: 60, questions: 1, cores: machine.cores)
      .experiments(for: question).first
      .map(PlanRuns.command)
  }

  // MARK: - Checks

  private func checkAnswers(_ result: inout PlanResult) throws {
    guard let budget = options.budgetSeconds else { return }
    let chooser = PlanExperiments(
      budgetSeconds: budget, questions: options.questions.count, cores: machine.cores)
    for position in result.answers.indices {
      if runs.secondsLeft <= 0 && position > 0 { break }
      let answer = result.answers[position]
      var setting = answer.question.setting
      let metric: PlanMetric
      switch answer.question.kind {
      case .value(let asked): metric = asked
      case .largest(let variable, let asked, _):
        variable.set(answer.estimate.value, in: &setting)
        metric = asked
      case .readers(let rate, let cores):
        // As many as there are cores here, at that rate each: whether they get it.
        let count = max(1, min(cores, machine.cores).rounded(.down))
        setting.readers = count
        setting.writers = 0
        (setting.ratePerSecond, setting.load) = (nil, nil)
        (setting.pins, setting.ageSeconds, setting.pinEvery) = (0, nil, nil)
        setting.readRatePerSecond = rate * count
        metric = .rate(.read)
      }
      setting = model.resolved(setting)
      // Nothing was found that a run could show.
      if case .largest = answer.question.kind, answer.estimate.value == 0 { continue }
      guard let experiment = chooser.check(metric, setting),
        let predicted = model.estimate(metric, experiment.setting),
        let observation = try runs.run(experiment, for: "check")
      else { continue }
      guard let measured = observation.measured(metric) else {
        if observation.isUnknown(metric) {
          result.answers[position].notes.append(
            "a run of \(experiment.setting.text) could not check it: operations that were due were "
              + "not done, so it does not know \(metric.name)")
        }
        continue
      }
      result.answers[position].check = PlanCheck(
        metric: metric, setting: experiment.setting, predicted: predicted, measured: measured,
        command: PlanRuns.command(experiment))
    }
  }

  /// Predicts settings over the whole space, then runs them.
  private func validate(_ checks: inout [PlanCheck]) throws {
    for setting in PlanExperiments.validation(options.validations, seed: options.seed) {
      let transactions = Int(setting.pins * (setting.pinEvery ?? 1) * 1.3) + 20
      let space = PlanExperiment(setting: setting, length: .transactions(transactions))
      try check(space, [.fileBytes, .growthPerCommit], predictedFor: setting, &checks)
      // What a closed loop does, and then 70 % of that.
      var closed = setting
      (closed.pins, closed.pinEvery) = (0, nil)
      let rate = PlanMetric.rate(.write)
      let tail = PlanMetric.latency(.write, "response_p99_ns")
      guard
        let capacity = try check(
          PlanExperiment(setting: closed, length: .seconds(1.5)), [rate], predictedFor: closed,
          &checks)?.measured(rate)
      else { continue }
      var (asked, loaded) = (closed, closed)
      asked.load = 0.7
      loaded.ratePerSecond = 0.7 * capacity
      try check(
        PlanExperiment(
          setting: loaded,
          length: .seconds(PlanExperiments.length(tail, loaded, atLeast: 3))),
        [tail], predictedFor: asked, &checks)
    }
  }

  /// Makes a run and holds what was predicted against it.
  @discardableResult
  private func check(
    _ experiment: PlanExperiment, _ metrics: [PlanMetric], predictedFor asked: PlanSetting,
    _ checks: inout [PlanCheck]
  ) throws -> PlanObservation? {
    let predictions = metrics.map { model.estimate($0, asked) }
    guard predictions.contains(where: { $0 != nil }),
      let observation = try runs.run(experiment, for: "validation")
    else { return nil }
    for (metric, predicted) in zip(metrics, predictions) {
      guard let predicted, let measured = observation.measured(metric) else { continue }
      checks.append(
        PlanCheck(
          metric: metric, setting: asked, predicted: predicted, measured: measured,
          command: PlanRuns.command(experiment)))
    }
    return observation
  }

  // MARK: - Curves

  private func curves(_ question: PlanQuestion, _ answer: PlanAnswer?) -> [PlanCurvePoint] {
    let maker = PlanCurves(model)
    func curves(_ metric: PlanMetric, _ setting: PlanSetting) -> [PlanCurvePoint] {
      switch metric {
      case .latency(.read, _), .rate(.read): maker.reads(setting)
      default: metric.isSpace ? maker.growth(setting) : maker.latency(setting)
      }
    }
    switch question.kind {
    case .value(let metric):
      return curves(metric, question.setting)
    case .largest(let variable, let metric, _):
      // Around what was found.
      var setting = question.setting
      if let found = answer?.estimate.value, found > 0 { variable.set(found, in: &setting) }
      return curves(metric, setting)
    case .readers: return maker.reads(question.setting)
    }
  }
}
