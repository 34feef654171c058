//! A product with windows of an image as the rows of A, or of B.

use super::gemm::GemmProblem;
use super::generated::{
    Generated, ImageWindows, MAX_PLANES_APART, MAX_ROWS_OF_B, MAX_TAP_LINES, MAX_WINDOW, PlacedWindows,
    Volumes, WindowB,
};
use super::layouts::{Layouts, MatrixLayout};
use super::types::{GemmTypes, OP, Side};
use crate::layout::{Layout, dim};
use crate::{Error, Result};

impl GemmProblem {
    /// The product of `windows` of an image (image, plane, line, column, channel) of any strides, in the order of image, plane, down,
    /// across, and a matrix, stored in `c`. The image is the operand on the windows' side: `a` or `b`.
    ///
    /// If the rows of A are windows of one group, `b` has the axes (element of a window, n) for [`WindowB::Lines`], and (tap plane, tap
    /// line, tap column, channel, n) for [`WindowB::Taps`]. If those of B are, `a` has the axes (m, window). `c` has the axes (m, n), or (batch,
    /// batch, m, n), whose matrices have one window after another.
    ///
    /// With groups of channels, `b` has the axes (group, element of a window, n), or (tap plane, tap line, tap column, channel, n) with the channels
    /// or with the columns of all groups; `a` has the axes (group, m, window) if the rows of B are windows. `c` has the axes (group, m, n)
    /// or (batch, group, m, n). Vectors of the epilogue have an element for each column of all groups.
    ///
    /// # Errors
    /// [`Error::Limit`] if a size is $2^{31}$ or more, a window has more than [`MAX_WINDOW`] elements, one of a volume more than
    /// [`MAX_TAP_LINES`] lines of taps or planes that are more than [`MAX_PLANES_APART`] apart, or B more than [`MAX_ROWS_OF_B`] rows that
    /// are windows.
    pub(crate) fn of_windows(
        [a, b]: [&Layout; 2],
        windows: ImageWindows,
        c: &Layout,
        types: GemmTypes,
    ) -> Result<Self> {
        let image = if windows.side() == Side::A { a } else { b };
        let [planes, channels] = [1, 4].map(|axis| image.shape()[axis]);
        let taps = |of: &[u32]| of.iter().copied().map(u64::from).product::<u64>();
        let elements = taps(&windows.taps).saturating_mul((channels / windows.groups as usize) as u64);
        Error::check_limit(OP, "elements of a window", elements, MAX_WINDOW)?;
        if windows.side() == Side::B {
            Error::check_limit(OP, "windows along k", a.shape()[a.rank() - 1] as u64, MAX_ROWS_OF_B)?;
        }
        let is_flat = windows.are_flat(planes);
        let volumes = if is_flat {
            None
        } else {
            Error::check_limit(OP, "lines of taps of a window", taps(&windows.taps[..2]), MAX_TAP_LINES)?;
            let apart = windows.steps[0].max(windows.dilation[0].unsigned_abs());
            Error::check_limit(OP, "a stride or dilation along the depth", apart.into(), MAX_PLANES_APART)?;
            let first =
                |of: &Layout| -> Result<[u32; 2]> { Ok([dim(OP, of.shape()[0])?, dim(OP, of.step(0))?]) };
            let has_taps = windows.side() == Side::A && b.rank() == 5;
            Some(Volumes { images: first(image)?, planes_of_b: if has_taps { first(b)? } else { [1, 0] } })
        };
        // Of five axes, images leave out that of their plane, and volumes and taps the first, which `volumes` has.
        let of_image = usize::from(is_flat);
        let left_out = if windows.side() == Side::A { [of_image, 0] } else { [0, of_image] };
        let four = |of: &Layout, axis| if of.rank() == 5 { of.without_axis(axis) } else { *of };
        let [a, b] = [four(a, left_out[0]), four(b, left_out[1])];
        // An operand of four axes has no batch: all of its indices count.
        let [a, b] = [a, b].map(|of| MatrixLayout::of(&of, types.ab, if of.rank() == 4 { 0 } else { 2 }));
        let layouts = Layouts { a: a?, b: b?, c: MatrixLayout::of_output(c, types.c)?, extras: [None; 4] };
        Ok(Self::of(layouts, types, Some(Generated::Windows(PlacedWindows { of: windows, volumes }))))
    }

    /// The groups of channels, of which each matrix along the second axis of the batch has one; 1 if there are none.
    pub(in crate::gemm) fn groups(&self) -> u32 {
        self.windows().map_or(1, |windows| windows.of.groups)
    }

    /// Whether the matrices of the batch are groups of a convolution's channels: the image and the vectors of the epilogue go on
    /// from one to the next.
    pub(in crate::gemm) fn has_groups(&self) -> bool {
        self.groups() > 1
    }

    /// The elements of a vector of the epilogue along the columns.
    pub(super) fn columns(&self) -> u32 {
        self.n() * self.groups()
    }

    /// The windows of the image, if the rows of an operand are windows.
    pub(in crate::gemm) fn windows(&self) -> Option<PlacedWindows> {
        match self.generated {
            Some(Generated::Windows(windows)) => Some(windows),
            _ => None,
        }
    }

    /// The volumes whose windows are rows of an operand.
    pub(in crate::gemm) fn volumes(&self) -> Option<Volumes> {
        self.windows().and_then(|windows| windows.volumes)
    }

    /// How the operand B of a product with windows is read. None if there are no windows.
    pub(in crate::gemm) fn window_b(&self) -> Option<WindowB> {
        self.windows().map(|windows| windows.of.b)
    }

    /// From a group of the operand without windows to the next; 0 if there are no groups.
    pub(in crate::gemm) fn group_stride(&self) -> u32 {
        let (a, b) = (&self.layouts.a, &self.layouts.b);
        match self.window_b().filter(|_| self.has_groups()) {
            None => 0,
            Some(WindowB::Lines) => b.strides[1],
            Some(WindowB::Windows) => a.strides[1],
            // The axis that goes on from group to group is that of the channels, or that of the columns.
            Some(WindowB::Taps) if b.shape[2] == a.shape[3] => b.shape[2] / self.groups() * b.strides[2],
            Some(WindowB::Taps) => self.n() * b.strides[3],
        }
    }
}
