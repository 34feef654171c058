//! Options of poolings and interpolations: plain data.

/// What happens at the end of an axis whose last elements fill no whole window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PoolRounding {
    /// These elements are in no window.
    #[default]
    Floor,
    /// They are in a window that reaches beyond the padding, if that window begins within the elements or the padding before
    /// them: `ceil_mode` of `PyTorch`.
    Ceil,
}

impl PoolRounding {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Floor, Self::Ceil];
}

/// The number by which the sum of a window is divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PoolDivisor {
    /// The number of its elements, with those in the padding, but without those beyond the padding
    /// ([`PoolRounding::Ceil`]): `count_include_pad` of `PyTorch`.
    #[default]
    WithPadding,
    /// The number of its elements, without those in the padding.
    WithoutPadding,
}

impl PoolDivisor {
    /// Both.
    pub const ALL: [Self; 2] = [Self::WithPadding, Self::WithoutPadding];
}

/// The elements of padding around an image: of `[1, 2]` one above and one below, and two on the left and two on the right; of
/// `[(0, 1), (2, 3)]` none above, one below, two on the left and three on the right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PoolPadding(pub(super) [(usize, usize); 2]);

impl From<[usize; 2]> for PoolPadding {
    fn from(sides: [usize; 2]) -> Self {
        Self(sides.map(|side| (side, side)))
    }
}

impl From<[(usize, usize); 2]> for PoolPadding {
    fn from(sides: [(usize, usize); 2]) -> Self {
        Self(sides)
    }
}

/// How an image gets another size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Interpolation {
    /// Pixel i of n takes pixel $\lfloor i m / n \rfloor$ of m along each axis: `nearest` of `PyTorch`, with exact integers.
    Nearest,
    /// The weighted mean of the two pixels around a position along each axis.
    Bilinear(Corners),
}

impl Interpolation {
    /// All.
    pub const ALL: [Self; 3] =
        [Self::Nearest, Self::Bilinear(Corners::HalfPixel), Self::Bilinear(Corners::Aligned)];
}

/// Which positions of two images of different sizes are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Corners {
    /// The outer edges of the corner pixels: pixel i of n is at $(i + 1/2) m / n - 1/2$ of m, at least 0. `PyTorch` calls it
    /// `align_corners=False`.
    HalfPixel,
    /// The centres of the corner pixels: pixel i of n is at $i (m - 1) / (n - 1)$ of m, and a single one at 0. `PyTorch` calls it
    /// `align_corners=True`.
    Aligned,
}
