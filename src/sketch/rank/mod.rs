//! The rank of a sketched layer: what a weight's singular values and a budget recommend.

pub(super) mod budget;
pub(super) mod recommend;
pub(super) mod sizes;
pub(super) mod spectrum;

pub use budget::Budget;
pub use recommend::{Choice, RankRecommendation, recommend_rank};
