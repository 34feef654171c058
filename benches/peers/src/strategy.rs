//! CubeK's strategies by name.

use clap::ValueEnum;
use cubek_matmul::kernels::CubeStagedMatmulRoutineSettings;
use cubek_matmul::multi_level::Strategy as MultiLevel;
use cubek_matmul::multi_level::routines::TileSizeSelection;
use cubek_matmul::multi_level::routines::batch::double_unit::DoubleUnitSelectionArgs;
use cubek_matmul::multi_level::routines::batch::simple_unit::SimpleUnitSelectionArgs;
use cubek_matmul::routine::BlueprintStrategy;
use cubek_matmul::strategy::Strategy as Peer;
use cubek_matmul::tiled::Strategy as Tiled;
use std::fmt;

/// A strategy that a person may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum Strategy {
    /// One product of a row and a column in each invocation
    Naive,
    /// Small register tiles, one stage
    SimpleUnitMin,
    /// Large register tiles, one stage
    SimpleUnitMax,
    /// Large register tiles, two stages
    DoubleUnitMax,
    /// Cooperative matrices, cyclic loads
    CyclicCooperative,
    /// Cooperative matrices, written on tiles
    TiledCooperative,
}

impl Strategy {
    /// The peer's own value.
    pub(crate) fn peer(self) -> Peer {
        let unit = |tile_size| {
            let options = SimpleUnitSelectionArgs { tile_size };
            Peer::MultiLevel(MultiLevel::SimpleUnit(BlueprintStrategy::Inferred(options)))
        };
        match self {
            Self::Naive => Peer::MultiLevel(MultiLevel::Naive),
            Self::SimpleUnitMin => unit(TileSizeSelection::MinTileSize),
            Self::SimpleUnitMax => unit(TileSizeSelection::MaxTileSize),
            Self::DoubleUnitMax => {
                let options = DoubleUnitSelectionArgs { tile_size: TileSizeSelection::MaxTileSize };
                Peer::MultiLevel(MultiLevel::DoubleUnit(BlueprintStrategy::Inferred(options)))
            }
            Self::CyclicCooperative => Peer::MultiLevel(MultiLevel::SimpleCyclicCmma(Default::default())),
            Self::TiledCooperative => Peer::Tiled(Tiled::Cmma(CubeStagedMatmulRoutineSettings::DEFAULT)),
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_possible_value().map_or(Ok(()), |value| f.write_str(value.get_name()))
    }
}

/// What `--strategy` names: one strategy, none, or all in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// CubeK's own choice alone.
    Auto,
    /// One strategy.
    One(Strategy),
    /// Each, in a process of its own.
    All,
}

impl Choice {
    /// The strategies of the cases to run.
    pub(crate) fn strategies(self) -> Vec<Option<Strategy>> {
        match self {
            Self::Auto => vec![None],
            Self::One(strategy) => vec![Some(strategy)],
            Self::All => Strategy::value_variants().iter().copied().map(Some).collect(),
        }
    }
}

impl ValueEnum for Choice {
    fn value_variants<'a>() -> &'a [Self] {
        &[
            Self::Auto,
            Self::One(Strategy::Naive),
            Self::One(Strategy::SimpleUnitMin),
            Self::One(Strategy::SimpleUnitMax),
            Self::One(Strategy::DoubleUnitMax),
            Self::One(Strategy::CyclicCooperative),
            Self::One(Strategy::TiledCooperative),
            Self::All,
        ]
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        match self {
            Self::Auto => Some(clap::builder::PossibleValue::new("auto").help("CubeK's own choice alone")),
            Self::One(strategy) => strategy.to_possible_value(),
            Self::All => Some(clap::builder::PossibleValue::new("all").help("Each, in a process of its own")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_strategy_can_be_chosen() {
        let chosen = Choice::value_variants().iter().filter_map(|choice| match choice {
            Choice::One(strategy) => Some(*strategy),
            Choice::Auto | Choice::All => None,
        });
        assert_eq!(chosen.collect::<Vec<_>>(), Strategy::value_variants());
        assert_eq!(Choice::All.strategies().len(), Strategy::value_variants().len());
    }
}
