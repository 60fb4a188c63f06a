// The entry point that libFuzzer calls with one input after the other. Built by scripts/fuzz alone:
// it needs instrumented modules and the fuzzer's runtime, which brings `main`.
internal import OpenFile

@_cdecl("LLVMFuzzerTestOneInput")
func runOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  openFuzzedFile(UnsafeRawBufferPointer(start: bytes, count: count))
  return 0
}
