//! What an expression of a shader is worth: a whole number as 64 bits hold it, or not known.

use std::rc::Rc;

/// A value. Numbers are what the arithmetic gives without wrapping.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// Not known: it depends on what memory holds, or is a float.
    Unknown,
    U(i64),
    I(i64),
    B(bool),
    /// A vector, an array or a struct.
    Many(Rc<Vec<Value>>),
    At(Place),
}

/// Where a pointer points.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Place {
    pub(crate) root: Root,
    /// Indices from the root on; None is one that is not known.
    pub(crate) path: Vec<Option<i64>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Root {
    /// A variable of the function that was called so deep.
    Local(usize, usize),
    /// A variable of the module.
    Global(naga::Handle<naga::GlobalVariable>),
}

impl Value {
    pub(crate) fn many(values: impl IntoIterator<Item = Self>) -> Self {
        Self::Many(Rc::new(values.into_iter().collect()))
    }

    /// Whether 32 bits do not hold a number.
    pub(crate) fn is_beyond(&self) -> bool {
        match *self {
            Self::U(n) => u32::try_from(n).is_err(),
            Self::I(n) => i32::try_from(n).is_err(),
            _ => false,
        }
    }

    /// As 32 bits hold it.
    pub(crate) fn wrapped(self) -> Self {
        match self {
            Self::U(n) => Self::U(n & 0xffff_ffff),
            Self::I(n) => Self::I(signed(n)),
            other => other,
        }
    }

    /// A part of it, if there is such a one.
    pub(crate) fn part(&self, index: usize) -> Option<Self> {
        match self {
            Self::Many(values) => values.get(index).cloned(),
            _ => Some(Self::Unknown),
        }
    }

    /// Its numbers, one behind another, if all are known.
    pub(crate) fn numbers(&self, to: &mut Vec<i64>) -> bool {
        match self {
            Self::U(n) | Self::I(n) => to.push(*n),
            Self::B(b) => to.push((*b).into()),
            Self::Many(parts) => return parts.iter().all(|part| part.numbers(to)),
            Self::Unknown | Self::At(_) => return false,
        }
        true
    }

    /// What is known of a value that is one or the other.
    pub(crate) fn or(self, other: &Self) -> Self {
        if self == *other {
            return self;
        }
        match (&self, other) {
            (Self::Many(a), Self::Many(b)) if a.len() == b.len() => {
                Self::many(a.iter().zip(b.iter()).map(|(a, b)| a.clone().or(b)))
            }
            _ => Self::Unknown,
        }
    }

    /// The value at the start of the turn of a loop that is `n` turns behind the one that starts with `now`, if it steps
    /// evenly or goes to and fro.
    pub(crate) fn behind([before, last, now]: [&Self; 3], n: i64) -> Self {
        if now == last {
            return now.clone();
        }
        let step = |a: i64, b: i64, c: i64| match (b.wrapping_sub(a), c.wrapping_sub(b)) {
            (x, y) if x == y => c.checked_add(n.checked_mul(y)?),
            _ if a == c => Some(if n % 2 == 0 { c } else { b }),
            _ => None,
        };
        match (before, last, now) {
            (&Self::U(a), &Self::U(b), &Self::U(c)) => step(a, b, c).map_or(Self::Unknown, Self::U),
            (&Self::I(a), &Self::I(b), &Self::I(c)) => step(a, b, c).map_or(Self::Unknown, Self::I),
            (Self::Many(a), Self::Many(b), Self::Many(c)) if a.len() == c.len() && b.len() == c.len() => {
                let parts: Vec<Self> = (0..c.len()).map(|i| Self::behind([&a[i], &b[i], &c[i]], n)).collect();
                // An element that some turn has set may be set by any: nothing is known of the array.
                let lost =
                    parts.iter().zip(c.iter()).any(|(part, now)| *part == Self::Unknown && part != now);
                if lost { Self::Unknown } else { Self::many(parts) }
            }
            _ => Self::Unknown,
        }
    }
}

/// The i32 with the low 32 bits of a number.
pub(crate) fn signed(n: i64) -> i64 {
    let low = n & 0xffff_ffff;
    if low >= 1 << 31 { low - (1 << 32) } else { low }
}
