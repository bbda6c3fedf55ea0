//! The attributes that costs depend on: lists of dimensions, windows, dimension labels.

/// The numbers of `{0,2}`; anything else in the list is left out.
pub(super) fn numbers(list: &str) -> impl Iterator<Item = u64> {
    list.trim_matches(['{', '}']).split(',').filter_map(|number| number.trim().parse().ok())
}

/// One dimension of `window={size=3x3 stride=2x2 pad=0_1x1_1 lhs_dilate=1x2 rhs_dilate=1x1}`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct WindowDim {
    pub(super) size: u64,
    pub(super) stride: u64,
    pub(super) pad_low: i64,
    /// Spacing put between elements of the input: a transposed convolution.
    pub(super) lhs_dilate: u64,
    /// Spacing put between elements of the window.
    pub(super) rhs_dilate: u64,
}

const PLAIN: WindowDim = WindowDim { size: 1, stride: 1, pad_low: 0, lhs_dilate: 1, rhs_dilate: 1 };

/// The dimensions of a `window` attribute; unknown keys are left out.
pub(super) fn window(value: &str) -> Vec<WindowDim> {
    let mut dims: Vec<WindowDim> = vec![];
    for (key, list) in value.trim_matches(['{', '}']).split_whitespace().filter_map(|pair| pair.split_once('=')) {
        for (i, number) in list.split('x').enumerate() {
            if i == dims.len() {
                dims.push(PLAIN);
            }
            set_window(&mut dims[i], key, number);
        }
    }
    dims
}

fn set_window(dim: &mut WindowDim, key: &str, number: &str) {
    let positive = number.parse().unwrap_or(1).max(1);
    match key {
        "size" => dim.size = number.parse().unwrap_or(1),
        "stride" => dim.stride = positive,
        "lhs_dilate" => dim.lhs_dilate = positive,
        "rhs_dilate" => dim.rhs_dilate = positive,
        "pad" => dim.pad_low = number.split('_').next().and_then(|low| low.parse().ok()).unwrap_or(0),
        _ => {}
    }
}

/// Where each label of `b01f_01io->b01f` stands: positions in input, kernel and output.
pub(super) struct DimLabels<'a> {
    input: &'a str,
    kernel: &'a str,
    output: &'a str,
}

impl<'a> DimLabels<'a> {
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let (inputs, output) = text.split_once("->")?;
        let (input, kernel) = inputs.split_once('_')?;
        Some(Self { input, kernel, output })
    }

    /// Position of the kernel's input features.
    pub(super) fn kernel_input_feature(&self) -> Option<usize> {
        self.kernel.find('i')
    }

    /// Positions of spatial dimension `number` in input and output.
    pub(super) fn spatial(&self, number: usize) -> Option<(usize, usize)> {
        let label = char::from_digit(u32::try_from(number).ok()?, 10)?;
        Some((self.input.find(label)?, self.output.find(label)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_read() {
        assert_eq!(numbers("{1, 20}").collect::<Vec<_>>(), [1, 20]);
        assert_eq!(numbers("{}").count(), 0);
        let dims = window("{size=3x5 stride=2x1 pad=1_0x-2_3 lhs_dilate=1x2 rhs_reversal=1x1}");
        assert_eq!(dims[0], WindowDim { size: 3, stride: 2, pad_low: 1, ..PLAIN });
        assert_eq!(dims[1], WindowDim { size: 5, pad_low: -2, lhs_dilate: 2, ..PLAIN });
        let labels = DimLabels::parse("b01f_01io->bf01").unwrap();
        assert_eq!((labels.kernel_input_feature(), labels.spatial(1)), (Some(2), Some((2, 3))));
        assert!(DimLabels::parse("b01f").is_none());
    }
}
