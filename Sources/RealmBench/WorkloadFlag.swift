// Flags that a workload brings with it: read, refused and shown as the tool's own are.
internal import Harness

/// A flag of a workload; see `Flag` for those that there are.
public protocol WorkloadFlag: Sendable {
  /// Without the hyphens.
  var name: String { get }
  /// One line for help; the default is added.
  var help: String { get }
}

/// A flag with its type: `settings[flag]` is its value.
///
/// ```swift
/// static let basket = Flag.count("basket", default: 3, in: 1...100, "articles of one order")
/// static let flags: [any WorkloadFlag] = [basket]
/// ```
public struct Flag<Value: Sendable>: WorkloadFlag {
  /// Without the hyphens.
  public let name: String
  /// One line for help.
  public let help: String
  /// The value where the command line says nothing.
  public let standard: Value
  /// How help shows the value; nil for a switch.
  private let form: String?
  private let read: @Sendable (_ text: String, _ flag: String) throws(UsageError) -> Value
  private let write: @Sendable (Value) -> String

  private init(
    _ name: String, _ form: String?, _ help: String, standard: Value,
    read: @escaping @Sendable (_ text: String, _ flag: String) throws(UsageError) -> Value,
    write: @escaping @Sendable (Value) -> String
  ) {
    self.name = name
    self.form = form
    self.help = help
    self.standard = standard
    self.read = read
    self.write = write
  }

  /// The value of a text that has been accepted.
  func value(_ text: String?) -> Value {
    guard let text else { return standard }
    do throws(UsageError) {
      return try read(text, "--" + name)
    } catch {
      preconditionFailure("the flag --\(name) does not read what it has written: '\(text)'")
    }
  }
}

extension Flag where Value == Int {
  /// A whole number.
  public static func count(
    _ name: String, default standard: Int, in range: ClosedRange<Int> = 0...1_000_000_000,
    _ help: String
  ) -> Flag {
    Flag(name, "N", help, standard: standard) { text, flag throws(UsageError) in
      try Units.count(
        text, flag: flag, minimum: range.lowerBound, maximum: range.upperBound)
    } write: {
      String($0)
    }
  }

  /// A number of bytes, as in `4KiB`.
  public static func size(_ name: String, default standard: Int, _ help: String) -> Flag {
    Flag(name, "SIZE", help, standard: standard) { text, flag throws(UsageError) in
      try Units.bytes(text, flag: flag)
    } write: {
      "\($0)B"
    }
  }
}

extension Flag where Value == Double {
  /// A part of 1, as in `0.25`, `25%` or `1/4`.
  public static func share(_ name: String, default standard: Double, _ help: String) -> Flag {
    Flag(name, "SHARE", help, standard: standard) { text, flag throws(UsageError) in
      guard let share = Units.share(text), share <= 1 else {
        throw UsageError("\(flag) needs a share from 0 to 1, not '\(text)'")
      }
      return share
    } write: {
      // A small one has an exponent, as Swift writes it.
      Units.text(share: $0)
    }
  }

  /// A rate above 0, as in `200/s`.
  public static func rate(_ name: String, default standard: Double, _ help: String) -> Flag {
    Flag(name, "N/s", help, standard: standard) { text, flag throws(UsageError) in
      try Units.ratePerSecond(text, flag: flag)
    } write: {
      Units.text(ratePerSecond: $0)
    }
  }
}

extension Flag where Value == Duration {
  /// A length of time, as in `250ms`.
  public static func duration(
    _ name: String, default standard: Duration, _ help: String
  ) -> Flag {
    Flag(name, "TIME", help, standard: standard) { text, flag throws(UsageError) in
      .nanoseconds(Int64(clamping: try Units.nanoseconds(text, flag: flag)))
    } write: {
      Units.text(nanoseconds: $0.wholeNanoseconds)
    }
  }
}

extension Flag where Value == String {
  /// Any text.
  public static func text(_ name: String, default standard: String, _ help: String) -> Flag {
    Flag(name, "TEXT", help, standard: standard) { text, _ in
      text
    } write: {
      $0
    }
  }
}

extension Flag where Value == Bool {
  /// A flag without a value: true when it is given.
  public static func toggle(_ name: String, _ help: String) -> Flag {
    Flag(name, nil, help, standard: false) { _, _ in
      true
    } write: { _ in
      ""
    }
  }
}

extension Flag where Value: CaseIterable & RawRepresentable & Sendable, Value.RawValue == String {
  /// One case of an enumeration, by its name.
  public static func choice(_ name: String, default standard: Value, _ help: String) -> Flag {
    let names = Value.allCases.map(\.rawValue)
    return Flag(name, names.joined(separator: "|"), help, standard: standard) {
      text, flag throws(UsageError) in
      if let value = Value(rawValue: text) { return value }
      let nearest = nearestName(text, in: names).map { "; did you mean '\($0)'?" } ?? ""
      throw UsageError(
        "\(flag): '\(text)' is not one of \(names.joined(separator: ", "))\(nearest)")
    } write: {
      $0.rawValue
    }
  }
}

/// What the tool needs of a flag, whatever its type.
protocol ToolFlag {
  var ownFlag: OwnFlag { get }
}

extension Flag: ToolFlag {
  var ownFlag: OwnFlag {
    let shown = form == nil ? help : "\(help) (\(write(standard)))"
    let (read, write, name) = (read, write, name)
    return OwnFlag(
      FlagDefinition(name, form, shown), standard: form == nil ? nil : write(standard)
    ) { text throws(UsageError) in
      write(try read(text, "--" + name))
    }
  }
}

extension Duration {
  /// 0 for what is shorter than nothing.
  var wholeNanoseconds: UInt64 {
    let (seconds, attoseconds) = components
    return UInt64(clamping: seconds) * 1_000_000_000
      + UInt64(clamping: attoseconds / 1_000_000_000)
  }
}
