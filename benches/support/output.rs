//! Benches that print criterion's statistics and a table of their own.

use criterion::Criterion;
use std::time::Duration;

/// How a table is printed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Lines for people.
    Text,
    /// One JSON object per line.
    Json,
}

/// What a bench prints.
pub struct Output {
    /// Whether criterion measures.
    pub statistics: bool,
    /// How the table is printed, if it is.
    pub table: Option<Format>,
}

impl Output {
    /// What `TILEWISE_TABLE` asks for: the table alone. By default both are printed, but no table when cargo tests or lists
    /// the bench.
    pub fn requested() -> Self {
        match std::env::var("TILEWISE_TABLE").as_deref() {
            Ok("json") => Self { statistics: false, table: Some(Format::Json) },
            Ok(_) => Self { statistics: false, table: Some(Format::Text) },
            Err(_) => {
                let benches = std::env::args().any(|argument| argument == "--bench");
                Self { statistics: true, table: benches.then_some(Format::Text) }
            }
        }
    }
}

/// Criterion with this number of samples of each bench.
pub fn criterion(samples: usize) -> Criterion {
    Criterion::default()
        .sample_size(samples)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .without_plots()
        .configure_from_args()
}
