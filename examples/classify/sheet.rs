//! A picture of the pictures: each with its class, and next to it what the network took it for.

use crate::pictures::{COLOURS, EDGE};
use crate::rows::Pictures;
use pictures::picture::write_png;
use std::path::Path;
use tilewise::Result;

const COLUMNS: usize = 8;
/// Pictures at most.
const MOST: usize = 32;
/// Pixels of the sheet for a pixel of a picture, and for one of a label.
const SCALE: usize = 2;
const LABEL_SCALE: usize = 3;
/// Pixels around each picture, and below it, for the labels.
const MARGIN: usize = 6;
const LABEL: usize = 5 * LABEL_SCALE + MARGIN;
const CELL: [usize; 2] = [SCALE * EDGE + LABEL + MARGIN, SCALE * EDGE + MARGIN];

const PAPER: [u8; COLOURS] = [24, 24, 28];
const CLASS: [u8; COLOURS] = [220, 220, 220];
const RIGHT: [u8; COLOURS] = [80, 220, 100];
const WRONG: [u8; COLOURS] = [255, 80, 70];

/// The digits 0 to 9, each five rows of three pixels.
const DIGITS: [[u8; 5]; 10] = [
    [0b111, 0b101, 0b101, 0b101, 0b111],
    [0b010, 0b110, 0b010, 0b010, 0b111],
    [0b111, 0b001, 0b111, 0b100, 0b111],
    [0b111, 0b001, 0b111, 0b001, 0b111],
    [0b101, 0b101, 0b111, 0b001, 0b001],
    [0b111, 0b100, 0b111, 0b001, 0b111],
    [0b111, 0b100, 0b111, 0b101, 0b111],
    [0b111, 0b001, 0b010, 0b010, 0b010],
    [0b111, 0b101, 0b111, 0b101, 0b111],
    [0b111, 0b101, 0b111, 0b001, 0b111],
];

/// Writes the first pictures, each with its class in white and with the class that was found in green or red.
pub(crate) fn write(path: &Path, pictures: &Pictures, found: &[usize]) -> Result<()> {
    let count = found.len().min(MOST);
    let mut sheet = Sheet::new([count.div_ceil(COLUMNS), count.min(COLUMNS)]);
    for (at, bytes) in pictures.bytes.iter().take(count).enumerate() {
        let [top, left] = [at / COLUMNS * CELL[0] + MARGIN, at % COLUMNS * CELL[1] + MARGIN];
        for (pixel, colour) in bytes.chunks(COLOURS).enumerate() {
            sheet.square([top + pixel / EDGE * SCALE, left + pixel % EDGE * SCALE], SCALE, colour);
        }
        let (class, found) = (pictures.classes[at], found[at]);
        let below = top + SCALE * EDGE + MARGIN / 2;
        sheet.digit([below, left], class, CLASS);
        sheet.digit([below, left + 5 * LABEL_SCALE], found, if found == class { RIGHT } else { WRONG });
    }
    let [height, width] = sheet.size.map(|extent| u32::try_from(extent).unwrap_or(u32::MAX));
    write_png(path, [width, height], &sheet.rgb)
}

struct Sheet {
    /// Height and width.
    size: [usize; 2],
    rgb: Vec<u8>,
}

impl Sheet {
    fn new([rows, columns]: [usize; 2]) -> Self {
        let size = [rows * CELL[0] + MARGIN, columns * CELL[1] + MARGIN];
        Self { size, rgb: PAPER.repeat(size[0] * size[1]) }
    }

    fn square(&mut self, [top, left]: [usize; 2], edge: usize, colour: &[u8]) {
        for row in top..top + edge {
            for column in left..left + edge {
                let at = (row * self.size[1] + column) * COLOURS;
                self.rgb[at..at + COLOURS].copy_from_slice(colour);
            }
        }
    }

    fn digit(&mut self, [top, left]: [usize; 2], digit: usize, colour: [u8; COLOURS]) {
        for (row, bits) in DIGITS[digit % DIGITS.len()].iter().enumerate() {
            for column in (0..3).filter(|column| bits >> (2 - column) & 1 == 1) {
                let place = [top + row * LABEL_SCALE, left + column * LABEL_SCALE];
                self.square(place, LABEL_SCALE, &colour);
            }
        }
    }
}
