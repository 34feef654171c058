//! The rank of a sketched layer: recommended from a weight's singular values and a budget.

pub(super) mod budget;
pub(super) mod recommend;
pub(super) mod sizes;
pub(super) mod spectrum;

pub use budget::Budget;
pub use recommend::{Choice, RankRecommendation, recommend_rank};
