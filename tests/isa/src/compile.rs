//! Compiles a step with this process's driver, and returns the results as a row.

use crate::assembly::Compiler;
use crate::issue::matrix_percent;
use crate::row::Row;
use crate::slots::Slots;
use crate::spirv::Spirv;
use crate::steps::{Code, Step};
use crate::vulkan::{Compiled, Device};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

/// Compiles a step. If there is a folder, the step's text and the driver's intermediate texts are written there.
///
/// # Errors
/// An error if a file cannot be written.
pub(crate) fn row(device: &Device, step: &Step, folder: Option<&Path>) -> std::io::Result<Row> {
    let text = match &step.code {
        Ok(Code::Wgsl(text)) => Some(text),
        _ => None,
    };
    let packs_halves = text.is_some_and(|text| text.contains("pack2x16float("));
    let row = Row { mesa: device.version(), packs_halves, ..step.row.clone() };
    let spirv = step.code.clone().and_then(|code| match code {
        Code::Wgsl(text) => Spirv::of(&text),
        Code::Spirv(words) => Spirv::of_module(words),
    });
    let compiled = spirv.and_then(|spirv| Ok((device.compile(&spirv)?, spirv.shared_bytes)));
    if let (Some(folder), Ok(_)) = (folder, &step.code) {
        if let Some(text) = text {
            write(folder, &row.name, "wgsl", text)?;
        }
        if let Ok((compiled, _)) = &compiled {
            let of = compiled.statistics.iter().map(|(name, value)| format!("{name}: {value}\n"));
            write(folder, &row.name, "statistics", &of.collect::<String>())?;
        }
        for (what, text) in compiled.iter().flat_map(|(compiled, _)| &compiled.texts) {
            write(folder, &row.name, what, text)?;
        }
    }
    Ok(match compiled {
        Ok((compiled, shared)) => with_results(Row { shared, ..row }, &compiled),
        Err(why) => Row { refused: Some(why), ..row },
    })
}

/// Adds the driver's results to a row.
fn with_results(row: Row, compiled: &Compiled) -> Row {
    let found = |names: &[&str]| {
        let of_names = compiled.statistics.iter().filter(|(name, _)| names.contains(&name.as_str()));
        of_names.map(|(_, value)| u32::try_from(*value).unwrap_or(u32::MAX)).reduce(u32::saturating_add)
    };
    let assembly = compiled.texts.iter().find_map(|(name, text)| {
        Compiler::of_text(name).map(|compiler| (compiler, compiler.count(text), text))
    });
    let Some((compiler, counted, text)) = assembly else {
        return Row { refused: Some("compiled, but the driver shows no assembly".into()), ..row };
    };
    let mut digest = DefaultHasher::new();
    text.hash(&mut digest);
    let block = counted.heaviest;
    Row {
        subgroup: compiled.subgroup,
        registers: found(&["VGPRs", "Number of GPRs", "GRF registers"]),
        spills: found(&[
            "Spilled SGPRs",
            "Spilled VGPRs",
            "Spills to memory",
            "Fills from memory",
            "Spill Count",
            "Fill Count",
            "Spills",
            "Fills",
        ])
        .unwrap_or(0),
        scratch: found(&["Scratch size", "SLM size", "Scratch Memory Size"]).unwrap_or(0),
        occupancy: found(&["Subgroups per SIMD", "Max warps/SM"]),
        instructions: counted.instructions,
        block: block.instructions,
        matrix: block.matrix,
        matrix_percent: matrix_percent(&row.target, compiled.subgroup, &block),
        slots: Slots::of(compiler, &compiler.heaviest_lines(text), compiled.subgroup),
        global: block.global,
        shared_access: block.shared,
        loads: counted.loads,
        stores: counted.stores,
        truncations: counted.truncations,
        code: format!("{:016x}", digest.finish()),
        ..row
    }
}

/// Writes a text to a file that is named after its step.
fn write(folder: &Path, name: &str, what: &str, text: &str) -> std::io::Result<()> {
    let word = |c: char| if c.is_alphanumeric() || c == '.' || c == '-' { c } else { '_' };
    let file: String = format!("{name}.{what}").chars().map(word).collect();
    std::fs::write(folder.join(file), text)
}
