// CSV: header first, quoting of RFC 4180, and the columns that users script against; figures and
// tables as people read them.
import Harness
import TestSupport
import Testing

@Suite(.ownThreads) struct CSVTests {
  @Test func quotesOnlyWhatNeedsIt() {
    #expect(CSVTable.field("plain 1.5") == "plain 1.5")
    #expect(CSVTable.field("a,b") == "\"a,b\"")
    #expect(CSVTable.field("say \"x\"") == "\"say \"\"x\"\"\"")
    #expect(CSVTable.field("two\nlines") == "\"two\nlines\"")
    #expect(CSVTable.field("carriage\r") == "\"carriage\r\"")
    #expect(CSVTable.field("") == "")
  }

  @Test func roundTrip() {
    var table = CSVTable(columns: ["a", "b", "c"])
    let rows: [[String?]] = [["1", nil, "x,y"], ["\"", "line\nend", ""], [nil, nil, nil]]
    for row in rows { table.append(row) }
    #expect(table.text.hasPrefix("a,b,c\n"))
    let parsed = CSVTable.parse(table.text)
    #expect(parsed?.first == ["a", "b", "c"])
    #expect(parsed.map { Array($0.dropFirst()) } == rows.map { $0.map { $0 ?? "" } })
    #expect(CSVTable.parse("a,\"b") == nil)
  }

  @Test func decimalsHaveAPoint() {
    #expect(decimal(1_234.5, places: 3) == "1234.500")
    #expect(decimal(0, places: 1) == "0.0")
  }

  /// The contract of cli.md: columns only grow.
  @Test func columnsAreThoseOfTheContract() {
    #expect(
      ResultSchema.summaryColumns.joined(separator: ",")
        == """
        schema_version,run_id,replica,seed,engine,durability,workload,operation,phase,load,\
        threads,target_rate_per_s,elapsed_s,count,errors,late,skipped,rate_per_s,\
        service_mean_ns,service_p50_ns,service_p90_ns,service_p99_ns,service_p99_9_ns,\
        service_p99_99_ns,service_max_ns,response_p50_ns,response_p90_ns,response_p99_ns,\
        response_p99_9_ns,response_p99_99_ns,response_max_ns,syncs_per_commit,\
        written_bytes_per_commit,system_calls_per_commit,allocations_per_operation,\
        instructions_per_operation
        """)
    #expect(
      ResultSchema.sampleColumns.joined(separator: ",")
        == """
        schema_version,run_id,replica,engine,workload,phase,elapsed_s,operation,metric,unit,\
        value
        """)
    #expect(
      ResultSchema.growthColumns.joined(separator: ",")
        == """
        schema_version,run_id,replica,engine,workload,phase,elapsed_s,commits,newest_version,\
        oldest_pinned_version,live_versions,pins,oldest_pin_age_s,file_bytes,live_bytes,\
        held_bytes,free_bytes,resident_bytes,allocated_bytes,written_bytes,syncs,objects,walked_bytes,\
        transactions
        """)
    #expect(
      ResultSchema.invariantColumns.joined(separator: ",")
        == """
        schema_version,run_id,replica,engine,workload,invariant,checks,violations,\
        first_violation,cost_percent
        """)
  }

  /// A phase of a plan may have any name.
  @Test func cellsOfTablesAreNoMarkup() {
    let table = TextTable(header: ["a|b"], rows: [["load|2 *x*"], ["one\ntwo"]])
    #expect(table.markdown == "| a\\|b |\n|---|\n| load\\|2 \\*x\\* |\n| one two |\n")
  }

  /// Three places made 0 of figures that are not, beside a ratio.
  @Test func smallFiguresAreNotZero() {
    #expect(decimalOfFigure(0.000_4) == "0.000400000" && decimalOfFigure(0.015_625) == "0.0156250")
    #expect(decimalOfFigure(-0.25) == "-0.250000" && decimalOfFigure(0) == "0.000")
    #expect(decimalOfFigure(1) == "1.000" && decimalOfFigure(1_234.567_8) == "1234.568")
  }
}
