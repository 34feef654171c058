//! The uniforms of matrix-product shaders: sizes, strides and offsets, in elements (`shaders/gemm/gemm_dims.wgsl`), derived from
//! the layouts of the operands.

use super::gemm::GemmProblem;
use super::generated::{Generated, PlacedWindows, Volumes, WindowB};
use super::layouts::{BIAS, LINE_SCALES, Layouts, MatrixLayout, RESIDUAL};
use super::segments::Segments;
use super::types::Side;
use crate::kernel::shader_dims;

/// Declares the uniform of a product: the members of all, four in the places of batch strides, and those at the end.
macro_rules! product_dims {
    ($(#[$attribute:meta])* $name:ident { $($of_a:tt)* } { $($of_b:tt)* } { $($end:tt)* }) => {
        shader_dims! {
            $(#[$attribute])*
            pub struct $name {
                m: u32,
                n: u32,
                k: u32,
                /// length of a split of k: k, or a multiple of 32
                k_per_split: u32,
                /// matrices of the batch
                batches: u32,
                /// extent of its axis 1
                batch1: u32,
                /// splits of k, each summed into a matrix of its own
                splits: u32,
                /// stride of A along m
                a_outer: u32,
                /// stride of A along k
                a_k: u32,
                /// first element of A in its binding
                a_offset: u32,
                $($of_a)*
                /// stride of B along n
                b_outer: u32,
                /// stride of B along k
                b_k: u32,
                b_offset: u32,
                $($of_b)*
                /// stride of C along m; along n it is 1
                ldc: u32,
                c_offset: u32,
                c_batch0: u32,
                c_batch1: u32,
                alpha: u32 as f32,
                beta: u32 as f32,
                /// strides of the bias along m and n
                bias_row: u32,
                bias_col: u32,
                bias_offset: u32,
                residual_row: u32,
                residual_col: u32,
                residual_offset: u32,
                residual_batch0: u32,
                residual_batch1: u32,
                $($end)*
            }
        }
    };
}

product_dims! {
    /// The uniform of a product whose operands are both stored.
    GemmDims
    { a_batch0: u32, a_batch1: u32, }
    { b_batch0: u32, b_batch1: u32, }
    {
        /// length of a row of A and of a column of B, if they are scaled
        scaled_row: u32,
    }
}

product_dims! {
    /// The uniform of a product whose rows or columns of sums have scales, or whose result is i8.
    QuantisedDims
    { a_batch0: u32, a_batch1: u32, }
    { b_batch0: u32, b_batch1: u32, }
    {
        /// the bits of an f32: the divisor of results of i8
        out_scale: u32,
        /// strides of the scales of rows and columns
        row_scale_step: u32,
        row_scale_offset: u32,
        column_scale_step: u32,
        column_scale_offset: u32,
    }
}

product_dims! {
    /// The uniform of a product with a generated operand, or half of one. It has no batch.
    SeededDims
    {
        /// the words of the seed, or their places in the tensor that holds it
        seed_low: u32,
        seed_high: u32,
    }
    {
        /// of the stored operand
        stored_batch0: u32,
        stored_batch1: u32,
    }
    {
        /// length of a row of A and of a column of B, if they are scaled
        scaled_row: u32,
    }
}

product_dims! {
    /// The uniform of a product with windows of an image. The operand whose rows they are has the strides of the image's columns
    /// along its rows, and those of its channels along its columns.
    WindowDims
    {
        /// strides of the image along images and lines
        image_stride: u32,
        line_stride: u32,
    }
    {
        /// strides of B along the lines and the columns of taps, if the rows of A are windows
        b_tap_line: u32,
        b_tap_column: u32,
    }
    {
        /// as in [`QuantisedDims`]
        out_scale: u32,
        row_scale_step: u32,
        row_scale_offset: u32,
        column_scale_step: u32,
        column_scale_offset: u32,
        /// lines of an image
        height: u32,
        /// columns of an image
        width: u32,
        /// that a window reads
        channels: u32,
        /// windows down an image
        windows_down: u32,
        windows_across: u32,
        /// lines from a window to the next
        step_down: u32,
        step_across: u32,
        /// taps across a window
        taps_across: u32,
        /// lines from a tap to the next
        dilation_down: u32 as i32,
        dilation_across: u32 as i32,
        /// lines above the image at which the first window begins
        before_down: u32 as i32,
        before_across: u32 as i32,
        /// the reciprocals of the channels and of the taps across
        per_channel: u32 as f32,
        per_tap: u32 as f32,
        /// the reciprocals of the windows down and across
        per_down: u32 as f32,
        per_across: u32 as f32,
        /// of volumes: the stride of planes, and that of B along the planes of taps, if the rows of A are windows
        plane_stride: u32,
        b_tap_plane: u32,
        /// planes of a volume
        depth: u32,
        windows_deep: u32,
        taps_down: u32,
        /// planes from a window to the next, and in the upper 16 bits, with a sign, from a tap to the next
        deep_steps: u32,
        /// planes before the volume at which the first window begins
        before_deep: u32 as i32,
        /// stride of the operand without windows from a group to the next
        group_stride: u32,
    }
}

shader_dims! {
    /// The uniform of a product that is summed over segments of k.
    pub struct SegmentDims {
        m: u32,
        n: u32,
        /// of the matrix with the most segments, including padding
        k: u32,
        /// length of a split of k: k, or a multiple of 32
        k_per_split: u32,
        /// matrices
        batches: u32,
        /// splits of k, each summed into a matrix of its own
        splits: u32,
        /// distance between segments along k: a multiple of 32
        segment_step: u32,
        /// length of a segment along k, without padding
        segment_length: u32,
        a_outer: u32,
        a_k: u32,
        /// first element of the first plane in its binding
        a_offset: u32,
        /// stride of planes
        a_plane: u32,
        b_outer: u32,
        b_k: u32,
        b_offset: u32,
        b_plane: u32,
        /// of the right factor of A's planes, if they are products
        y_outer: u32,
        y_k: u32,
        y_offset: u32,
        y_plane: u32,
        /// of the plane of gates that multiplies these products, if there is one
        gates_outer: u32,
        gates_k: u32,
        /// stride of C along m; along n it is 1
        ldc: u32,
        reserved: u32,
    }
}

impl GemmProblem {
    /// Sizes and strides, as the shaders receive them. Alpha is 1 and beta 0, unless a call passes them.
    #[must_use]
    pub fn dims(&self) -> GemmDims {
        let Layouts { a, b, c, extras } = &self.layouts;
        // Segments step along planes by the table.
        let of_batch = |[batch0, batch1, ..]: [u32; 4]| match self.generated {
            Some(Generated::Segments(_)) => [0; 2],
            _ => [batch0, batch1],
        };
        let ([.., a_outer, a_k], [.., b_k, b_outer]) = (a.strides, b.strides);
        let ([a_batch0, a_batch1], [b_batch0, b_batch1]) = (of_batch(a.strides), of_batch(b.strides));
        let [c_batch0, c_batch1, ldc, _] = c.strides;
        let extra = |at: usize| extras[at].map_or(([0; 4], 0), |of| (of.strides, of.offset));
        let ([.., bias_row, bias_col], bias_offset) = extra(BIAS);
        let (of_residual, residual_offset) = extra(RESIDUAL);
        let [residual_batch0, residual_batch1, residual_row, residual_col] = of_residual;
        GemmDims {
            m: self.m(),
            n: self.n(),
            k: self.k(),
            k_per_split: self.k_per_split(),
            batches: self.batches(),
            batch1: c.shape[1],
            splits: self.splits.unwrap_or(1),
            a_outer,
            a_k,
            a_offset: a.offset,
            a_batch0,
            a_batch1,
            b_outer,
            b_k,
            b_offset: b.offset,
            b_batch0,
            b_batch1,
            ldc,
            c_offset: c.offset,
            c_batch0,
            c_batch1,
            alpha: 1f32.to_bits(),
            beta: 0,
            bias_row,
            bias_col,
            bias_offset,
            residual_row,
            residual_col,
            residual_offset,
            residual_batch0,
            residual_batch1,
            scaled_row: self.scaled_row,
        }
    }

    /// These dims, and the strides and offsets of the scales of rows and columns.
    pub(in crate::gemm) fn quantised_dims(&self, dims: &GemmDims) -> QuantisedDims {
        // Along the other axis a vector has one index, of stride 0.
        let scale = |at: usize| {
            let of = self.layouts.extras[LINE_SCALES + at];
            of.map_or([0; 2], |of| [of.strides[2] + of.strides[3], of.offset])
        };
        let ([row_scale_step, row_scale_offset], [column_scale_step, column_scale_offset]) =
            (scale(0), scale(1));
        let uniform: QuantisedDims = beginning_with(dims, size_of::<GemmDims>());
        QuantisedDims {
            out_scale: 1f32.to_bits(),
            row_scale_step,
            row_scale_offset,
            column_scale_step,
            column_scale_offset,
            ..uniform
        }
    }

    /// The dims of a product with these windows.
    pub(in crate::gemm) fn window_dims(&self, PlacedWindows { of, volumes }: &PlacedWindows) -> WindowDims {
        let image = if of.side() == Side::A { &self.layouts.a } else { &self.layouts.b };
        let [_, height, width, channels] = image.shape;
        let channels = channels / of.groups;
        let dims = self.quantised_dims(&self.dims());
        let reciprocal = |of: u32| (1.0 / of.max(1) as f32).to_bits();
        let of_b = &self.layouts.b.strides;
        let [_, taps_down, taps_across] = of.taps;
        let [b_tap_plane, b_tap_line, b_tap_column] = match of.b {
            WindowB::Lines => {
                let column = channels * of_b[2];
                [taps_down * taps_across * column, taps_across * column, column]
            }
            WindowB::Taps => [volumes.map_or(0, |of| of.planes_of_b[1]), of_b[0], of_b[1]],
            WindowB::Windows => [0; 3],
        };
        let [image_stride, plane_stride, depth] = match volumes {
            Some(Volumes { images, .. }) => [images[1], image.strides[0], image.shape[0]],
            None => [image.strides[0], 0, 1],
        };
        let [dilation_deep, dilation_down, dilation_across] = of.dilation.map(i32::cast_unsigned);
        let [before_deep, before_down, before_across] = of.before.map(i32::cast_unsigned);
        let [windows_deep, windows_down, windows_across] = of.windows;
        let [step_deep, step_down, step_across] = of.steps;
        WindowDims {
            image_stride,
            line_stride: image.strides[1],
            b_tap_line,
            b_tap_column,
            height,
            width,
            channels,
            windows_down,
            windows_across,
            step_down,
            step_across,
            taps_across,
            dilation_down,
            dilation_across,
            before_down,
            before_across,
            per_channel: reciprocal(channels),
            per_tap: reciprocal(taps_across),
            per_down: reciprocal(windows_down),
            per_across: reciprocal(windows_across),
            plane_stride,
            b_tap_plane,
            depth,
            windows_deep,
            taps_down,
            deep_steps: dilation_deep << 16 | step_deep & 0xffff,
            before_deep,
            group_stride: self.group_stride(),
            ..beginning_with(&dims, size_of::<QuantisedDims>())
        }
    }

    /// The dims of a product over these segments.
    pub(in crate::gemm) fn segment_dims(&self, segments: &Segments) -> SegmentDims {
        let GemmDims { m, n, k, k_per_split, batches, splits, ldc, .. } = self.dims();
        let Segments { y, gates, step, length, .. } = segments;
        let of = |of: &MatrixLayout| [of.offset, of.strides[1], of.strides[2], of.strides[3]];
        let [a_offset, a_plane, a_outer, a_k] = of(&self.layouts.a);
        let [b_offset, b_plane, b_k, b_outer] = of(&self.layouts.b);
        let [y_offset, y_plane, y_outer, y_k] = of(&y.unwrap_or_default());
        let [.., gates_outer, gates_k] = of(&gates.unwrap_or_default());
        SegmentDims {
            m,
            n,
            k,
            k_per_split,
            batches,
            splits,
            segment_step: *step,
            segment_length: *length,
            a_outer,
            a_k,
            a_offset,
            a_plane,
            b_outer,
            b_k,
            b_offset,
            b_plane,
            y_outer,
            y_k,
            y_offset,
            y_plane,
            gates_outer,
            gates_k,
            ldc,
            reserved: 0,
        }
    }
}

/// A uniform whose first bytes are those of another.
fn beginning_with<D: Default + bytemuck::Pod>(dims: &impl bytemuck::Pod, bytes: usize) -> D {
    let mut uniform = D::default();
    bytemuck::bytes_of_mut(&mut uniform)[..bytes].copy_from_slice(&bytemuck::bytes_of(dims)[..bytes]);
    uniform
}
