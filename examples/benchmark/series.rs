//! The series of the roofline picture: rows that differ in size only.

use crate::record::Row;
use crate::support::plot::{self, Drawn, Picture};
use plotters::prelude::*;

/// A colour for each operation, in the order in which they occur.
const COLORS: [RGBColor; 7] = [
    RGBColor(0x1f, 0x5f, 0xa4),
    RGBColor(0xd9, 0x6a, 0x0b),
    RGBColor(0x2c, 0x8a, 0x2c),
    RGBColor(0xc2, 0x27, 0x28),
    RGBColor(0x7b, 0x4f, 0xa8),
    RGBColor(0x8c, 0x56, 0x4b),
    RGBColor(0x0f, 0x8f, 0x9f),
];
/// How much lighter each further kernel or precision of an operation is: shares of white.
const LIGHTER: [f64; 5] = [0.0, 0.35, 0.55, 0.2, 0.45];
const RADIUS: i32 = 4;

/// Rows that differ in size only.
pub(crate) struct Series<'a> {
    pub(crate) name: String,
    pub(crate) color: RGBColor,
    dtype: &'a str,
    pub(crate) rows: Vec<&'a Row>,
}

/// What rows of one operation have in common besides their type: precision, kernel, and whether that was pinned.
fn variant(row: &Row) -> String {
    let precision = row.precision.as_deref().filter(|&precision| precision != "strict");
    let precision = precision.map_or(String::new(), |precision| format!("{precision}, "));
    let pinned = if row.pinned.is_some() { ", pinned" } else { "" };
    format!("{precision}{}{pinned}", row.kernel_name())
}

/// The series of all rows with arithmetic.
pub(crate) fn all_series(rows: &[Row]) -> Vec<Series<'_>> {
    let drawn = || rows.iter().filter(|row| row.flops() > 0.0);
    let mut ops: Vec<&str> = Vec::new();
    let mut variants: Vec<(&str, String)> = Vec::new();
    let mut series: Vec<Series<'_>> = Vec::new();
    for row in drawn() {
        if !ops.contains(&row.op.as_str()) {
            ops.push(&row.op);
        }
        let variant = (row.op.as_str(), variant(row));
        if !variants.contains(&variant) {
            variants.push(variant.clone());
        }
        let name = format!("{} {}, {}", row.op, row.dtype, variant.1);
        if let Some(known) = series.iter_mut().find(|series| series.name == name) {
            known.rows.push(row);
            continue;
        }
        let op = ops.iter().position(|op| *op == row.op).unwrap_or(0);
        let shade = variants.iter().filter(|(op, _)| *op == row.op).position(|(_, of)| *of == variant.1);
        let color = lighter(COLORS[op % COLORS.len()], LIGHTER[shade.unwrap_or(0) % LIGHTER.len()]);
        series.push(Series { name, color, dtype: &row.dtype, rows: vec![row] });
    }
    series
}

fn lighter(RGBColor(red, green, blue): RGBColor, share: f64) -> RGBColor {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 255")]
    let mix = |of: u8| (f64::from(of) + (255.0 - f64::from(of)) * share).round() as u8;
    RGBColor(mix(red), mix(green), mix(blue))
}

impl Series<'_> {
    /// Draws the mark of the type: a disc for f32, a triangle for f16, a cross for bf16, a square for i8.
    pub(crate) fn mark(&self, picture: &Picture<'_>, at @ (x, y): (i32, i32)) -> Drawn {
        let style = self.color.filled();
        match self.dtype {
            "f16" => picture.draw(&TriangleMarker::new(at, RADIUS + 2, style)),
            "bf16" => picture.draw(&Cross::new(at, RADIUS, self.color.stroke_width(2))),
            "i8" => {
                picture.draw(&Rectangle::new([(x - RADIUS, y - RADIUS), (x + RADIUS, y + RADIUS)], style))
            }
            _ => picture.draw(&Circle::new(at, RADIUS, style)),
        }
    }

    /// The sizes, as many as have room in this width.
    pub(crate) fn sizes(&self, width: u32, size: f64) -> String {
        let mut sizes = String::new();
        for row in &self.rows {
            let more = format!("{}{}", if sizes.is_empty() { "" } else { ", " }, row.size());
            if plot::width(&format!("{sizes}{more}, .."), size) > i32::try_from(width).unwrap_or(0) {
                return sizes + ", ..";
            }
            sizes += &more;
        }
        sizes
    }
}
