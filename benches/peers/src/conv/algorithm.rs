//! The algorithms of CubeK's convolution by name.

use super::shape::Shape;
use cubek_convolution::{
    AcceleratedTileKind, ConvAlgorithm, DepthwiseStrategy, DepthwiseTiling, Strategy, UnitStrategy,
    UnitTiling,
};
use cubek_matmul::multi_level::routines::TileSizeSelection;
use std::fmt;

/// How CubeK computes a convolution.
#[derive(Clone, Debug)]
pub(crate) enum Algorithm {
    /// A product whose rows are windows, on matrix units or on registers. It has one group.
    Product(Strategy),
    /// A sum for each element.
    Direct,
    /// One filter for each channel.
    Depthwise(DepthwiseStrategy),
}

/// Tilings of depthwise convolutions next to CubeK's own choice: rows, columns, channels, lines.
const TILINGS: [[usize; 4]; 4] = [[8, 4, 1, 2], [2, 4, 1, 1], [8, 2, 1, 2], [4, 2, 1, 1]];

/// All algorithms that compute a convolution of this shape.
pub(crate) fn of(shape: &Shape) -> Vec<Algorithm> {
    let mut all = vec![Algorithm::Direct];
    if shape.groups == 1 {
        all.extend(units().into_iter().map(|unit| Algorithm::Product(Strategy::Unit(unit))));
        all.extend(on_matrix_units().into_iter().map(Algorithm::Product));
    }
    if shape.is_depthwise() {
        let tiling = |[rows, cols, chans, lines]: [usize; 4]| DepthwiseTiling { rows, cols, chans, lines };
        all.push(Algorithm::Depthwise(DepthwiseStrategy::Routine));
        let fixed = TILINGS.map(|of| Algorithm::Depthwise(DepthwiseStrategy::Fixed(tiling(of))));
        all.extend(fixed);
    }
    all
}

fn units() -> [UnitStrategy; 7] {
    [
        UnitStrategy::Inferred(TileSizeSelection::MinTileSize),
        UnitStrategy::Inferred(TileSizeSelection::MaxTileSize),
        UnitStrategy::Fixed(UnitTiling::NARROW),
        UnitStrategy::Fixed(UnitTiling::BALANCED),
        UnitStrategy::Fixed(UnitTiling::WIDE),
        UnitStrategy::Fixed(UnitTiling::DEEP),
        UnitStrategy::Fixed(UnitTiling::TALL),
    ]
}

fn on_matrix_units() -> Vec<Strategy> {
    let algorithms = [
        ConvAlgorithm::SimpleSyncCyclic,
        ConvAlgorithm::SimpleSyncStrided,
        ConvAlgorithm::SimpleSyncTilewise,
        ConvAlgorithm::SimpleAsyncCyclic,
        ConvAlgorithm::SimpleAsyncStrided,
        ConvAlgorithm::SimpleAsyncTma,
        ConvAlgorithm::SpecializedAsyncCyclic,
        ConvAlgorithm::SpecializedAsyncStrided,
        ConvAlgorithm::SpecializedTma,
    ];
    let both = |algorithm| {
        [AcceleratedTileKind::Cmma, AcceleratedTileKind::Mma]
            .map(|tile_kind| Strategy::Inferred { algorithm, tile_kind })
    };
    algorithms.into_iter().flat_map(both).collect()
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Product(strategy) => strategy.fmt(f),
            Self::Direct => f.write_str("direct"),
            Self::Depthwise(DepthwiseStrategy::Routine) => f.write_str("depthwise"),
            Self::Depthwise(DepthwiseStrategy::Fixed(DepthwiseTiling { rows, cols, chans, lines })) => {
                write!(f, "depthwise_{rows}x{cols}x{chans}x{lines}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::shape;
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_dense_convolutions_have_all_products() {
        for shape in shape::all() {
            let names: Vec<String> = of(&shape).iter().map(ToString::to_string).collect();
            assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
            assert_eq!(names.len(), if shape.is_depthwise() { 6 } else { 26 });
            assert!(names.iter().all(|name| !name.contains([',', ' '])), "{names:?}");
        }
    }
}
