//! The JSON lines: a case that was measured, one that failed, a product of `torch_gemm.py`, and convolutions.

use crate::case::{Size, Type};
use crate::conv::{self, ConvRow};
use bench::rows::{Outcome, PeerRow};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// A line of a file.
#[derive(Debug, Deserialize)]
#[serde(try_from = "Value")]
pub(crate) enum Line {
    /// A case that was measured.
    Case(Box<CaseRow>),
    /// A case whose process failed.
    Failed(FailedRow),
    /// A product of cuBLAS.
    Torch(PeerRow),
    /// A convolution that was measured.
    Conv(Box<ConvRow>),
    /// A convolution whose process failed.
    ConvFailed(conv::FailedRow),
}

/// A case that was measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CaseRow {
    pub(crate) device: String,
    pub(crate) driver: String,
    /// How CubeK compiles: `wgpu<wgsl>` or `wgpu<spirv>`.
    pub(crate) compiler: String,
    #[serde(flatten)]
    pub(crate) about: About,
    #[serde(flatten)]
    pub(crate) size: Size,
    pub(crate) dtype: Type,
    pub(crate) out_dtype: Type,
    pub(crate) layout: String,
    pub(crate) operand_pairs: usize,
    /// Flop/s of a loop of f32 multiply-adds, and bytes per second of a copy, in the same process.
    pub(crate) peak_flops: f64,
    pub(crate) peak_bytes: f64,
    /// Seconds of one product of the library on the device's clock.
    pub(crate) device_seconds: Option<f64>,
    /// The library's plan: the step with the longest predicted time.
    pub(crate) plan: String,
    pub(crate) sides: Vec<SideRow>,
}

/// When and how a case was measured.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct About {
    /// In UTC.
    pub(crate) date: String,
    /// The commit of the checkout in which the program was called, if there is one.
    pub(crate) commit: String,
    /// Without the file that it wrote.
    pub(crate) command: String,
    pub(crate) versions: BTreeMap<String, String>,
}

/// A library in a case; the first is Tilewise.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SideRow {
    pub(crate) name: String,
    /// The kernel or strategy.
    pub(crate) kernel: String,
    #[serde(flatten)]
    /// What came of it.
    pub(crate) outcome: Outcome<Timed>,
}

/// Times of one product on the host's clock, over all rounds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Timed {
    pub(crate) rounds: usize,
    pub(crate) products_per_round: u64,
    pub(crate) seconds: f64,
    pub(crate) seconds_min: f64,
    pub(crate) seconds_max: f64,
    pub(crate) gflops: f64,
    /// This library's time over Tilewise's in each round.
    pub(crate) ratios: Vec<f64>,
    #[serde(flatten)]
    pub(crate) checked: Checked,
}

/// How the result compares with f64.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Checked {
    pub(crate) check: String,
    pub(crate) max_abs_err: f64,
    pub(crate) bound_ratio: f64,
}

/// A case whose process failed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FailedRow {
    #[serde(flatten)]
    pub(crate) size: Size,
    pub(crate) dtype: Type,
    pub(crate) strategy: Option<String>,
    pub(crate) error: String,
}

impl TryFrom<Value> for Line {
    type Error = serde_json::Error;

    fn try_from(value: Value) -> serde_json::Result<Self> {
        if value.get("peer").is_some() {
            return serde_json::from_value(value).map(Self::Torch);
        }
        match (value.get("convolution").is_some(), value.get("sides").is_some()) {
            (true, true) => return serde_json::from_value(value).map(|row| Self::Conv(Box::new(row))),
            (true, false) => return serde_json::from_value(value).map(Self::ConvFailed),
            _ => {}
        }
        if value.get("sides").is_some() {
            return serde_json::from_value(value).map(|row| Self::Case(Box::new(row)));
        }
        serde_json::from_value(value).map(Self::Failed)
    }
}

impl SideRow {
    /// Name and kernel, as the tables have them.
    pub(crate) fn title(&self) -> String {
        format!("{} {}", self.name, self.kernel)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A side whose product takes this number of seconds.
    pub(crate) fn side(name: &str, kernel: &str, seconds: f64, ratio: f64) -> SideRow {
        let checked = Checked { check: "full".into(), max_abs_err: 1e-6, bound_ratio: 0.1 };
        let timed = Timed {
            rounds: 15,
            products_per_round: 4,
            seconds,
            seconds_min: seconds,
            seconds_max: seconds,
            gflops: Size::cube(512).flops() / seconds * 1e-9,
            ratios: vec![ratio],
            checked,
        };
        SideRow { name: name.into(), kernel: kernel.into(), outcome: Outcome::Timed(timed) }
    }

    /// A case of 512 cubed in f32 on a device.
    pub(crate) fn case(device: &str, sides: Vec<SideRow>) -> CaseRow {
        CaseRow {
            device: device.into(),
            driver: "Mesa 26".into(),
            compiler: "wgpu<wgsl>".into(),
            about: About {
                date: "2026-11-26".into(),
                commit: "abc".into(),
                command: "peers".into(),
                versions: [("gemm".into(), "0.19.0".into())].into(),
            },
            size: Size::cube(512),
            dtype: Type::F32,
            out_dtype: Type::F32,
            layout: "nn".into(),
            operand_pairs: 32,
            peak_flops: 50e9,
            peak_bytes: 9e9,
            device_seconds: Some(0.01),
            plan: "gemm_tiled".into(),
            sides,
        }
    }

    #[test]
    fn a_case_is_read_as_it_is_written() -> serde_json::Result<()> {
        let failed = Outcome::Failed { error: "no".into() };
        let failed = SideRow { name: "CubeK".into(), kernel: "naive".into(), outcome: failed };
        let row = case("llvmpipe", vec![side("Tilewise", "auto", 0.01, 1.0), failed]);
        let text = serde_json::to_string(&row)?;
        let Line::Case(read) = serde_json::from_str(&text)? else { panic!("{text}") };
        assert_eq!(serde_json::to_string(&read)?, text);
        assert!(read.sides[0].outcome.timed().is_some() && read.sides[1].outcome.timed().is_none());
        Ok(())
    }

    #[test]
    fn lines_of_all_kinds_are_told_apart() {
        let torch = r#"{"peer":"cuBLAS, PyTorch 2","device":"H200","m":64,"n":64,"k":64,"dtype":"f16",
            "out_dtype":"f32","layout":"nn","clock":"gpu","rounds":10,"gpu_seconds_median":1e-3,"gpu_seconds_min":1e-3,"gpu_seconds_max":1e-3,"tflops":0.5}"#;
        let parse = serde_json::from_str::<Line>;
        assert!(matches!(parse(torch), Ok(Line::Torch(row)) if row.product.dtype == "f16"));
        let failed = r#"{"m":64,"n":64,"k":64,"dtype":"f32","strategy":null,"error":"it ended"}"#;
        assert!(matches!(parse(failed), Ok(Line::Failed(row)) if row.error == "it ended"));
        let failed = r#"{"convolution":{"name":"a","batch":1,"height":1,"width":1,"channels":1,"outputs":1,"kernel":1,"stride":1,
            "padding":0,"groups":1},"dtype":"f32","error":"it ended"}"#;
        assert!(matches!(parse(failed), Ok(Line::ConvFailed(row)) if row.error == "it ended"));
        for garbage in ["", "{", "[]", "{}", r#"{"peer":"cuBLAS"}"#, r#"{"sides":[]}"#] {
            assert!(parse(garbage).is_err(), "{garbage}");
        }
    }
}
