// Functions of Swift's concurrency library before which others may go on: of cancellation, of
// priorities and of AsyncStream; and of Foundation's NotificationCenter. The libraries have no hook
// there, so each is put in front of the library's own, to which it goes on with all registers as
// they were.
#define _GNU_SOURCE
#include "CRaceHunt.h"
#include "look_up.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

static _Atomic(race_hunt_call_sink) current_sink;

void race_hunt_install_calls(race_hunt_call_sink sink) {
  atomic_store_explicit(&current_sink, sink, memory_order_release);
}

// Methods that Foundation gives to NotificationCenter.
#define CENTER "$s20FoundationEssentials18NotificationCenterC0A0E"

// Swift's names of: what is called, what it does with others, and what people call it.
#define CALLS(CALL)                                                                                \
  CALL(0, "$sScT6cancelyyF", CANCELS, "Task.cancel")                                               \
  CALL(1, "$sSct6cancelyyF", CANCELS, "UnsafeCurrentTask.cancel")                                  \
  CALL(2, "$sScG9cancelAllyyF", CANCELS, "TaskGroup.cancelAll")                                    \
  CALL(3, "$sScg9cancelAllyyF", CANCELS, "ThrowingTaskGroup.cancelAll")                            \
  CALL(4, "$ss19DiscardingTaskGroupV9cancelAllyyF", CANCELS, "DiscardingTaskGroup.cancelAll")      \
  CALL(5, "$ss27ThrowingDiscardingTaskGroupV9cancelAllyyF", CANCELS,                               \
       "ThrowingDiscardingTaskGroup.cancelAll")                                                    \
  CALL(6, "$sScTss5NeverORszABRs_rlE11isCancelledSbvgZ", ASKS, "Task.isCancelled")                 \
  CALL(7, "$sScT11isCancelledSbvg", ASKS, "Task.isCancelled")                                      \
  CALL(8, "$sSct11isCancelledSbvg", ASKS, "UnsafeCurrentTask.isCancelled")                         \
  CALL(9, "$sScG11isCancelledSbvg", ASKS, "TaskGroup.isCancelled")                                 \
  CALL(10, "$sScg11isCancelledSbvg", ASKS, "ThrowingTaskGroup.isCancelled")                        \
  CALL(11, "$ss19DiscardingTaskGroupV11isCancelledSbvg", ASKS, "DiscardingTaskGroup.isCancelled")  \
  CALL(12, "$ss27ThrowingDiscardingTaskGroupV11isCancelledSbvg", ASKS,                             \
       "ThrowingDiscardingTaskGroup.isCancelled")                                                  \
  CALL(13, "$sScTss5NeverORszABRs_rlE17checkCancellationyyKFZ", ASKS, "Task.checkCancellation")    \
  CALL(14, "swift_task_addCancellationHandler", ASKS, "withTaskCancellationHandler")               \
  CALL(15, "$sScS12ContinuationV5yieldyAB11YieldResultOyx__GxnF", STREAMS, "AsyncStream yield")    \
  CALL(16, "$sScS12ContinuationV5yield4withAB11YieldResultOyx__Gs0E0Oyxs5NeverOG_tF", STREAMS,     \
       "AsyncStream yield")                                                                        \
  CALL(17, "$sScS12ContinuationV5yieldAB11YieldResultOyyt__GyytRszlF", STREAMS,                    \
       "AsyncStream yield")                                                                        \
  CALL(18, "$sScS12ContinuationV6finishyyF", STREAMS, "AsyncStream finish")                        \
  CALL(19, "$sScs12ContinuationV5yieldyAB11YieldResultOyxq___GxnF", STREAMS,                       \
       "AsyncThrowingStream yield")                                                                \
  CALL(20, "$sScs12ContinuationV5yield4withAB11YieldResultOyxs5Error_p__Gs0E0OyxsAG_pG_tsAG_pRs_rlF", \
       STREAMS, "AsyncThrowingStream yield")                                                       \
  CALL(21, "$sScs12ContinuationV5yieldAB11YieldResultOyytq___GyytRszrlF", STREAMS,                 \
       "AsyncThrowingStream yield")                                                                \
  CALL(22, "$sScs12ContinuationV6finish8throwingyq_Sgn_tF", STREAMS, "AsyncThrowingStream finish") \
  CALL(23, "$sScS12ContinuationV13onTerminationyAB0C0Oyx__GYbcSgvs", STREAMS,                      \
       "AsyncStream onTermination")                                                                \
  CALL(24, "$sScs12ContinuationV13onTerminationyAB0C0Oyxq___GYbcSgvs", STREAMS,                    \
       "AsyncThrowingStream onTermination")                                                        \
  CALL(29, "$sScT16escalatePriority2toyScP_tF", CANCELS, "Task.escalatePriority")                  \
  CALL(30, "$sSct16escalatePriority2toyScP_tF", CANCELS, "UnsafeCurrentTask.escalatePriority")     \
  CALL(31, "$sScTss5NeverORszABRs_rlE15currentPriorityScPvgZ", ASKS, "Task.currentPriority")       \
  CALL(32, CENTER "4post4name6object8userInfoyAD14NSNotificationC4NameV_ypSgSDys11AnyHashableVypGSgtF", \
       NOTIFIES, "NotificationCenter.post")                                                        \
  CALL(33, CENTER "4postyyAD0C0VF", NOTIFIES, "NotificationCenter.post")                           \
  CALL(34, CENTER "11addObserver7forName6object5queue5usingAD16NSObjectProtocol_pAD14NSNotificationC0H0VSg_ypSgAD14OperationQueueCSgyAD0C0VYbctF", \
       NOTIFIES, "NotificationCenter.addObserver")                                                 \
  CALL(35, CENTER "14removeObserveryyypF", NOTIFIES, "NotificationCenter.removeObserver")          \
  CALL(36, CENTER "14removeObserver_4name6objectyyp_AD14NSNotificationC4NameVSgypSgtF", NOTIFIES,  \
       "NotificationCenter.removeObserver")

// The same of asynchronous functions. Where the compiler knows the type it calls them by their
// names; generic code comes to the library's own by the table of the protocol.
#define ASYNC_CALLS(CALL)                                                                          \
  CALL(25, "$sScS8IteratorV4nextxSgyYaF", STREAMS, "AsyncStream next")                             \
  CALL(26, "$sScS8IteratorV4next9isolationxSgScA_pSgYi_tYaF", STREAMS, "AsyncStream next")         \
  CALL(27, "$sScs8IteratorV4nextxSgyYaKF", STREAMS, "AsyncThrowingStream next")                    \
  CALL(28, "$sScs8IteratorV4next9isolationxSgScA_pSgYi_tYaq_YKF", STREAMS,                         \
       "AsyncThrowingStream next")                                                                 \
  CALL(37, "$ss33withTaskPriorityEscalationHandler9operation02onC9Escalated9isolationxxyYaq_YKXE_yScP_ScPtYbXEScA_pSgYitYaq_YKs5ErrorR_r0_lF", \
       ASKS, "withTaskPriorityEscalationHandler")

enum {
  CANCELS = RACE_HUNT_CANCELS,
  ASKS = RACE_HUNT_ASKS,
  STREAMS = RACE_HUNT_STREAMS,
  NOTIFIES = RACE_HUNT_NOTIFIES,
};

static struct call {
  const char *symbol;
  int kind;
  const char *name;
  void *_Atomic original;
} calls[] = {
#define ENTRY(number, symbol, kind, name) [number] = {symbol, kind, name, NULL},
    CALLS(ENTRY) ASYNC_CALLS(ENTRY)
#undef ENTRY
};

static void tell(int kind, const char *name, uintptr_t caller) {
  if (!race_hunt_is_exploring() || race_hunt_worker() == NULL) return;
  race_hunt_call_sink sink = atomic_load_explicit(&current_sink, memory_order_acquire);
  if (sink) sink(kind, name, caller);
}

/// Called before one of them, with where its caller goes on; where the library's own begins.
__attribute__((used, visibility("hidden"))) void *race_hunt_before_call(size_t number, uintptr_t caller) {
  struct call *call = &calls[number];
  tell(call->kind, call->name, caller);
  void *original = race_hunt_look_up(&call->original, RTLD_NEXT, call->symbol);
  // Whoever calls it was linked with it.
  if (original == NULL) abort();
  return original;
}

// A child is about to be added to a group. `addTaskUnlessCancelled` alone looks whether that is
// cancelled, and has no function of its own. Weak, as those below.
__attribute__((weak)) bool __attribute__((swiftcall)) swift_taskGroup_addPending(
    void *group, bool unconditionally) {
  static void *_Atomic found;
  typedef bool __attribute__((swiftcall)) (*add_pending)(void *group, bool unconditionally);
  if (!unconditionally) {
    void *caller = __builtin_extract_return_addr(__builtin_return_address(0));
    tell(ASKS, "addTaskUnlessCancelled", (uintptr_t)caller);
  }
  add_pending original =
      (add_pending)race_hunt_look_up(&found, RTLD_NEXT, "swift_taskGroup_addPending");
  return original(group, unconditionally);
}

#if defined(__x86_64__)
// Weak: in a program that is linked with the static runtime that one goes first, and these calls
// are no points there. Saved is what Swift's conventions pass values in, beside the registers that
// C keeps (r12 to r14 among them, in which Swift passes errors, `self` and the async context).
__asm__(
    ".text\n"
    ".hidden race_hunt_call\n.hidden race_hunt_async_call\n"
    ".type race_hunt_call, @function\n.type race_hunt_async_call, @function\n"
    // An asynchronous function is jumped to: in its context, in r14, stands behind that of the
    // caller where that goes on, the beginning of a function, which has nothing in front of it.
    "race_hunt_async_call:\n"
    "  pushq %rbp\n"
    "  movq %rsp, %rbp\n"
    "  pushq 8(%r14)\n"
    "  incq (%rsp)\n"
    "  jmp 1f\n"
    "race_hunt_call:\n"  // The number of the call is in r11, its caller below the frame.
    "  pushq %rbp\n"
    "  movq %rsp, %rbp\n"
    "  pushq 8(%rbp)\n"
    "1:\n"
    "  pushq %rax\n  pushq %rdi\n  pushq %rsi\n  pushq %rdx\n"
    "  pushq %rcx\n  pushq %r8\n  pushq %r9\n  pushq %r10\n"
    "  subq $136, %rsp\n"
    "  movups %xmm0, (%rsp)\n  movups %xmm1, 16(%rsp)\n"
    "  movups %xmm2, 32(%rsp)\n  movups %xmm3, 48(%rsp)\n"
    "  movups %xmm4, 64(%rsp)\n  movups %xmm5, 80(%rsp)\n"
    "  movups %xmm6, 96(%rsp)\n  movups %xmm7, 112(%rsp)\n"
    "  movq %r11, %rdi\n"
    "  movq -8(%rbp), %rsi\n"
    "  call race_hunt_before_call\n"
    "  movq %rax, %r11\n"
    "  movups (%rsp), %xmm0\n  movups 16(%rsp), %xmm1\n"
    "  movups 32(%rsp), %xmm2\n  movups 48(%rsp), %xmm3\n"
    "  movups 64(%rsp), %xmm4\n  movups 80(%rsp), %xmm5\n"
    "  movups 96(%rsp), %xmm6\n  movups 112(%rsp), %xmm7\n"
    "  addq $136, %rsp\n"
    "  popq %r10\n  popq %r9\n  popq %r8\n  popq %rcx\n"
    "  popq %rdx\n  popq %rsi\n  popq %rdi\n  popq %rax\n"
    "  addq $8, %rsp\n"
    "  popq %rbp\n"
    "  jmpq *%r11\n"
    ".size race_hunt_call, . - race_hunt_call\n");

#define STUB(number, symbol, way)                                                                  \
  __asm__(".text\n.weak \"" symbol "\"\n.type \"" symbol "\", @function\n\"" symbol "\":\n"        \
          "  movl $" #number ", %r11d\n  jmp " way "\n"                                            \
          ".size \"" symbol "\", . - \"" symbol "\"\n");
#define IN_FRONT(number, symbol, kind, name) STUB(number, symbol, "race_hunt_call")
#define ASYNC_IN_FRONT(number, symbol, kind, name) STUB(number, symbol, "race_hunt_async_call")
CALLS(IN_FRONT)
ASYNC_CALLS(ASYNC_IN_FRONT)
#endif
