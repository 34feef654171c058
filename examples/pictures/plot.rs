//! What the pictures of the examples share: SVG by `plotters`, with texts, logarithmic axes and their labels.

use plotters::coord::Shift;
use plotters::coord::combinators::{BindKeyPoints, IntoLogRange, LogCoord, WithKeyPoints};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::ops::Range;
use support::significant;
use tilewise::{Error, Result};

pub const GREY: RGBColor = RGBColor(0x55, 0x55, 0x55);
/// Lines of a mesh.
pub const MESH: RGBColor = RGBColor(0xdd, 0xdd, 0xdd);

/// An area to draw on, in pixels.
pub type Picture<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// The outcome of drawing.
pub type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// The text of an SVG file of this size, drawn on white.
pub fn svg([width, height]: [u32; 2], draw: impl FnOnce(&Picture<'_>) -> Drawn) -> Result<String> {
    let mut svg = String::new();
    let picture = SVGBackend::with_string(&mut svg, (width, height)).into_drawing_area();
    let drawn = picture.fill(&WHITE).and_then(|()| draw(&picture)).and_then(|()| picture.present());
    drop(picture);
    match drawn {
        Ok(()) => Ok(svg),
        Err(error) => {
            Err(Error::Input { what: "the picture".into(), why: format!("cannot be drawn: {error}") })
        }
    }
}

/// Draws a text of this size whose top is at these pixels; its left end, middle or right end, as `anchor` says.
pub fn text(
    picture: &Picture<'_>,
    text: &str,
    [x, y]: [i32; 2],
    size: f64,
    color: RGBColor,
    anchor: HPos,
) -> Drawn {
    // NOTE: plotters divides the size by this to get the one that SVG means.
    let style = ("sans-serif", size * 1.24).into_font().color(&color);
    picture.draw(&Text::new(text, (x, y), style.pos(Pos::new(anchor, VPos::Top))))
}

/// About the width of a text of this size, in pixels, in a wide font.
pub fn width(text: &str, size: f64) -> i32 {
    #[expect(clippy::cast_possible_truncation, reason = "texts are short")]
    let width = (0.62 * size * text.chars().count() as f64).ceil() as i32;
    width
}

/// A logarithmic axis with labels at decades, and at 2 and 5 of each decade if there are few.
pub fn logarithmic(range: Range<f64>) -> WithKeyPoints<LogCoord<f64>> {
    let within: &[f64] = if range.end / range.start > 1e3 { &[1.0] } else { &[1.0, 2.0, 5.0] };
    let first = range.start.log10().floor();
    let decades =
        (0..=40).map(|i| 10f64.powf(first + f64::from(i))).take_while(|&decade| decade <= range.end);
    let ticks = decades.flat_map(|decade| within.iter().map(move |factor| factor * decade));
    let ticks = ticks.filter(|tick| range.contains(tick)).collect();
    range.log_scale().with_key_points(ticks)
}

/// A label: `1500`, `0.05`, `1e-6`.
pub fn label(value: f64) -> String {
    if value != 0.0 && !(1e-3..1e7).contains(&value) {
        return format!("{value:.0e}");
    }
    let text = significant(value);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}
