//! The operands of a product, as plans take them, and the same product with other operands.

use super::epilogue::{Epilogue, Scale};
use super::gemm::GemmProblem;
use super::generated::{Generated, PlacedWindows, Volumes, WindowB};
use super::layouts::{BIAS, Layouts, MatrixLayout};
use super::types::{GemmTypes, Side};
use crate::Result;
use crate::caps::Caps;
use crate::layout::{DType, Layout};
use crate::plan::{Access, Operand};

/// The names of the epilogue's operands, in the order of [`Layouts::extras`].
const EXTRAS: [&str; 4] = ["the bias", "the residual", "the row scale", "the column scale"];

impl GemmProblem {
    /// The same product with A and B of type `ab` and operands with these layouts.
    ///
    /// # Errors
    /// [`Error::Limit`](crate::Error::Limit) if an extent or a stride is $2^{31}$ or more.
    pub(in crate::gemm) fn with_operands(&self, layouts: &Layouts<Layout>, ab: DType) -> Result<Self> {
        let types = GemmTypes { ab, ..self.types };
        Ok(Self { layouts: layouts.normal(types, self.types_of_extras())?, types, ..*self })
    }

    /// The layout of C (batch, batch, m, n), relative to the start of its window.
    #[must_use]
    pub fn output(&self) -> Layout {
        self.layouts.c.layout()
    }

    /// The layout of the bias, if there is one.
    pub(in crate::gemm) fn bias_layout(&self) -> Option<MatrixLayout> {
        self.layouts.extras[BIAS]
    }

    /// How C is accessed: its previous contents are read only if they are added.
    pub(in crate::gemm) fn access_of_c(&self) -> Access {
        if self.epilogue.adds_previous() { Access::Update } else { Access::Write }
    }

    /// The operands in the order in which kernels bind them: A, B, C, the sources of a generated A or the seed, those of
    /// the epilogue.
    pub(crate) fn operands(&self) -> Result<Vec<Operand>> {
        let (read, ab, Layouts { a, b, c, .. }) = (Operand::read, self.types.ab, self.layouts.layouts());
        let [mut a, mut b] = [("A", a), ("B", b)].map(|(name, layout)| read(name, ab, layout));
        let c = read("the output", self.types.c, c).accessed(self.access_of_c());
        let table = |words: u64| {
            let words = usize::try_from(words).unwrap_or(usize::MAX);
            read("the table", DType::I32, Layout::line(words))
        };
        let mut sources = Vec::new();
        match self.generated {
            None => {}
            Some(Generated::Operand(generated)) => {
                let table = table(generated.entries.table_words());
                match generated.side {
                    Side::A => a = table,
                    Side::B => b = table,
                }
                sources.extend(generated.seed.operand()?);
            }
            Some(Generated::SignHalf(_)) => b.name = "the stored half of B",
            Some(Generated::Windows(PlacedWindows { of, volumes })) => {
                let image = if of.side() == Side::A { &mut a } else { &mut b };
                image.name = "the image";
                if let Some(Volumes { images, planes_of_b }) = volumes {
                    let with_first = |of: Layout, [extent, stride]: [u32; 2]| {
                        of.with_axis(0, extent as usize, stride as usize)
                    };
                    image.layout = with_first(image.layout, images);
                    if self.window_b() == Some(WindowB::Taps) {
                        b.layout = with_first(b.layout, planes_of_b);
                    }
                }
            }
            Some(Generated::Segments(segments)) => {
                sources.push(table(segments.words.into()));
                sources.extend(segments.y.map(|y| read("Y", ab, y.layout())));
                sources.extend(segments.gates.map(|gates| read("the gates", DType::F32, gates.layout())));
            }
        }
        Ok([a, b, c].into_iter().chain(sources).chain(self.extras()).collect())
    }

    /// The element types of the epilogue's operands, in the order of [`Layouts::extras`]. Scales are of f32.
    pub(in crate::gemm) fn types_of_extras(&self) -> [DType; 4] {
        let Epilogue { bias, residual, .. } = self.epilogue;
        [bias.unwrap_or(DType::F32), residual.unwrap_or(DType::F32), DType::F32, DType::F32]
    }

    /// The operands of the epilogue.
    fn extras(&self) -> Vec<Operand> {
        let (scale, Layouts { a, b, extras, .. }) = (self.epilogue.scale, &self.layouts);
        let read = Operand::read;
        let of_types = EXTRAS.into_iter().zip(self.types_of_extras()).zip(extras);
        let mut extras: Vec<Operand> =
            of_types.filter_map(|((name, dtype), of)| of.map(|of| read(name, dtype, of.layout()))).collect();
        if matches!(scale, Scale::Back | Scale::BackWithCross) {
            let [of_a, of_b] = [self.exponents(a, self.m()), self.exponents(b, self.n())];
            extras.push(read("the exponents of A", DType::I32, of_a));
            extras.push(read("the exponents of B", DType::I32, of_b));
        }
        if scale == Scale::BackWithCross {
            extras.push(read("the cross terms", DType::F32, Layout::line(self.elements())));
        }
        extras
    }

    /// The exponents of an operand: one for each line, which is a row of A or a column of B. The index of an exponent is that of
    /// its line in memory.
    fn exponents(&self, of: &MatrixLayout, lines: u32) -> Layout {
        let reach = |axis: usize| of.shape[axis].saturating_sub(1) as usize * of.strides[axis] as usize;
        let first = of.offset as usize + reach(0) + reach(1);
        Layout::line(first / self.scaled_row.max(1) as usize + lines as usize)
    }

    /// The number of storage bindings of the epilogue.
    pub(in crate::gemm) fn extra_bindings(&self) -> u32 {
        let scaled = match self.epilogue.scale {
            Scale::One | Scale::Alpha => 0,
            Scale::Back => 2,
            Scale::BackWithCross => 3,
        };
        self.layouts.extras.iter().flatten().fold(scaled, |bindings, _| bindings + 1)
    }

    /// The number of storage bindings for A, B and C, and for the sources of generated operands.
    pub(in crate::gemm) fn bindings(&self) -> u32 {
        3 + match self.generated {
            Some(Generated::Segments(segments)) => segments.bindings(),
            Some(Generated::Operand(generated)) => generated.seed.bindings(),
            Some(Generated::SignHalf(_) | Generated::Windows(_)) | None => 0,
        }
    }

    /// Whether a second launch applies the epilogue, because a single kernel would need more bindings than the device has.
    pub(in crate::gemm) fn has_separate_epilogue(&self, caps: &Caps) -> bool {
        self.extra_bindings() > 0 && self.bindings() + self.extra_bindings() > caps.limits.storage_bindings
    }
}
