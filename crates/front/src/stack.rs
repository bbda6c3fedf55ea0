//! Recursion without stack overflow.

/// Bytes of stack that one step of a recursion may need, debug builds included.
const RED_ZONE: usize = 256 << 10;
/// Bytes that the stack grows by.
const SEGMENT: usize = 4 << 20;
/// Bytes of stack for dropping a tree, for each byte of the program that it was made of.
const FOR_EACH_BYTE: usize = 512;

/// Calls `step` on a stack that is large enough. Every function that recurses over a program goes through this.
pub(crate) fn grow<T>(step: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(RED_ZONE, SEGMENT, step)
}

/// Calls `work` on a stack on which the trees of a program of so many bytes can be dropped, however deep they are.
pub(crate) fn enough_for<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(RED_ZONE + bytes * FOR_EACH_BYTE, SEGMENT + bytes * FOR_EACH_BYTE, work)
}
