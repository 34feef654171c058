//! The series of the roofline picture: rows that differ in size only.

use crate::record::Row;
use pictures::plot::{self, Drawn, Picture};
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
/// How much lighter the last kernel of an operation is than its first, as a share of white.
const LIGHTEST: f64 = 0.65;
const RADIUS: i32 = 4;

/// Rows that differ in size only.
pub(crate) struct Series<'a> {
    pub(crate) name: String,
    /// The colour of the operation, for its texts.
    pub(crate) color: RGBColor,
    /// That of its marks, one for each kernel and precision.
    shade: RGBColor,
    dtype: &'a str,
    pub(crate) rows: Vec<&'a Row>,
}

/// Precision and kernel: what rows of one operation have in common besides their type.
fn variant(row: &Row) -> String {
    let precision = row.precision.as_deref().filter(|&precision| precision != "strict");
    let precision = precision.map_or(String::new(), |precision| format!("{precision}, "));
    format!("{precision}{}", row.kernel_name())
}

/// The series of all rows with arithmetic.
pub(crate) fn all_series(rows: &[Row]) -> Vec<Series<'_>> {
    // Each operation and its variants, in the order in which they occur.
    let mut ops: Vec<(&str, Vec<String>)> = Vec::new();
    let drawn = || rows.iter().filter(|row| row.operations() > 0.0);
    for row in drawn() {
        let at = ops.iter().position(|(op, _)| *op == row.op).unwrap_or(ops.len());
        if at == ops.len() {
            ops.push((&row.op, Vec::new()));
        }
        let variant = variant(row);
        if !ops[at].1.contains(&variant) {
            ops[at].1.push(variant);
        }
    }
    let mut series: Vec<Series<'_>> = Vec::new();
    for row in drawn() {
        let variant = variant(row);
        let pinned = if row.pinned.is_some() { ", pinned" } else { "" };
        let name = format!("{} {}, {variant}{pinned}", row.op, row.dtype);
        if let Some(known) = series.iter_mut().find(|series| series.name == name) {
            known.rows.push(row);
            continue;
        }
        let op = ops.iter().position(|(op, _)| *op == row.op).unwrap_or(0);
        let variants = &ops[op].1;
        let at = variants.iter().position(|known| *known == variant).unwrap_or(0);
        let color = COLORS[op % COLORS.len()];
        let shade = lighter(color, LIGHTEST * at as f64 / variants.len().max(2).saturating_sub(1) as f64);
        series.push(Series { name, color, shade, dtype: &row.dtype, rows: vec![row] });
    }
    series
}

fn lighter(RGBColor(red, green, blue): RGBColor, share: f64) -> RGBColor {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 255")]
    let mix = |of: u8| (f64::from(of) + (255.0 - f64::from(of)) * share).round() as u8;
    RGBColor(mix(red), mix(green), mix(blue))
}

impl Series<'_> {
    /// Draws the mark of the type: a disc for f32, a triangle for f16, a cross for bf16, a square for i8, a diamond for e4m3 and
    /// e5m2. It is hollow if the kernel is pinned.
    pub(crate) fn mark(&self, picture: &Picture<'_>, at: (i32, i32)) -> Drawn {
        self.filled(picture, at, RADIUS, self.shade)?;
        if self.rows.iter().any(|row| row.pinned.is_some()) && self.dtype != "bf16" {
            self.filled(picture, at, RADIUS - 2, WHITE)?;
        }
        Ok(())
    }

    /// Joins the places of its rows.
    pub(crate) fn path(&self, picture: &Picture<'_>, places: &[(i32, i32)]) -> Drawn {
        picture.draw(&PathElement::new(places.to_vec(), self.shade.mix(0.5).stroke_width(1)))
    }

    fn filled(&self, picture: &Picture<'_>, at @ (x, y): (i32, i32), radius: i32, color: RGBColor) -> Drawn {
        let style = color.filled();
        match self.dtype {
            "f16" => picture.draw(&TriangleMarker::new(at, radius + 2, style)),
            "bf16" => picture.draw(&Cross::new(at, radius, color.stroke_width(2))),
            "i8" => {
                picture.draw(&Rectangle::new([(x - radius, y - radius), (x + radius, y + radius)], style))
            }
            "e4m3" | "e5m2" => {
                let to = radius + 1;
                let corners = vec![(x - to, y), (x, y - to), (x + to, y), (x, y + to)];
                picture.draw(&Polygon::new(corners, style))
            }
            _ => picture.draw(&Circle::new(at, radius, style)),
        }
    }

    /// The sizes, as many as have room in this width.
    pub(crate) fn sizes(&self, width: u32, size: f64) -> String {
        let mut sizes = String::new();
        for row in &self.rows {
            let more = format!("{}{}", if sizes.is_empty() { "" } else { ", " }, row.marked_size());
            if plot::width(&format!("{sizes}{more}, .."), size) > i32::try_from(width).unwrap_or(0) {
                return sizes + ", ..";
            }
            sizes += &more;
        }
        sizes
    }
}
