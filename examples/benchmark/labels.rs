//! Labels next to points, where they have room.

use pictures::plot::{self, Drawn, Picture, text};
use plotters::prelude::RGBColor;
use plotters::style::text_anchor::HPos;
use std::ops::Range;

/// Pixels between a point and its label, and around a point.
const GAP: i32 = 7;
const AROUND: i32 = 6;

/// Where a label is, as seen from its point.
#[derive(Clone, Copy)]
pub(crate) enum Side {
    Right,
    Left,
    AboveRight,
    AboveLeft,
    BelowRight,
    BelowLeft,
}

impl Side {
    pub(crate) const ALL: [Self; 6] =
        [Self::Right, Self::Left, Self::AboveRight, Self::BelowRight, Self::AboveLeft, Self::BelowLeft];
}

/// A rectangle in pixels.
#[derive(Clone, Copy)]
struct Area {
    left: i32,
    top: i32,
    right: i32,
    bottom: i32,
}

impl Area {
    fn overlaps(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }
}

/// The areas that are taken.
pub(crate) struct Labels {
    within: Area,
    taken: Vec<Area>,
}

impl Labels {
    /// Labels within an area that is free: its ranges of x and y.
    pub(crate) fn within([x, y]: [Range<i32>; 2]) -> Self {
        Self { within: Area { left: x.start, top: y.start, right: x.end, bottom: y.end }, taken: Vec::new() }
    }

    /// No label covers this point.
    pub(crate) fn take_point(&mut self, (x, y): (i32, i32)) {
        self.taken.push(Area { left: x - AROUND, top: y - AROUND, right: x + AROUND, bottom: y + AROUND });
    }

    /// No label covers this line.
    pub(crate) fn take_line(&mut self, from: (i32, i32), to: (i32, i32)) {
        let pieces = ((to.0 - from.0).abs().max((to.1 - from.1).abs()) / 4).max(1);
        for piece in 0..=pieces {
            let at = |from: i32, to: i32| from + (to - from) * piece / pieces;
            let (x, y) = (at(from.0, to.0), at(from.1, to.1));
            self.taken.push(Area { left: x - 3, top: y - 3, right: x + 3, bottom: y + 3 });
        }
    }

    /// Writes a label at the first of these places, points and sides of them, that is free, or nothing.
    pub(crate) fn write(
        &mut self,
        picture: &Picture<'_>,
        label: &str,
        places: &[((i32, i32), Side)],
        size: f64,
        color: RGBColor,
    ) -> Drawn {
        #[expect(clippy::cast_possible_truncation, reason = "a font's size")]
        let extent = [plot::width(label, size) + 4, size.ceil() as i32 + 2];
        let mut areas = places.iter().map(|&(point, side)| side.area(point, extent));
        let Some(area) = areas.find(|area| self.is_free(area)) else { return Ok(()) };
        self.taken.push(area);
        text(picture, label, [area.left, area.top + 1], size, color, HPos::Left)
    }

    fn is_free(&self, area: &Area) -> bool {
        let Area { left, top, right, bottom } = self.within;
        let is_within = area.left >= left && area.right <= right && area.top >= top && area.bottom <= bottom;
        is_within && !self.taken.iter().any(|taken| taken.overlaps(area))
    }
}

impl Side {
    fn area(self, (x, y): (i32, i32), [width, height]: [i32; 2]) -> Area {
        let left = match self {
            Self::Right => x + GAP,
            Self::AboveRight | Self::BelowRight => x + 2,
            Self::Left => x - GAP - width,
            Self::AboveLeft | Self::BelowLeft => x - 2 - width,
        };
        let top = match self {
            Self::Right | Self::Left => y - height / 2,
            Self::AboveRight | Self::AboveLeft => y - GAP - height,
            Self::BelowRight | Self::BelowLeft => y + GAP,
        };
        Area { left, top, right: left + width, bottom: top + height }
    }
}
