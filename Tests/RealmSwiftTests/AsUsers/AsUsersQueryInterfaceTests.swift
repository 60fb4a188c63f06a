// Conditions on values and collections of optionals, enumerations and own types, in every form in
// which programs write them: each finds what it should, and its text finds the same.
import Foundation
import RealmSwift
import TestSupport
import Testing

@Suite(.ownThreads) struct AsUsersQueryInterfaceTests {
  private let realm: Realm

  init() throws { realm = try everyFormRealm() }

  /// Checks the names of the objects that fulfil a condition, given in order and separated by
  /// spaces.
  private func expect(
    _ names: String, _ condition: (Query<EveryForm>) -> Query<Bool>,
    _ location: SourceLocation = #_sourceLocation
  ) {
    let objects = realm.objects(EveryForm.self)
    let (text, arguments) = condition(._constructForTesting())._constructPredicate()
    let found = objects.where(condition).map(\.name).sorted().joined(separator: " ")
    #expect(found == names, "\(text)", sourceLocation: location)
    let again = objects.filter(NSPredicate(format: text, argumentArray: arguments))
      .map(\.name).sorted().joined(separator: " ")
    #expect(again == names, "as text: \(text)", sourceLocation: location)
  }

  /// Checks the text of a condition.
  private func expectText(
    _ expected: String, _ condition: (Query<EveryForm>) -> Query<Bool>,
    _ location: SourceLocation = #_sourceLocation
  ) {
    let text = condition(._constructForTesting())._constructPredicate().0
    #expect(text == expected, sourceLocation: location)
  }

  @Test func enumerations() {
    expect("a") { $0.step.contains(.two ..< .three) }
    expect("a b") { $0.step.contains(.two ... .three) }
    expect("a") { $0.stepOrNil.contains(.one ... .two) }
    expect("a") { $0.stepOrNil > .one }
    expect("b empty") { $0.stepOrNil == nil }
    expect("a b empty") { $0.stepOrNil.in([nil, .two]) }
    expect("a") { $0.stepOrNil.in([.two]) }
    expect("a") { $0.stepOrNil.rawValue.contains(1...2) }
    expect("a b") { $0.step.rawValue > 1 }
    expect("a") { $0.weight > .light }
    expect("a") { $0.weight.rawValue.contains(1.9...2.1) }
    expect("b empty") { $0.weight <= .light }
  }

  @Test func enumerationsOverTexts() {
    expect("a") { $0.tone.contains(.middle) }
    expect("a") { $0.tone.starts(with: .middle) }
    expect("a") { $0.tone.ends(with: .middle, options: .caseInsensitive) }
    expect("a") { $0.tone.like(.middle) }
    expect("a") { $0.tone.equals(.middle, options: .caseInsensitive) }
    expect("b empty") { $0.tone.notEquals(.middle) }
    expect("b empty") { $0.tone < .middle }
    expect("a") { $0.toneOrNil.contains(.high) }
    expect("a") { $0.toneOrNil.like(.high, caseInsensitive: true) }
    expect("a") { $0.toneOrNil.starts(with: .high) }
    expect("b empty") { $0.toneOrNil.equals(nil) }
    expect("a") { $0.tone.rawValue.like("m*") }
    expect("a") { $0.tone.rawValue.contains("IDD", options: .caseInsensitive) }
    expect("a") { $0.toneOrNil.rawValue.ends(with: "gh") }
    expect("a") { $0.toneOrNil.rawValue.like("h?gh") }
    expect("a") { $0.tone == $0.tone && $0.tone.rawValue.starts(with: "mid") }
    expect("") { $0.name.contains($0.tone) }
    expect("b empty") { $0.tone.notEquals($0.label) && $0.toneOrNil == nil }
  }

  @Test func ownTypes() {
    expect("a") { $0.cents.contains(Cents(10)...Cents(20)) }
    expect("") { $0.cents.contains(Cents(10)..<Cents(20)) }
    expect("a") { $0.centsOrNil.contains(Cents(10)...Cents(40)) }
    expect("a b") { $0.cents > Cents(0) }
    expect("a b") { $0.cents.persistableValue.contains(1...100) }
    expect("a") { $0.centsOrNil.persistableValue.contains(1..<31) }
    expect("b empty") { $0.centsOrNil.persistableValue == nil }
    expect("a") { $0.label.contains(Label("lu")) }
    expect("a") { $0.label.starts(with: Label("BL"), options: .caseInsensitive) }
    expect("a") { $0.label.ends(with: Label("ue")) }
    expect("a") { $0.label.like(Label("b*e")) }
    expect("a") { $0.label.equals(Label("BLUE"), options: .caseInsensitive) }
    expect("a") { $0.labelOrNil.like(Label("gr*")) }
    expect("a") { $0.labelOrNil.contains(Label("ree")) }
    expect("a") { $0.labelOrNil.persistableValue.contains("ree") }
    expect("a") { $0.labelOrNil > Label("a") }
    expect("a") { $0.spot == Spot(4) }
    expect("a") { $0.spot.persistableValue.x > 3 }
    expect("a") { $0.ratio.persistableValue > 0.4 }
  }

  @Test func optionalsAndMixedValues() {
    expect("a") { $0.wholeOrNil.contains(3...4) }
    expect("a") { $0.textOrNil.equals("äpfel", options: .caseInsensitive) }
    expect("a") {
      $0.textOrNil.starts(with: "apf", options: [.caseInsensitive, .diacriticInsensitive])
    }
    expect("a") { $0.any.contains(.string("ell")) }
    expect("a") { $0.any.like(.string("h*o")) }
    expect("a") { $0.any.starts(with: .string("HE"), options: .caseInsensitive) }
    expect("a") { $0.data.contains(Data([2, 3])) }
    expect("a") { $0.data.starts(with: Data([1])) }
    expect("a b empty") { $0.data.equals($0.data) }
    expect("a") { $0.wholeOrNil > $0.whole }
    expect("a") { $0.whole < $0.wholeOrNil }
    expect("a b empty") { $0.whole != $0.wholeOrNil }
    expect("a b") { $0.whole > $0.single }
    expect("a") { $0.decimal > $0.whole && $0.textOrNil != $0.name }
    expect("a") { $0.wholes == $0.whole }
    expect("a") { $0.whole == $0.wholes }
  }

  @Test func lists() {
    expect("a") { $0.wholesOrNil.contains(1...4) }
    expect("") { $0.wholesOrNil.contains(1..<4) }
    expect("a") {
      $0.times.contains(Date(timeIntervalSince1970: 5)...Date(timeIntervalSince1970: 9))
    }
    expect("a") { $0.wholesOrNil.sum == 5 }
    expect("a") { $0.wholesOrNil.avg == 2.5 }
    expect("a") { $0.wholesOrNil.min == 1 && $0.wholesOrNil.max > 3 }
    expect("b empty") { $0.wholesOrNil.min == nil }
    expect("b empty") { $0.wholesOrNil.avg == nil }
    expect("a") { $0.wholesOrNil.contains(nil) }
    expect("a") { $0.wholesOrNil.containsAny(in: [nil, 9]) }
    expect("a") { $0.textsOrNil.like("a*") }
    expect("a") { $0.texts.starts(with: "pe", options: .caseInsensitive) }
    expect("") { $0.texts.ends(with: "x") }
    let mean: Double = 7.0 / 3
    expect("a") { $0.wholes.avg == mean }
    expect("") { $0.wholes.avg == 2 }
    expect("a") { $0.wholes.avg > 2 }
  }

  @Test func listsOfEnumerations() {
    expect("a") { $0.steps.contains(.one) }
    expect("a") { $0.steps.contains(.one ... .three) }
    expect("") { $0.steps.contains(.one ..< .three) }
    expect("a") { $0.stepsOrNil.contains(.one ... .two) }
    expect("a") { $0.steps.containsAny(in: [.two, .three]) }
    expect("a") { $0.stepsOrNil.containsAny(in: [nil]) }
    expect("a") { $0.steps > .two }
    expect("a") { $0.steps.rawValue.contains(3) }
    expect("a") { $0.steps.rawValue == 3 }
    expect("a") { $0.steps.rawValue.contains(1...3) }
    expect("a") { $0.steps.rawValue.containsAny(in: [2, 3]) }
    expect("a") { $0.steps.rawValue.sum == 4 }
    expect("a") { $0.steps.rawValue.avg == 2 }
    expect("a") { $0.steps.rawValue.min == 1 && $0.steps.rawValue.max == 3 }
    expect("a") { $0.steps.rawValue.count == 2 }
    expect("a") { $0.steps.min == .one && $0.steps.max == .three }
    expect("a") { $0.stepsOrNil.rawValue.sum == 3 }
    expect("a") { $0.stepsOrNil.rawValue.contains(nil) }
    expect("a") { $0.stepsOrNil.max == .two }
    expect("a") { $0.weights.rawValue.sum == 3.5 }
    expect("a") { $0.tones.rawValue.contains("high") }
    expect("") { $0.tones.rawValue.contains("hig") }
    expect("a") { $0.tones.rawValue.starts(with: "hig") }
    expect("a") { $0.tones.rawValue.like("*o*") }
    expect("a") { $0.tones.like(.high) }
    expect("a") { $0.stepSet.rawValue.sum == 3 }
    expect("a") { $0.stepSet.contains(.one ... .two) }
    expectText("(steps.@sum == %@)") { $0.steps.rawValue.sum == 4 }
    expectText("((steps.@min >= %@) && (steps.@max <= %@))") {
      $0.steps.rawValue.contains(1...3)
    }
    expectText("((steps.@min >= %@) && (steps.@max < %@))") {
      $0.steps.contains(.one ..< .two)
    }
    expectText("(%@ IN steps)") { $0.steps.rawValue.contains(1) }
    expectText("(ANY steps IN %@)") { $0.steps.rawValue.containsAny(in: [1]) }
  }

  @Test func listsOfOwnTypes() {
    expect("a") { $0.centsList.contains(Cents(60)) }
    expect("a") { $0.centsList.contains(Cents(10)...Cents(60)) }
    expect("a") { $0.centsOrNils.contains(Cents(10)...Cents(60)) }
    expect("a") { $0.centsList.containsAny(in: [Cents(60), Cents(7)]) }
    expect("a") { $0.centsList > Cents(50) }
    expect("a") { $0.centsList.sum == Cents(90) }
    expect("a") { $0.centsList.max == Cents(60) }
    expect("a") { $0.centsList.avg == Cents(30) }
    expect("a") { $0.centsList.persistableValue.contains(60) }
    expect("a") { $0.centsList.persistableValue.contains(10...60) }
    expect("a") { $0.centsList.persistableValue == 20 }
    expect("a") { $0.centsList.persistableValue.sum == 90 }
    expect("a") { $0.centsList.persistableValue.avg == 30 }
    expect("a") { $0.centsOrNils.persistableValue.sum == 30 }
    expect("a") { $0.centsOrNils.persistableValue.avg == 15 }
    expect("a") { $0.centsOrNils.persistableValue.contains(nil) }
    expect("a") { $0.labels.persistableValue.contains("red") }
    expect("a") { $0.labels.persistableValue.like("r?d") }
    expect("a") { $0.labels.starts(with: Label("re")) }
    expect("a") { $0.centsSet.persistableValue.sum == 30 }
    expect("a") { $0.spots.persistableValue.x == 2 }
    expect("a") { $0.spots.persistableValue.count == 2 }
  }

  @Test func maps() {
    expect("a") { $0.wholeMap.contains(1...3) }
    expect("") { $0.wholeMap.contains(1..<3) }
    expect("a") { $0.wholeOrNilMap.contains(1...3) }
    expect("a") { $0.wholeOrNilMap.contains(nil) }
    expect("a") { $0.wholeOrNilMap.sum == 1 }
    expect("a") { $0.wholeOrNilMap.avg == 1 }
    expect("a") { $0.wholeMap["y"].contains(2...3) }
    expect("a") { $0.textMap["x"].like("app*") }
    expect("a") { $0.textMap.keys.like("X", caseInsensitive: true) }
    expect("a") { $0.textMap.values.ends(with: "ear") }
    expect("a") { $0.stepMap.contains(.one ... .three) }
    expect("a") { $0.stepMap.rawValue.contains(3) }
    expect("a") { $0.stepMap.rawValue.sum == 4 }
    expect("a") { $0.stepMap.rawValue["y"] == 3 }
    expect("a") { $0.stepMap["y"].rawValue == 3 }
    expect("a") { $0.stepMap["y"] == .three }
    expect("a") { $0.stepOrNilMap.rawValue.max == 1 }
    expect("a") { $0.toneMap.rawValue["x"].contains("ow") }
    expect("a") { $0.toneMap.rawValue.contains("low") }
    expect("a") { $0.centsMap.persistableValue.sum == 30 }
    expect("a") { $0.centsMap.persistableValue["x"] == 10 }
    expect("a") { $0.centsMap["x"].persistableValue == 10 }
    expect("a") { $0.centsMap["y"] > Cents(15) }
    expect("a") { $0.centsMap.max == Cents(20) }
    expect("a") { $0.centsOrNilMap.persistableValue.sum == 10 }
    expect("a") { $0.centsOrNilMap.contains(nil) }
    expect("a") { $0.labelMap.persistableValue.contains("red") }
    expect("a") { $0.labelMap["x"].contains(Label("ed")) }
    expect("a") { $0.spotMap.persistableValue.x == 3 }
  }

  @Test func throughLinks() {
    expect("a") { $0.link.step == .three }
    expect("a") { $0.links.step.rawValue == 3 }
    expect("a") { $0.links.step.in([.three]) }
    expect("a") { $0.links.cents.persistableValue > 60 }
    expect("a") { $0.links.whole.sum == 9 }
    expect("a") { $0.links.wholeOrNil.sum == 3 }
    expect("a") { $0.links.step.max == .three }
    expect("a") { $0.links.cents.sum == Cents(90) }
    expect("a") { $0.links.cents.persistableValue.avg == 45 }
    expect("a") { $0.links.tone.contains(.middle) }
    expect("a") { $0.links.tone.rawValue.contains("mid") }
    expect("a") { ($0.links.step == .three && $0.links.whole > 5).count == 1 }
    expect("a") { $0.links.wholes.contains(4) }
  }

  @Test func generic() {
    func sum<C: RealmCollection>(
      _ collection: (Query<EveryForm>) -> Query<C>, _ value: C.Element
    ) where C.Element: _HasPersistedType, C.Element.PersistedType: _QueryNumeric {
      expect("a") { collection($0).sum == value }
    }
    func average<C: RealmCollection>(
      _ collection: (Query<EveryForm>) -> Query<C>, _ value: C.Element
    ) where C.Element: _HasPersistedType, C.Element.PersistedType: _QueryNumeric {
      expect("a") { collection($0).avg == value }
    }
    sum({ $0.centsList }, Cents(90))
    sum({ $0.wholesOrNil }, 5)
    sum({ $0.steps.rawValue }, 4)
    average({ $0.centsList }, Cents(30))
    average({ $0.centsOrNils }, Cents(15))
    let results = realm.objects(EveryForm.self).where { $0.name == "a" }.first!
    #expect(Array(results.steps.where { $0 > .one }) == [.three])
    #expect(Array(results.steps.where { $0.rawValue == 1 }) == [.one])
    #expect(Array(results.stepsOrNil.where { $0 == nil }) == [nil])
    #expect(Array(results.wholesOrNil.where { $0.contains(2...5) }) == [4])
    #expect(Array(results.labels.where { $0.like(Label("b*")) }) == [Label("blue")])
    #expect(Array(results.centsList.where { $0.persistableValue > 15 }) == [Cents(20), Cents(60)])
  }
}
