//! The inner loops of the kernels of matrix products as a table of the library (`src/gemm/kernels/inner_loops`), from which it
//! predicts how much of a peak each tile can reach.

use crate::plans::Named;
use crate::row::Row;
use crate::target::Target;
use std::fmt::Write;
use std::path::Path;
use support::wgsl;
use tilewise::gemm::{Accumulator, GemmKernel, SplitK, Tile};
use tilewise::planning::Problem;
use tilewise::planning::gemm::{GemmTypes, Pin};
use tilewise::{Caps, DType};

/// A tile with the types that change its inner loop.
struct Case {
    tile: &'static Tile,
    types: GemmTypes,
    /// Rows of A of a skinny product, 0 for other kernels.
    rows: u32,
}

/// What the units that hold a workgroup together share: a workgroup processor (AMD, two cores), a multiprocessor (NVIDIA), an Xe
/// core (Intel).
struct Unit {
    /// Schedulers, each with its own registers.
    schedulers: u32,
    /// Registers of a scheduler, counted for one invocation each; 0 where an invocation's share is fixed.
    registers: u32,
    /// The most subgroups of a scheduler.
    subgroups: u32,
    /// Bytes of shared memory, and those that the hardware takes for each workgroup.
    shared: [u32; 2],
}

/// AMD's ISA guides of RDNA 3 and 4: four SIMDs of 1,536 registers in subgroups of 32, 16 subgroups each, 128 KiB. NVIDIA's
/// occupancy tables of compute capability 8.6. Intel's guide of Xe2: eight engines of eight threads, 128 KiB.
fn unit(target: &str) -> Option<Unit> {
    match target {
        "navi31" | "gfx1201" => {
            Some(Unit { schedulers: 4, registers: 1536 * 32, subgroups: 16, shared: [128 << 10, 0] })
        }
        "nv176" => {
            Some(Unit { schedulers: 4, registers: 16_384, subgroups: 12, shared: [100 << 10, 1 << 10] })
        }
        "bmg" => Some(Unit { schedulers: 8, registers: 0, subgroups: 8, shared: [128 << 10, 0] }),
        _ => None,
    }
}

impl Unit {
    /// The number of workgroups that fit at a time.
    fn workgroups(&self, row: &Row, invocations: u32) -> u32 {
        let lanes = row.subgroup.max(1);
        let of_registers = match row.registers {
            Some(registers) if self.registers > 0 => self.registers / (registers.max(1) * lanes),
            _ => self.subgroups,
        };
        let subgroups = self.schedulers * of_registers.min(self.subgroups);
        let [shared, own] = self.shared;
        (subgroups / invocations.div_ceil(lanes).max(1)).min(shared / (row.shared + own).max(1)).max(1)
    }
}

const fn real(dtype: DType, c: DType) -> GemmTypes {
    GemmTypes::new(dtype, c)
}

/// Every tile with every type of operands. Of results only those of `coop`, whose f16 are rounded in its loop's registers.
fn cases() -> Vec<Case> {
    use DType::{Bf16, F16, F32};
    let reals = [real(F32, F32), real(F16, F16), real(Bf16, Bf16)];
    let f16_sums = GemmTypes { accumulator: Accumulator::F16, ..real(F16, F16) };
    let of = |kernel: GemmKernel| -> Vec<GemmTypes> {
        match kernel {
            GemmKernel::Tiled => reals.into_iter().chain([f16_sums]).collect(),
            GemmKernel::Coop => vec![real(F16, F16), real(F16, F32)],
            GemmKernel::Dot => vec![wgsl::I8],
            // Modules are not compiled here yet.
            GemmKernel::CoopKhr | GemmKernel::CoopNv2 => Vec::new(),
            _ => reals.to_vec(),
        }
    };
    let mut cases = Vec::new();
    for kernel in GemmKernel::ALL {
        let rows: &[u32] = if kernel == GemmKernel::Gemv { &[1, 2, 4, 8] } else { &[0] };
        for tile in kernel.tiles() {
            for types in of(kernel) {
                cases.extend(rows.iter().map(|&rows| Case { tile, types, rows }));
            }
        }
    }
    cases
}

impl Case {
    /// Kernel, tile and types as the table has them.
    fn key(&self) -> String {
        let Tile { kernel, bm, bn, bk, tm, tn, fragment } = self.tile;
        let tn = if self.rows > 0 { &self.rows } else { tn };
        let sums = match (self.types.ab, self.types.accumulator) {
            (DType::I8, _) => DType::I32,
            (_, Accumulator::F16) => DType::F16,
            (_, Accumulator::F32) => DType::F32,
        };
        let types = [self.types.ab, self.types.c, sums];
        format!("{kernel:?}, [{bm}, {bn}, {bk}, {tm}, {tn}, {fragment}], {types:?}")
    }

    fn plan(&self, caps: &Caps) -> Named {
        let m = if self.rows > 0 { self.rows as usize } else { 1024 };
        let problem = wgsl::plain([m, 1024, 1024], self.types).pinned(Pin::Tile(*self.tile));
        Named { name: self.key(), family: "gemm", plan: problem.split_k(SplitK::Splits(1)).plan(caps) }
    }
}

/// A plan for each tile and types.
#[must_use]
pub fn plans(caps: &Caps) -> Vec<Named> {
    cases().iter().map(|case| case.plan(caps)).collect()
}

/// Checks, before anything is compiled, that the library has a table of the target and that there is a folder for its file.
///
/// # Errors
/// A message if not.
pub fn check(target: &Target, path: &Path) -> Result<(), String> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder {
        Some(folder) if !folder.is_dir() => Err(format!("{}: there is no such folder", path.display())),
        _ => known(target.name).map(|_| ()),
    }
}

fn known(name: &str) -> Result<Unit, String> {
    unit(name).ok_or_else(|| format!("the library has no table of inner loops of {name}"))
}

/// The text of the table's file, from the rows of [`plans`].
///
/// # Errors
/// A message if the table has no place for the target, or a row has no code or spills.
pub fn table(target: &Target, rows: &[Row]) -> Result<String, String> {
    let name = target.name;
    let unit = known(name)?;
    let caps = target.caps();
    let cases = cases();
    let mut lines = Vec::new();
    for row in rows {
        let case = cases.iter().find(|case| case.key() == row.name);
        let case = case.ok_or_else(|| format!("{}: no tile of the library", row.name))?;
        if let Some(why) = &row.refused {
            return Err(format!("{name}: {}: {why}", row.name));
        }
        if row.spills > 0 {
            return Err(format!("{name}: {}: {} spills", row.name, row.spills));
        }
        // Without a multiply-add there is no inner loop to see.
        if row.slots.products > 0 {
            lines.push(line(row, unit.workgroups(row, case.tile.invocations(&caps))));
        }
    }
    lines.sort();
    let mesa = rows.first().map(|row| row.mesa.as_str()).unwrap_or_default();
    let mut text = format!(
        "//! Inner loops as Mesa {mesa} compiles them for {name}. Written by `tilewise-isa {name} --loops FILE`; not edited by hand.\n\n\
         use super::line::Compiled;\n"
    );
    let used = |word: &&str| {
        lines.iter().any(|line| line.contains(&format!("{word},")) || line.contains(&format!("{word}]")))
    };
    for (module, words) in [
        ("crate::gemm::problem::GemmKernel", ["Coop", "Dot", "Gemv", "Naive", "Tiled"].as_slice()),
        ("crate::layout::DType", &["Bf16", "F16", "F32", "I8", "I32"]),
    ] {
        let words: Vec<&str> = words.iter().copied().filter(used).collect();
        writeln!(text, "use {module}::{{{}}};", words.join(", ")).expect("a string");
    }
    text += "\n#[rustfmt::skip] // a line for each tile\n";
    writeln!(
        text,
        "pub(super) const COMPILED: Compiled = Compiled {{ target: {name:?}, mesa: {mesa:?}, lines: &["
    )
    .expect("a string");
    text += &lines.concat();
    text += "] };\n";
    Ok(text)
}

/// A line of the table: see `Line` of the library.
fn line(row: &Row, workgroups: u32) -> String {
    let bytes =
        |widths: &crate::assembly::Widths| widths.iter().map(|(bytes, count)| bytes * count).sum::<u32>();
    let core = [row.subgroup, row.registers.unwrap_or(0), row.shared, workgroups];
    let slots = row.slots;
    let counts = [
        row.block,
        slots.products,
        slots.arithmetic,
        slots.other,
        slots.waits,
        bytes(&row.shared_access),
        bytes(&row.global),
    ];
    format!("    ({}, {core:?}, {counts:?}),\n", row.name)
}
