//! The buffers that a product binds, and their sizes: operands, C, the epilogue's buffers, and the sums of the parts of k.

use super::epilogue::{Epilogue, Scale};
use super::generated::Made;
use super::halves::Side;
use super::problem::{GemmProblem, Split};
use super::reduce;
use super::segments::{Formed, Gated};
use crate::gpu::Caps;
use crate::kernel;
use crate::tensor::DType;

impl GemmProblem {
    /// The number of storage bindings for A, B and C, and for what generated operands are made from.
    pub(super) fn bindings(&self) -> u32 {
        let made = match self.made {
            Some(Made::Segments(segments)) => match segments.formed {
                Formed::InMemory => 1, // the table
                Formed::Products(Gated::No) => 2,
                Formed::Products(Gated::Yes) => 3,
            },
            _ => 0,
        };
        3 + made
    }

    /// The number of storage bindings for the epilogue: bias, residual, exponents of both operands, cross terms.
    pub(super) fn extras(&self) -> u32 {
        let Epilogue { scale, bias, residual, .. } = self.epilogue;
        let scaled = match scale {
            Scale::One | Scale::Alpha => 0,
            Scale::Back => 2,
            Scale::BackWithCross => 3,
        };
        u32::from(bias.is_some()) + u32::from(residual.is_some()) + scaled
    }

    /// Whether a second launch applies the epilogue, because one kernel would need more bindings than the device has.
    pub(super) fn stores_apart(&self, caps: &Caps) -> bool {
        self.extras() > 0 && self.bindings() + self.extras() > caps.limits.storage_bindings
    }

    /// The number of elements and the type of every buffer that is bound, except the sums of parts.
    pub(super) fn bound(&self) -> impl Iterator<Item = (u64, DType)> {
        let [mut a, mut b, c] = self.binding_elements();
        let [mut type_a, mut type_b, type_c] = self.types.of_operands();
        for (side, elements, dtype) in [(Side::A, &mut a, &mut type_a), (Side::B, &mut b, &mut type_b)] {
            if let Some(generated) = self.generated_at(side) {
                (*elements, *dtype) = (generated.entries.table_words(), DType::I32);
            }
        }
        [(a, type_a), (b, type_b), (c, type_c)].into_iter().chain(self.bound_extras().into_iter().flatten())
    }

    /// The same of the epilogue's buffers, up to the last element that is used.
    fn bound_extras(&self) -> [Option<(u64, DType)>; 5] {
        let Epilogue { scale, bias, residual, .. } = self.epilogue;
        let d = &self.dims;
        let last = |offset: u32, steps: [(u32, u32); 4]| {
            let step = |(extent, stride): (u32, u32)| u64::from(extent.saturating_sub(1)) * u64::from(stride);
            u64::from(offset) + steps.into_iter().map(step).sum::<u64>() + 1
        };
        let batch = |strides: [u32; 2]| {
            let [outer, inner] = [d.batches / d.batch1.max(1), d.batch1];
            [(outer, strides[0]), (inner, strides[1])]
        };
        let residual_of = || {
            let [outer, inner] = batch([d.residual_batch0, d.residual_batch1]);
            last(d.residual_offset, [(d.m, d.residual_row), (d.n, d.residual_col), outer, inner])
        };
        // Each row (of B, each column) has an exponent. A matrix's offset in exponents is that of its first row.
        let exponents = |offset: u32, strides: [u32; 2], lines: u32| {
            let [outer, inner] = batch(strides);
            let first = last(offset, [outer, inner, (1, 0), (1, 0)]) - 1;
            first / u64::from(d.scaled_row.max(1)) + u64::from(lines)
        };
        let bias_of = || last(d.bias_offset, [(d.m, d.bias_row), (d.n, d.bias_col), (1, 0), (1, 0)]);
        let [a, b, cross] = match scale {
            Scale::One | Scale::Alpha => [None; 3],
            Scale::Back | Scale::BackWithCross => [
                Some((exponents(d.a_offset, [d.a_batch0, d.a_batch1], d.m), DType::I32)),
                Some((exponents(d.b_offset, [d.b_batch0, d.b_batch1], d.n), DType::I32)),
                (scale == Scale::BackWithCross).then_some((self.elements() as u64, DType::F32)),
            ],
        };
        [bias.map(|dtype| (bias_of(), dtype)), residual.map(|dtype| (residual_of(), dtype)), a, b, cross]
    }

    /// Bytes of the sums that any plan needs: of the parts that the caller asked for, or of one part if a second launch applies
    /// the epilogue; else 0.
    pub(super) fn sums_bytes(&self, caps: &Caps) -> u64 {
        let parts = match self.split {
            // i8 has no sums in f32.
            Split::Parts(parts) if self.types.ab.is_real() && self.pin.allows_parts() => {
                self.parts_of_k(parts)
            }
            _ => 1,
        };
        if parts == 1 && !self.stores_apart(caps) { 0 } else { reduce::scratch_bytes(self, parts) }
    }

    /// Checks that the device can bind every buffer, including the sums of parts.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) if not.
    pub(super) fn check_bound(&self, op: &'static str, caps: &Caps) -> crate::Result<()> {
        self.bound().try_for_each(|(elements, dtype)| kernel::check_binding(op, caps, elements, dtype))?;
        kernel::check_scratch(op, caps, self.sums_bytes(caps))
    }
}
