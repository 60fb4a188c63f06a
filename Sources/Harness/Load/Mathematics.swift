// The three functions of the C library that the load generators need.
internal import Glibc

package func naturalLogarithm(_ value: Double) -> Double { log(value) }
package func exponential(_ value: Double) -> Double { exp(value) }
package func power(_ base: Double, _ exponent: Double) -> Double { pow(base, exponent) }
