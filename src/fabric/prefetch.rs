//! Hints to the processor: a row that will be needed soon.
//!
//! Cost: one or two instructions; nothing on processors whose hint stable Rust does not offer.

/// The cache line of a row.
const LINE: usize = 64;

/// Asks for the cache line in which a row begins, and where its size is not that of a part of a line for the one in which it ends, or
/// the second.
#[inline(always)]
pub fn prefetch<T>(row: &T) {
    let start = std::ptr::from_ref(row).cast::<i8>();
    line(start);
    if !LINE.is_multiple_of(size_of::<T>().max(1)) {
        line(start.wrapping_add((size_of::<T>() - 1).min(LINE)));
    }
}

#[inline(always)]
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "the hint is an intrinsic")]
fn line(address: *const i8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a hint reads and writes nothing and faults at no address.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(address) }
}

#[inline(always)]
#[cfg(not(target_arch = "x86_64"))]
fn line(_address: *const i8) {}
