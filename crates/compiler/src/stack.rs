//! Recursion without stack overflow: the one way of this crate.

/// Bytes of stack that one step of a recursion may need, debug builds included.
const RED_ZONE: usize = 256 << 10;
/// Bytes that the stack grows by.
const SEGMENT: usize = 4 << 20;

/// Calls `step` on a stack that is large enough. Every function that recurses over a program goes through this, so that the depth of
/// a program is limited by memory only.
pub(crate) fn grow<T>(step: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(RED_ZONE, SEGMENT, step)
}
