//! Large buffers that are used again: memory that is asked for anew costs as much as a pass over it, page by page.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};

/// Buffers that wait for their next use, at most.
const MOST: usize = 8;

thread_local! {
    static SPARE: RefCell<Vec<Vec<f32>>> = const { RefCell::new(vec![]) };
}

/// Values that go back to the thread's spare buffers when they are not needed any more.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buffer(Vec<f32>);

impl Buffer {
    /// So many values, whatever they are.
    pub(crate) fn of_anything(len: usize) -> Self {
        let spare = SPARE.with_borrow_mut(|spare| {
            let fits = |buffer: &Vec<f32>| buffer.capacity() >= len;
            let best = (0..spare.len()).filter(|&i| fits(&spare[i])).min_by_key(|&i| spare[i].capacity());
            best.map(|i| spare.swap_remove(i))
        });
        let mut values = spare.unwrap_or_else(|| Vec::with_capacity(len));
        values.resize(len, 0.0);
        Self(values)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let values = std::mem::take(&mut self.0);
        // At the end of a thread there is nowhere to keep it.
        _ = SPARE.try_with(|spare| match spare.try_borrow_mut() {
            Ok(mut spare) if values.capacity() > 0 => {
                spare.push(values);
                if spare.len() > MOST {
                    spare.remove(0);
                }
            }
            _ => {}
        });
    }
}

impl Deref for Buffer {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        &self.0
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [f32] {
        &mut self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_are_used_again() {
        let first = Buffer::of_anything(1000);
        let place = first.as_ptr();
        drop(first);
        let second = Buffer::of_anything(900);
        assert_eq!((second.len(), second.as_ptr()), (900, place));
        let third = Buffer::of_anything(10);
        assert_ne!(third.as_ptr(), place, "it is in use");
        let more: Vec<Buffer> = (0..20).map(|_| Buffer::of_anything(5)).collect();
        drop(more);
        assert_eq!(SPARE.with_borrow(Vec::len), MOST);
    }
}
