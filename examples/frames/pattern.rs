//! The moving pattern: shaded balls on closed curves, over a background of slow waves.

use std::f64::consts::TAU;
use support::splitmix;

/// Number of balls.
const BALLS: usize = 7;
/// Number of waves of the background.
const WAVES: usize = 4;

/// A pattern of one period. Lengths are in heights of the picture.
pub(crate) struct Pattern {
    balls: Vec<Ball>,
    waves: Vec<Wave>,
}

struct Ball {
    /// How often it circles in a period, along each axis.
    turns: [f64; 2],
    phases: [f64; 2],
    reach: [f64; 2],
    radius: f64,
    colour: [f64; 3],
}

struct Wave {
    direction: [f64; 2],
    turns: f64,
    phase: f64,
    colour: [f64; 3],
}

impl Pattern {
    pub(crate) fn new(seed: u64) -> Self {
        let mut random = splitmix(seed);
        let mut between =
            |from: f64, to: f64| from + (to - from) * (random() >> 11) as f64 / (1u64 << 53) as f64;
        let colour = |hue: f64, light: f64| {
            [0.0, 1.0, 2.0].map(|third| light * (0.55 + 0.45 * (TAU * (hue + third / 3.0)).cos()))
        };
        let first_hue = between(0.0, 1.0);
        let balls = (0..BALLS).map(|ball| Ball {
            turns: [
                between(1.0, 2.99).floor(),
                between(1.0, 2.99).floor() * if ball % 2 == 0 { 1.0 } else { -1.0 },
            ],
            phases: [between(0.0, TAU), between(0.0, TAU)],
            reach: [between(0.3, 0.75), between(0.15, 0.4)],
            radius: between(0.09, 0.2),
            colour: colour(first_hue + ball as f64 / BALLS as f64, between(0.75, 1.0)),
        });
        let balls = balls.collect();
        let waves = (0..WAVES).map(|wave| {
            let (angle, length) = (between(0.0, TAU), between(0.5, 1.4));
            Wave {
                direction: [angle.cos() * TAU / length, angle.sin() * TAU / length],
                turns: if wave % 2 == 0 { 1.0 } else { -1.0 },
                phase: between(0.0, TAU),
                colour: colour(first_hue + between(0.3, 0.7), 0.22),
            }
        });
        let waves = waves.collect();
        Self { balls, waves }
    }

    /// The bytes of a picture at a part of the period.
    pub(crate) fn frame(&self, [width, height]: [u32; 2], part: f64) -> Vec<u8> {
        let (across, down, t) = (f64::from(width), f64::from(height), TAU * part);
        let centres: Vec<[f64; 2]> = self.balls.iter().map(|ball| ball.centre(t)).collect();
        let mut bytes = Vec::with_capacity(width as usize * height as usize * 3);
        for row in 0..height {
            for column in 0..width {
                let x = (f64::from(column) + 0.5 - across / 2.0) / down;
                let y = (f64::from(row) + 0.5 - down / 2.0) / down;
                let mut colour = [0.14; 3];
                for Wave { direction, turns, phase, colour: own } in &self.waves {
                    let light = 0.5 + 0.5 * (direction[0] * x + direction[1] * y + turns * t + phase).sin();
                    for (sum, own) in colour.iter_mut().zip(own) {
                        *sum += light * own;
                    }
                }
                for (ball, centre) in self.balls.iter().zip(&centres) {
                    ball.paint([x - centre[0], y - centre[1]], down, &mut colour);
                }
                bytes.extend(colour.map(byte));
            }
        }
        bytes
    }
}

impl Ball {
    fn centre(&self, t: f64) -> [f64; 2] {
        [0, 1].map(|axis| self.reach[axis] * (self.turns[axis] * t + self.phases[axis]).sin())
    }

    /// Paints the ball over a pixel at this distance from its centre. Its edge is about a pixel wide.
    fn paint(&self, [x, y]: [f64; 2], down: f64, colour: &mut [f64; 3]) {
        let distance = x.hypot(y);
        let cover = ((self.radius - distance) * down + 0.5).clamp(0.0, 1.0);
        if cover == 0.0 {
            return;
        }
        let depth = (1.0 - (distance / self.radius).powi(2)).max(0.0).sqrt();
        let light = 0.35 + 0.65 * (0.75 * depth - 0.5 * (x + y) / self.radius).max(0.0);
        for (under, own) in colour.iter_mut().zip(self.colour) {
            *under += cover * (light * own - *under);
        }
    }
}

/// The nearest byte of a colour between 0 and 1.
fn byte(colour: f64) -> u8 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 255")]
    let byte = (colour.clamp(0.0, 1.0) * 255.0).round() as u8;
    byte
}
