"""C++ around a unit of CUDA C++ with which the system's compiler makes it run on the CPU, thread by thread.

One block runs at a time. A kernel that synchronises runs each of its threads as a fiber, any other in plain loops.
Each warp runs as far as it can before another one does. The order of blocks, warps and lanes is a number: 0 forward, 1
backward, others shuffle by it; so a missing barrier shows as another result. Each block begins with shared memory that
is filled with 0xFF, and ends with a look at the bytes behind it.
"""

from __future__ import annotations

import re

SHARED_LIMIT = 232_448
"""The bytes of shared memory that a block can have at most."""

_LANGUAGE = """\
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <utility>
#if !defined(__x86_64__)
#include <ucontext.h>
#endif
#define __global__
#define __device__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#if defined(__APPLE__)
#define __shared__ __attribute__((section("__DATA,__shared")))
#else
#define __shared__ __attribute__((section(".bss.shared_memory")))
#endif
struct Triple { unsigned x, y, z; };
static Triple threadIdx, blockIdx, blockDim, gridDim;
"""

_FIBERS = """\
enum FiberState { READY, AT_BARRIER, AT_WARP, ENDED };
struct Fiber {
    void *place;
    char *stack;
    Triple index;
    FiberState state;
    unsigned mask, operation;
    unsigned long long value;
#if !defined(__x86_64__)
    ucontext_t context;
#endif
};
const unsigned MOST_THREADS = 1024;
const size_t STACK_BYTES = 256 << 10;
const size_t GUARD_BYTES = 256;
__shared__ __align__(16) char shared_memory[SHARED_LIMIT + GUARD_BYTES];
static Fiber fibers[MOST_THREADS], host;
static unsigned current, thread_count;
static unsigned long long exchanged[MOST_THREADS], random_state;
static int order;
static void (*body)(void **);
static void **arguments_of_body;
static char failure[512];
static void next_fiber();
[[noreturn]] static void enter() {
    for (;;) {
        body(arguments_of_body);
        fibers[current].state = ENDED;
        next_fiber();
    }
}
#if defined(__x86_64__)
extern "C" void emulated_switch(void **save, void *load) __attribute__((visibility("hidden")));
__asm__(
    ".text\\n.globl emulated_switch\\n.hidden emulated_switch\\nemulated_switch:\\n"
    "push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15\\n"
    "mov %rsp,(%rdi); mov %rsi,%rsp\\n"
    "pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp\\nret\\n");
static void change(Fiber &from, Fiber &to) { emulated_switch(&from.place, to.place); }
static void prepare(Fiber &fiber) {
    void **top = (void **)(fiber.stack + STACK_BYTES);
    *--top = nullptr;
    *--top = (void *)&enter;
    for (int k = 0; k < 6; ++k) *--top = nullptr;
    fiber.place = top;
}
#else
static void change(Fiber &from, Fiber &to) { swapcontext(&from.context, &to.context); }
static void prepare(Fiber &fiber) {
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack;
    fiber.context.uc_stack.ss_size = STACK_BYTES;
    makecontext(&fiber.context, (void (*)())enter, 0);
}
#endif
static void next_fiber() { change(fibers[current], host); }
static void resume(unsigned thread) {
    current = thread;
    threadIdx = fibers[thread].index;
    change(host, fibers[thread]);
}
"""

_SCHEDULE = """\
static void permute(unsigned *places, unsigned count) {
    for (unsigned k = 0; k < count; ++k) places[k] = order == 1 ? count - 1 - k : k;
    if (order < 2) return;
    for (unsigned k = count; k > 1; --k) {
        random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
        std::swap(places[k - 1], places[(random_state >> 33) % k]);
    }
}
static bool is_complete(unsigned thread) {
    const Fiber &fiber = fibers[thread];
    for (unsigned lane = 0; lane < 32; ++lane) {
        const unsigned other = (thread & ~31u) + lane;
        if (!(fiber.mask >> lane & 1) || other >= thread_count || fibers[other].state == ENDED) continue;
        const Fiber &peer = fibers[other];
        if (peer.state != AT_WARP || peer.mask != fiber.mask || peer.operation != fiber.operation) return false;
    }
    return true;
}
static bool release(unsigned base) {
    bool any = false;
    for (unsigned thread = base; thread < base + 32 && thread < thread_count; ++thread) {
        if (fibers[thread].state != AT_WARP || !is_complete(thread)) continue;
        const unsigned mask = fibers[thread].mask;
        for (unsigned lane = 0; lane < 32; ++lane) {
            if (!(mask >> lane & 1) || base + lane >= thread_count) continue;
            Fiber &peer = fibers[base + lane];
            exchanged[base + lane] = peer.state == AT_WARP ? peer.value : ~0ULL;
            if (peer.state == AT_WARP) peer.state = READY;
        }
        any = true;
    }
    return any;
}
static void run_warp(unsigned base) {
    unsigned lanes[32];
    const unsigned count = thread_count - base < 32 ? thread_count - base : 32;
    do {
        permute(lanes, count);
        for (unsigned k = 0; k < count; ++k)
            if (fibers[base + lanes[k]].state == READY) resume(base + lanes[k]);
    } while (release(base));
}
static unsigned count_of(FiberState state) {
    unsigned count = 0;
    for (unsigned thread = 0; thread < thread_count; ++thread) count += fibers[thread].state == state;
    return count;
}
static void give_up() {
    snprintf(failure, sizeof failure,
        "divergent barrier in block (%u, %u, %u): %u threads wait for the block, %u for their warp, %u have ended",
        blockIdx.x, blockIdx.y, blockIdx.z, count_of(AT_BARRIER), count_of(AT_WARP), count_of(ENDED));
    for (unsigned thread = 0; thread < thread_count; ++thread) prepare(fibers[thread]);
}
static void start_fibers() {
    for (unsigned thread = 0; thread < thread_count; ++thread) {
        Fiber &fiber = fibers[thread];
        if (!fiber.stack) {
            fiber.stack = (char *)mmap(nullptr, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
            prepare(fiber);
        }
        fiber.state = READY;
        fiber.index = {thread % blockDim.x, thread / blockDim.x % blockDim.y, thread / blockDim.x / blockDim.y};
    }
}
static void run_fibers() {
    unsigned warps[MOST_THREADS / 32];
    const unsigned count = (thread_count + 31) / 32;
    start_fibers();
    while (count_of(ENDED) != thread_count) {
        permute(warps, count);
        for (unsigned k = 0; k < count; ++k) run_warp(32 * warps[k]);
        if (count_of(ENDED) == thread_count) return;
        if (count_of(AT_BARRIER) != thread_count) return give_up();
        for (unsigned thread = 0; thread < thread_count; ++thread) fibers[thread].state = READY;
    }
}
static void run_loops() {
    for (unsigned thread = 0; thread < thread_count; ++thread) {
        const unsigned place = order ? thread_count - 1 - thread : thread;
        threadIdx = {place % blockDim.x, place / blockDim.x % blockDim.y, place / blockDim.x / blockDim.y};
        body(arguments_of_body);
    }
}
"""

_LAUNCH = """\
static bool is_possible(size_t shared) {
    const bool fits = thread_count && thread_count <= MOST_THREADS && blockDim.z <= 64 && shared <= SHARED_LIMIT;
    const bool is_grid = gridDim.x && gridDim.y && gridDim.z && gridDim.x <= 2147483647u;
    return fits && is_grid && gridDim.y <= 65535 && gridDim.z <= 65535;
}
static void run_block(bool synchronises, size_t shared) {
    memset(shared_memory, 0xFF, shared);
    memset(shared_memory + shared, 0x5A, GUARD_BYTES);
    synchronises ? run_fibers() : run_loops();
    for (size_t k = 0; k < GUARD_BYTES; ++k)
        if (shared_memory[shared + k] != 0x5A) snprintf(failure, sizeof failure, "a write behind shared memory");
}
static const char *launch(void (*run)(void **), void **arguments, const unsigned *shape, size_t shared, int chosen,
                          bool synchronises) {
    gridDim = {shape[0], shape[1], shape[2]};
    blockDim = {shape[3], shape[4], shape[5]};
    thread_count = blockDim.x * blockDim.y * blockDim.z;
    body = run, arguments_of_body = arguments, order = chosen, random_state = chosen, failure[0] = 0;
    if (!is_possible(shared)) return "the grid or the block is beyond what a device can do";
    const unsigned long long blocks = 1ULL * gridDim.x * gridDim.y * gridDim.z;
    for (unsigned long long k = 0; k < blocks && !failure[0]; ++k) {
        const unsigned long long block = order == 0 ? k : order == 1 ? blocks - 1 - k : (k + order) % blocks;
        blockIdx = {unsigned(block % gridDim.x), unsigned(block / gridDim.x % gridDim.y),
                    unsigned(block / gridDim.x / gridDim.y)};
        run_block(synchronises, shared);
    }
    return failure;
}
template <auto kernel, class... Parameters, size_t... places>
static void call(void (*)(Parameters...), std::index_sequence<places...>, void **arguments) {
    kernel(*(Parameters *)arguments[places]...);
}
template <auto kernel, class... Parameters> static void call(void (*self)(Parameters...), void **arguments) {
    call<kernel>(self, std::index_sequence_for<Parameters...>{}, arguments);
}
"""

_BUILTINS = """\
static unsigned long long *meet(unsigned operation, unsigned mask, unsigned long long value) {
    Fiber &fiber = fibers[current];
    fiber.mask = mask, fiber.operation = operation, fiber.value = value, fiber.state = AT_WARP;
    next_fiber();
    return exchanged + (current & ~31u);
}
template <class T> static T shuffled(unsigned mask, T value, int lane) {
    static_assert(sizeof(T) <= 8, "shuffles move at most 8 bytes");
    unsigned long long bits = 0;
    memcpy(&bits, &value, sizeof(T));
    const int own = current & 31;
    const int from = lane >= 0 && lane < 32 ? lane : own;
    const unsigned long long got = mask >> from & 1 ? meet(1, mask, bits)[from] : (meet(1, mask, bits), ~0ULL);
    memcpy(&value, &got, sizeof(T));
    return value;
}
static inline void __syncthreads() {
    fibers[current].state = AT_BARRIER;
    next_fiber();
}
static inline void __syncwarp(unsigned mask = 0xffffffffu) { meet(2, mask, 0); }
template <class T> static T __shfl_sync(unsigned mask, T value, int lane, int width = 32) {
    return shuffled(mask, value, (int(current & 31) & ~(width - 1)) + (lane & (width - 1)));
}
template <class T> static T __shfl_down_sync(unsigned mask, T value, unsigned distance) {
    return shuffled(mask, value, int(current & 31) + int(distance));
}
template <class T> static T __shfl_xor_sync(unsigned mask, T value, int bits) {
    return shuffled(mask, value, int(current & 31) ^ bits);
}
static inline void __threadfence() {}
template <class T> static T atomicAdd(T *place, T value) { T old = *place; *place = old + value; return old; }
template <class T> static T atomicExch(T *place, T value) { T old = *place; *place = value; return old; }
template <class T> static T atomicOr(T *place, T value) { T old = *place; *place = old | value; return old; }
static inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned(1ULL * a * b >> 32); }
"""

_KERNEL = re.compile(r"__global__ void (?:__launch_bounds__\([\d, ]+\) )?(\w+)\(")
_HEAD = re.compile(r"struct (?:__align__\(.*?\) )?(\w+) \{|(\w+)\(")
_WAITS = re.compile(r"\b__(?:sync|shfl)\w*")
_ENTRY = """\
extern "C" __attribute__((visibility("default"))) const char *emulated_{name}(void **arguments, const unsigned *shape,
                                                                          size_t shared, int order, int waits) {{
    return launch([](void **values) {{ call<&{name}>(&{name}, values); }}, arguments, shape, shared, order, waits);
}}
"""


def emulated_text(unit: str) -> str:
    """The whole C++ source for a unit; it exports `emulated_NAME(arguments, shape, shared, order, waits)`.

    arguments points to a pointer to each argument, shape is grid and block. The result is a message, empty where all
    went well.
    """
    head = _LANGUAGE + _FIBERS.replace("SHARED_LIMIT", str(SHARED_LIMIT)) + _SCHEDULE + _LAUNCH + _BUILTINS
    head = head.replace("SHARED_LIMIT", str(SHARED_LIMIT))
    return head + '#line 1 "unit.cu"\n' + unit + "".join(_ENTRY.format(name=name) for name in kernel_names(unit))


def kernel_names(unit: str) -> list[str]:
    """The kernels of a unit."""
    return _KERNEL.findall(unit)


def waiting_kernels(unit: str) -> frozenset[str]:
    """The kernels of a unit whose threads wait for each other, themselves or in a function that they call."""
    bodies: dict[str, str] = {}
    for text in _definitions(unit):
        found = _HEAD.search(re.sub(r"__launch_bounds__\([\d, ]+\)|^template <.*?> ", "", text))
        if found is not None:
            name = found[1] or found[2]
            bodies[name] = bodies.get(name, "") + text
    waiting = {name for name, text in bodies.items() if _WAITS.search(text)}
    words = {name: set(re.findall(r"\w+", text)) for name, text in bodies.items()}
    while True:
        more = {name for name in bodies if name not in waiting and words[name] & waiting}
        if not more:
            return frozenset(waiting.intersection(kernel_names(unit)))
        waiting |= more


def _definitions(unit: str) -> list[str]:
    """The text cut where a line begins with a word."""
    return re.split(r"^(?=[A-Za-z_])", unit, flags=re.MULTILINE)
