// Names that users script against: files and columns of a results folder. They only grow.

/// The files of a results folder and their columns.
package enum ResultSchema {
  package static let version = 1
  package static let toolVersion = "0.1.0"

  /// Columns that hold words, also where these look like numbers.
  package static let textColumns: Set<String> = [
    "run_id", "engine", "durability", "workload", "operation", "phase", "load", "metric", "unit",
    "invariant", "first_violation", "process", "event",
  ]

  package static let summaryColumns = [
    "schema_version", "run_id", "replica", "seed", "engine", "durability", "workload", "operation",
    "phase", "load", "threads", "target_rate_per_s", "elapsed_s", "count", "errors", "late",
    "skipped", "rate_per_s", "service_mean_ns", "service_p50_ns", "service_p90_ns",
    "service_p99_ns", "service_p99_9_ns", "service_p99_99_ns", "service_max_ns",
    "response_p50_ns", "response_p90_ns", "response_p99_ns", "response_p99_9_ns",
    "response_p99_99_ns", "response_max_ns", "syncs_per_commit", "written_bytes_per_commit",
    "system_calls_per_commit", "allocations_per_operation", "instructions_per_operation",
  ]

  package static let sampleColumns = [
    "schema_version", "run_id", "replica", "engine", "workload", "phase", "elapsed_s", "operation",
    "metric", "unit", "value",
  ]

  package static let growthColumns = [
    "schema_version", "run_id", "replica", "engine", "workload", "phase", "elapsed_s", "commits",
    "newest_version", "oldest_pinned_version", "live_versions", "pins", "oldest_pin_age_s",
    "file_bytes", "live_bytes", "held_bytes", "free_bytes", "resident_bytes", "allocated_bytes",
    "written_bytes", "syncs", "objects", "walked_bytes",
    "transactions",
  ]

  package static let invariantColumns = [
    "schema_version", "run_id", "replica", "engine", "workload", "invariant", "checks",
    "violations", "first_violation", "cost_percent",
  ]

  /// With background processes of a plan only.
  package static let eventColumns = [
    "schema_version", "run_id", "replica", "engine", "workload", "elapsed_s", "process", "number",
    "event",
  ]

  /// The tables of a results folder.
  package static let tables = [
    ("summary.csv", summaryColumns), ("samples.csv", sampleColumns),
    ("growth.csv", growthColumns), ("invariants.csv", invariantColumns),
  ]
}
