//! A heat map of similarities, as SVG.

use crate::similarity::Similarities;
use std::fmt::Write;

/// The most sentences that a map shows.
pub(crate) const MAX_DRAWN: usize = 200;
/// The side of a cell, and the room for the sentences.
const CELL: f64 = 14.0;
const LEFT: f64 = 330.0;
const TOP: f64 = 52.0;
const MARGIN: f64 = 16.0;
/// The most characters of a sentence that are drawn.
const CHARACTERS: usize = 48;

/// From white, for a cosine of 0 or less, to dark blue, for 1.
fn color(cosine: f64) -> String {
    let mix = |to: f64| 255.0 + (to - 255.0) * cosine.clamp(0.0, 1.0);
    format!("rgb({:.0},{:.0},{:.0})", mix(8.0), mix(48.0), mix(107.0))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// The start of a sentence.
pub(crate) fn short(text: &str, characters: usize) -> String {
    if text.chars().count() <= characters {
        return text.into();
    }
    text.chars().take(characters.saturating_sub(1)).chain(['\u{2026}']).collect()
}

/// The map as the text of an SVG file.
pub(crate) fn svg(title: &str, sentences: &[String], similarities: &Similarities) -> String {
    let side = CELL * similarities.count() as f64;
    let (width, height) = (LEFT + side + MARGIN, TOP + side + MARGIN);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"{MARGIN}\" y=\"18\" font-size=\"14\">{}</text>\n\
         <text x=\"{MARGIN}\" y=\"35\" fill=\"#555\">cosine similarities, from white (0 or less) to dark blue (1)</text>\n",
        escaped(title)
    );
    for (i, sentence) in sentences.iter().enumerate() {
        let top = TOP + CELL * i as f64;
        let text = escaped(&short(sentence, CHARACTERS));
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{text} {i}</text>",
            LEFT - 6.0,
            top + 11.0
        );
        for (j, &cosine) in similarities.row(i).iter().enumerate() {
            let left = LEFT + CELL * j as f64;
            let _ = writeln!(
                svg,
                "<rect x=\"{left}\" y=\"{top}\" width=\"{CELL}\" height=\"{CELL}\" fill=\"{}\"><title>{i}, {j}: {cosine:.3}</title></rect>",
                color(cosine)
            );
        }
    }
    svg + "</svg>\n"
}
