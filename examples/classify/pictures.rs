//! The pictures: handwritten digits, enlarged, slanted and coloured, on noisy paper. `examples/data/train_classifier.py` draws
//! the same bytes.

use crate::digits::Digit;
use support::splitmix;

/// Height and width of a picture.
pub(crate) const EDGE: usize = 64;
/// Red, green and blue.
pub(crate) const COLOURS: usize = 3;
/// Bytes of a picture.
pub(crate) const BYTES: usize = EDGE * EDGE * COLOURS;
/// Height and width of the digits as they were scanned.
const SCANNED: usize = 8;
/// Points of the noise that is smooth, along each axis: one every eight pixels.
const CLOUDS: usize = 9;

/// The picture of a digit, in bytes.
pub(crate) fn picture(seed: usize, digit: &Digit) -> Vec<u8> {
    let mut random = splitmix(seed as u64);
    let mut uniform = || (random() >> 11) as f64 / (1u64 << 53) as f64;
    let edge = EDGE as f64;
    let side = 40.0 + 20.0 * uniform();
    let [top, left] = [(edge - side) * uniform(), (edge - side) * uniform()];
    let (slant, tilt) = (0.5 * (uniform() - 0.5), uniform());
    let paper: [f64; COLOURS] = std::array::from_fn(|_| 0.15 + 0.7 * uniform());
    let ink: [f64; COLOURS] = std::array::from_fn(|colour| {
        let step = 0.3 + 0.3 * uniform();
        if paper[colour] < 0.5 { paper[colour] + step } else { paper[colour] - step }
    });
    let faded: [f64; COLOURS] = std::array::from_fn(|colour| paper[colour] + 0.3 * (uniform() - 0.5));
    let clouds: Vec<f64> = (0..CLOUDS * CLOUDS).map(|_| uniform()).collect();
    let marks: Vec<f64> = digit.pixels.iter().map(|&mark| f64::from(mark)).collect();
    let mut bytes = Vec::with_capacity(BYTES);
    for (row, column) in (0..EDGE).flat_map(|row| (0..EDGE).map(move |column| (row as f64, column as f64))) {
        let y = (row + 0.5 - top) / side * 8.0 - 0.5;
        let x = (column + 0.5 - left) / side * 8.0 - 0.5 + slant * (y - 3.5);
        let cover = bilinear(&marks, SCANNED, [y, x]) / 16.0;
        let fade = (row * tilt + column * (1.0 - tilt)) / 63.0;
        let cloud = bilinear(&clouds, CLOUDS, [row / 8.0, column / 8.0]);
        for colour in 0..COLOURS {
            let under = paper[colour] + (faded[colour] - paper[colour]) * fade;
            let inked = under + cover * (ink[colour] - under);
            bytes.push(byte(inked + 0.3 * (cloud - 0.5) + 0.24 * (uniform() - 0.5)));
        }
    }
    bytes
}

/// What the network reads of a byte: -1 to 1, which all types of activations hold exactly.
pub(crate) fn input(byte: u8) -> f64 {
    (f64::from(byte) - 128.0) / 128.0
}

/// A value between the points of a square grid, and 0 outside of it.
fn bilinear(grid: &[f64], edge: usize, [y, x]: [f64; 2]) -> f64 {
    let [row, column] = [y.floor(), x.floor()];
    let [down, across] = [y - row, x - column];
    let at = |row: f64, column: f64| {
        let inside = |place: f64| place >= 0.0 && place < edge as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked: small")]
        let place = |row: f64, column: f64| row as usize * edge + column as usize;
        if inside(row) && inside(column) { grid[place(row, column)] } else { 0.0 }
    };
    let upper = at(row, column) * (1.0 - across) + at(row, column + 1.0) * across;
    let lower = at(row + 1.0, column) * (1.0 - across) + at(row + 1.0, column + 1.0) * across;
    upper * (1.0 - down) + lower * down
}

/// The nearest byte of a colour between 0 and 1.
fn byte(colour: f64) -> u8 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 255")]
    let byte = (colour.clamp(0.0, 1.0) * 255.0 + 0.5).floor() as u8;
    byte
}
