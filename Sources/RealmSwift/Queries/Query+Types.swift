// Which types have an order in queries.
public import Foundation

extension Int: _QueryNumeric {}
extension Int8: _QueryNumeric {}
extension Int16: _QueryNumeric {}
extension Int32: _QueryNumeric {}
extension Int64: _QueryNumeric {}
extension Float: _QueryNumeric {}
extension Double: _QueryNumeric {}
extension Date: _QueryNumeric {}
extension String: _QueryString {}
extension Data: _QueryBinary {}
extension Decimal128: _QueryNumeric {}
extension ObjectId: _QueryOrdered {}
extension AnyRealmValue: _QueryNumeric, _QueryString {}
