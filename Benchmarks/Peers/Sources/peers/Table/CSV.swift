// The CSV file: its columns only grow.

extension Results {
  /// The whole file.
  var csv: String {
    var text =
      "benchmark,engine,durability,objects,unit,median,min,max,repetitions,ratio_to_ours\n"
    for line in lines {
      let fields = [
        line.row.name, line.contestant.engine.rawValue, line.contestant.durability.rawValue,
        String(line.objects), line.row.unit.rawValue, formatted(line.median),
        formatted(line.samples.first!), formatted(line.samples.last!), String(line.samples.count),
        line.ratioToOurs.map(formatted) ?? "",
      ]
      text += fields.joined(separator: ",") + "\n"
    }
    return text
  }
}
