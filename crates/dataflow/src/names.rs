//! Many short strings in one allocation.

/// An append-only table of strings: 4 bytes of overhead an entry, so that a million ops keep their names cheaply.
#[derive(Clone, Debug, Default)]
pub struct Names {
    text: String,
    ends: Vec<u32>,
}

impl Names {
    /// Appends a name; it gets the next index. Names past 4 GiB in all are cut to nothing rather than refused.
    pub fn push(&mut self, name: &str) {
        if self.text.len() + name.len() <= u32::MAX as usize {
            self.text.push_str(name);
        }
        self.ends.push(self.text.len() as u32);
    }

    /// The name at `index`.
    pub fn get(&self, index: usize) -> &str {
        let start = if index == 0 { 0 } else { self.ends[index - 1] as usize };
        &self.text[start..self.ends[index] as usize]
    }

    /// Number of names.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Heap bytes held.
    pub fn heap_bytes(&self) -> usize {
        self.text.capacity() + self.ends.capacity() * size_of::<u32>()
    }
}

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn names_come_back() {
        let mut names = Names::default();
        for name in ["a", "", "long name"] {
            names.push(name);
        }
        assert_eq!((names.get(0), names.get(1), names.get(2), names.len()), ("a", "", "long name", 3));
    }
}
