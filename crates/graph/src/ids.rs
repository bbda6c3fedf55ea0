//! Typed 32-bit indices, so that an op cannot be looked up in a table of tensors.

use std::fmt::Debug;
use std::hash::Hash;

/// A dense index of one kind of thing, numbered from 0. Made by [`define_id!`](crate::define_id).
pub trait Id: Copy + Eq + Ord + Hash + Debug + Send + Sync + 'static {
    /// The id with the given index.
    ///
    /// # Panics
    /// If the index does not fit in 32 bits; readers bound their sizes long before.
    fn new(index: usize) -> Self;
    /// The position in tables of this kind.
    fn index(self) -> usize;
}

/// Defines a 32-bit newtype that implements [`Id`].
#[macro_export]
macro_rules! define_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(transparent)]
        pub struct $name(pub u32);

        impl $crate::Id for $name {
            #[inline]
            fn new(index: usize) -> Self {
                Self(u32::try_from(index).expect("more than 2^32 ids of one kind"))
            }
            #[inline]
            fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}
