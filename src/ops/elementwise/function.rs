//! The functions of elements, with the operands and the result of each.

use super::kind::Kind;
use crate::ops::table::function_rows;
use std::fmt;

/// Generates the enum from the rows, and the properties of each function other than its texts and definitions.
macro_rules! define {
    ($y:ident $g:ident: $(
        #[$doc:meta] $(#[$more:meta])*
        $variant:ident: $name:ident($($operand:ident),+) takes $takes:ident, within [$units:literal $(, $floor:expr)?],
        wgsl [$($from:ident -> $to:ident: $text:expr),+],
        value $value:tt integers $integers:tt gradients $gradients:tt;
    )*) => {
        /// A function of elements.
        ///
        /// Reals are computed in f32, integers in i32. Integers that overflow wrap. The functions of [`ops`](crate::ops) with the
        /// names of the variants apply one to tensors; [`map`](crate::ops::map) combines several.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Function {
            $(#[$doc] $variant,)*
        }

        impl Function {
            /// Every function.
            pub const ALL: [Self; ROWS.len()] = [$(Self::$variant),*];
        }

        /// The rows in the order of the variants.
        const ROWS: &[Row] = &[$(Row {
            name: stringify!($name),
            operands: [$(stringify!($operand)),+].len(),
            takes: stringify!($takes),
            units: $units,
            kinds: &[$((Kind::$from, Kind::$to)),+],
        }),*];
    };
}

struct Row {
    name: &'static str,
    operands: usize,
    takes: &'static str,
    units: u8,
    /// The kinds of operands, and what the result is for each.
    kinds: &'static [(Kind, Kind)],
}

function_rows!(define);

impl Function {
    fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// The name of the function in [`ops`](crate::ops).
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The number of operands.
    #[must_use]
    pub fn operands(self) -> usize {
        self.row().operands
    }

    /// The elements that the function of tensors takes, in the word of the row.
    pub(crate) fn takes(self) -> &'static str {
        self.row().takes
    }

    /// The largest error of a real result, in $u = 2^{-23}$ of it.
    pub(crate) fn units(self) -> u8 {
        self.row().units
    }

    /// The number of masks; they are the first operands.
    pub(super) fn masks(self) -> usize {
        let is_of_masks = self.row().kinds == [(Kind::Mask, Kind::Mask)];
        if is_of_masks { self.operands() } else { usize::from(self == Self::Select) }
    }

    /// The kind of the result for operands of these kinds; None if there is no such function.
    pub(super) fn result(self, operands: &[Kind]) -> Option<Kind> {
        // An integer in the place of a mask is set unless it is 0.
        let is_set = |at: usize, kind: Kind| at < self.masks() && kind == Kind::Integer;
        let kinds = operands.iter().enumerate();
        let kinds: Vec<Kind> =
            kinds.map(|(at, &kind)| if is_set(at, kind) { Kind::Mask } else { kind }).collect();
        let (&last, others) = kinds.split_last()?;
        let is_right =
            |at: usize, kind: Kind| if at < self.masks() { kind == Kind::Mask } else { kind == last };
        let are_right = others.iter().enumerate().all(|(at, &kind)| is_right(at, kind));
        if kinds.len() != self.operands() || !are_right {
            return None;
        }
        self.row().kinds.iter().find(|(from, _)| *from == last).map(|(_, to)| *to)
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
