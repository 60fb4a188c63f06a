// A workload of a user's own: what it stores, the operations that its threads do, and the checks
// that it adds. The tool does the rest: threads, phases, schedules, results, comparison, reports.
public import RealmSwift

/// A load on a Realm with classes of your own.
///
/// One value of the type works on each thread: it is made on the thread, does one operation after
/// the other there, and keeps what it likes in its properties between them.
///
/// ```swift
/// struct Shop: Workload {
///   enum Operation: String, WorkloadOperation {
///     case browse, buy
///     var share: Int { self == .browse ? 80 : 20 }
///     var writes: Bool { self == .buy }
///   }
///   static let name = "shop"
///   static let summary = "customers look at articles and buy some"
///   static let objectTypes: [ObjectBase.Type] = [Article.self]
///
///   static func setUp(_ realm: Realm, _ setUp: WorkloadSetUp<Shop>) throws { ... }
///
///   let thread: WorkloadThread<Shop>
///   init(_ thread: WorkloadThread<Shop>) { self.thread = thread }
///   mutating func perform(_ operation: Operation) throws { ... }
/// }
/// ```
public protocol Workload: SendableMetatype {
  /// What its threads do, each with rows of its own in the results.
  associatedtype Operation: WorkloadOperation
  /// What has to hold, beside what the tool checks of every workload; by default nothing.
  associatedtype Check: WorkloadCheck = NoCheck
  /// What the threads of one run share; by default nothing.
  associatedtype Shared: Sendable = Void

  /// As on the command line and in the results: small letters, digits and hyphens.
  static var name: String { get }
  /// One line for `list`.
  static var summary: String { get }
  /// What `run NAME --help` says before the flags; by default the summary.
  static var help: String { get }
  /// The classes of its file.
  static var objectTypes: [ObjectBase.Type] { get }
  /// Flags that only this workload has; by default none.
  static var flags: [any WorkloadFlag] { get }
  /// Its settings where the command line says nothing.
  static var defaults: WorkloadDefaults { get }

  /// Fills the new file, once a run and before anything is measured.
  ///
  /// Called on a thread of its own, outside of a transaction. Large loads commit in parts, and end
  /// early when `setUp.isCancelled`.
  /// - Returns: what the threads share.
  static func setUp(_ realm: Realm, _ setUp: WorkloadSetUp<Self>) throws -> Shared

  /// Begins on a thread; called on it.
  init(_ thread: WorkloadThread<Self>) throws

  /// Does one operation, and is timed from its begin to its end.
  ///
  /// `thread.realm` was refreshed before, unless `--refresh-every` says otherwise. What must not be
  /// timed goes into `thread.untimed`; `thread.check` is not timed either. An error ends the run,
  /// which then has failed.
  mutating func perform(_ operation: Operation) throws

  /// Checks what the run has left, when all threads have ended; by default nothing.
  static func checkEnd(_ realm: Realm, _ end: WorkloadEnd<Self>) throws
}

extension Workload {
  /// The summary.
  public static var help: String { summary }
  /// None.
  public static var flags: [any WorkloadFlag] { [] }
  /// Four threads for ten seconds.
  public static var defaults: WorkloadDefaults { WorkloadDefaults() }
  /// Checks nothing.
  public static func checkEnd(_ realm: Realm, _ end: WorkloadEnd<Self>) throws {}
}

/// What the threads of a workload do: an enumeration of names.
///
/// The names are those of the result rows: small letters, digits and hyphens.
public protocol WorkloadOperation: CaseIterable, Hashable, RawRepresentable, Sendable
where RawValue == String {
  /// Its part of all operations, against the parts of the others; by default 1.
  ///
  /// `--mix` replaces it.
  var share: Int { get }
  /// Whether it commits a transaction, so that syncs and written bytes a commit belong to it; by
  /// default no.
  var writes: Bool { get }
}

extension WorkloadOperation {
  /// As large as that of others that say nothing.
  public var share: Int { 1 }
  /// No transaction.
  public var writes: Bool { false }
}

/// What a workload checks: an enumeration of names.
public protocol WorkloadCheck: CaseIterable, Hashable, RawRepresentable, Sendable
where RawValue == String {
  /// What has to hold, in one sentence.
  var summary: String { get }
}

/// The checks of a workload that has none of its own.
public enum NoCheck: WorkloadCheck {
  /// None.
  public static var allCases: [NoCheck] { [] }
  /// Nil for every name.
  public init?(rawValue: String) { nil }
  /// Never asked for.
  public var rawValue: String { switch self {} }
  /// Never asked for.
  public var summary: String { switch self {} }
}

/// Settings of a workload where the command line says nothing.
public struct WorkloadDefaults: Sendable {
  /// `--threads`.
  public var threads = 4
  /// `--objects`, for workloads whose size can be chosen; nil = this one has no such flag.
  public var objects: Int?
  /// `--duration`, the length of the measured phase.
  public var duration = Duration.seconds(10)
  /// `--warmup`, the time before measuring begins.
  public var warmup = Duration.seconds(2)
  /// `--refresh-every`: operations of a thread between two refreshes of its Realm.
  public var refreshEvery = 1

  /// - Parameters:
  ///   - threads: from 1 to 1,024.
  ///   - objects: nil = the workload has no flag `--objects`.
  public init(
    threads: Int = 4, objects: Int? = nil, duration: Duration = .seconds(10),
    warmup: Duration = .seconds(2), refreshEvery: Int = 1
  ) {
    self.threads = threads
    self.objects = objects
    self.duration = duration
    self.warmup = warmup
    self.refreshEvery = refreshEvery
  }
}
