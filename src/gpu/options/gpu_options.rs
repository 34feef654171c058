//! Options to open a [`Gpu`](crate::Gpu) with, and the environment variables that set them.

use super::buffer_access::BufferAccess;
use crate::caps::Assumptions;
use crate::layout::Precision;
use crate::{Error, Result};
use std::fmt;
use std::path::PathBuf;

/// Options to open a [`Gpu`](crate::Gpu) with. The examples set three of them, and read the others from the
/// environment:
///
/// ```
/// use tilewise::gpu::{CacheFolder, Tuning};
/// use tilewise::{GpuOptions, Precision};
///
/// let options = GpuOptions {
///     precision: Precision::Strict,                     // products of f32 in f32 alone
///     tuning: Tuning::Remembered,                       // plans that an earlier run measured
///     cache: CacheFolder::At("target/tilewise".into()), // where the files of pipelines and of tuning are
///     ..GpuOptions::from_env()?
/// };
/// # Ok::<(), tilewise::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GpuOptions {
    /// The adapter to open. `TILEWISE_ADAPTER` = an index, `high`, `low`, or part of the adapter's name.
    pub adapter: AdapterChoice,
    /// Bytes of device memory that tensors may take. None: all of the device's memory, if the driver reports its size.
    /// `TILEWISE_MEMORY` = bytes, or a number with `KiB`, `MiB` or `GiB`.
    pub memory_budget: Option<u64>,
    /// Bytes of the ring of staging buffers for uploads ([`Tensor::write_from`](crate::Tensor::write_from),
    /// [`Gpu::upload_async`](crate::Gpu::upload_async)), and of that for reads. None: 64 MiB each; at least 256 bytes.
    /// Buffers are created when they are needed. `TILEWISE_STAGING` = as for `TILEWISE_MEMORY`.
    pub staging_bytes: Option<u64>,
    /// Number of compiled pipelines that are kept, each of which takes about half a megabyte of the host's memory. None: 1,024;
    /// at least 1. Past it, the least recently used one is dropped. Pipelines of replays and of work under way count too, but
    /// are not dropped. A run adds at most this number to the file of compiled pipelines. `TILEWISE_PIPELINES` = a number.
    pub max_pipelines: Option<usize>,
    /// Run-time checks in shaders. `TILEWISE_CHECKED` = `1` or `0`.
    pub checks: Checks,
    /// Whether the driver checks accesses to buffers. It does, unless `unsafe` code sets [`BufferAccess::unchecked`],
    /// which only [`Gpu::open_with`](crate::Gpu::open_with) takes. No environment variable sets it.
    pub buffer_access: BufferAccess,
    /// When recorded work is submitted. `TILEWISE_SYNC` = `1` or `0`.
    pub submission: Submission,
    /// Default precision of products of f32 operands; a call can set its own. `TILEWISE_PRECISION` = `strict`, `split`
    /// or `fast`.
    pub precision: Precision,
    /// Folder of the files that are cached across runs: compiled pipelines, on devices that support that, and the
    /// verdicts of the self-tests of cooperative matrices. Only this user can access new files and folders. A file is
    /// not read unless it is a regular file that only this user may write to.
    /// `TILEWISE_CACHE` = `off`, or a folder.
    pub cache: CacheFolder,
    /// Whether plans are chosen by measurement ([`Gpu::tune`](crate::Gpu::tune)). `TILEWISE_TUNING` = `off`, `remembered` or
    /// `now`.
    pub tuning: Tuning,
    /// For tests: facts to assume about the device instead of asking its driver. No environment variable sets them.
    pub assume: Assumptions,
}

/// The adapter to open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AdapterChoice {
    /// The first discrete GPU, else the first integrated, virtual or software device.
    #[default]
    Fastest,
    /// The first integrated GPU, else the first discrete, virtual or software device.
    LowPower,
    /// The adapter at this index of [`Gpu::adapters`](crate::Gpu::adapters).
    Index(usize),
    /// The first adapter whose name contains this text. Case is ignored.
    Name(String),
}

/// Run-time checks of indices, loops and divisors in shaders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Checks {
    /// No checks: the crate's tests cover the index arithmetic.
    #[default]
    Trusted,
    /// All checks. Slower; shows whether an index out of bounds causes a wrong result.
    Checked,
}

/// When recorded work is submitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Submission {
    /// In batches, at the latest when a result is read.
    #[default]
    Batched,
    /// After every launch; the call then waits until the launch has ended. An error names the kernel that failed.
    EachLaunch,
}

/// Folder of the files that are cached across runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CacheFolder {
    /// `tilewise` in the user's cache folder (`XDG_CACHE_HOME`, `~/.cache`, `LOCALAPPDATA`).
    #[default]
    User,
    /// No files are cached.
    Off,
    /// This folder.
    At(PathBuf),
}

/// Whether plans are chosen by measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Tuning {
    /// No: by prediction alone. No file of tuning is read or written.
    #[default]
    Off,
    /// A problem that was tuned ([`Gpu::tune`](crate::Gpu::tune)) has the plan that was the fastest, in this run or an earlier
    /// one with the same device, driver and version of this crate, if files are cached ([`GpuOptions::cache`]). Others have
    /// the plan that is predicted to be the fastest.
    Remembered,
    /// As [`Remembered`](Self::Remembered), and a problem that is not remembered is tuned at its first use, which takes
    /// seconds. Not in the closures of [`Gpu::capture`](crate::Gpu::capture), [`Gpu::record_into`](crate::Gpu::record_into) and
    /// [`Gpu::time`](crate::Gpu::time), nor while another thread tunes: the plan is then the predicted one, for this call. In a
    /// browser, which allows no waiting, nothing is tuned.
    Now,
}

/// Number of pipelines that are kept unless [`GpuOptions::max_pipelines`] says otherwise.
const DEFAULT_MAX_PIPELINES: usize = 1024;

/// Who polls an adopted device during an asynchronous call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Polling {
    /// A thread of this crate, so that reads complete under any executor. The thread starts with the first asynchronous
    /// read or self-test, polls only while one is pending, and ends when the last [`Gpu`](crate::Gpu) is dropped. Callbacks of the
    /// application may run in it. If all such threads are busy when another read starts, one more thread is started, up
    /// to eight.
    #[default]
    Tilewise,
    /// The application: a read completes when the application polls the device or submits to its queue. Blocking calls
    /// still poll in the thread that calls them. A callback that runs in the polling thread must not wait for a
    /// `read()`: no thread would poll, so it would wait forever. Call `to_vec()` there.
    ///
    /// On a device with several subgroup sizes, compiling a kernel on cooperative matrices is such a blocking call: the
    /// kernel is asked for its subgroup size.
    Application,
}

impl GpuOptions {
    /// Maximum number of pipelines that are kept.
    pub(in crate::gpu) fn pipeline_limit(&self) -> usize {
        self.max_pipelines.unwrap_or(DEFAULT_MAX_PIPELINES).max(1)
    }

    /// Reads the options from the environment variables.
    ///
    /// # Errors
    /// [`Error::Input`] if a variable has an invalid value.
    pub fn from_env() -> Result<Self> {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    /// Reads the options from these variables. An empty variable counts as not set.
    ///
    /// # Errors
    /// As [`from_env`](Self::from_env).
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let value = |name: &str| variable(name).map(|v| v.trim().to_owned()).filter(|v| !v.is_empty());
        Ok(Self {
            adapter: value("TILEWISE_ADAPTER").map(AdapterChoice::parse).unwrap_or_default(),
            memory_budget: value("TILEWISE_MEMORY").map(|v| bytes("TILEWISE_MEMORY", &v)).transpose()?,
            staging_bytes: value("TILEWISE_STAGING").map(|v| bytes("TILEWISE_STAGING", &v)).transpose()?,
            max_pipelines: value("TILEWISE_PIPELINES")
                .map(|v| count("TILEWISE_PIPELINES", &v))
                .transpose()?,
            checks: switch("TILEWISE_CHECKED", value, Checks::Trusted, Checks::Checked)?,
            buffer_access: BufferAccess::default(),
            submission: switch("TILEWISE_SYNC", value, Submission::Batched, Submission::EachLaunch)?,
            precision: value("TILEWISE_PRECISION").map(precision).transpose()?.unwrap_or_default(),
            cache: match value("TILEWISE_CACHE") {
                None => CacheFolder::User,
                Some(v) if v == "off" => CacheFolder::Off,
                Some(folder) => CacheFolder::At(folder.into()),
            },
            tuning: value("TILEWISE_TUNING").map(tuning).transpose()?.unwrap_or_default(),
            assume: Assumptions::default(),
        })
    }
}

impl AdapterChoice {
    fn parse(value: String) -> Self {
        match (value.as_str(), value.parse()) {
            ("high", _) => Self::Fastest,
            ("low", _) => Self::LowPower,
            (_, Ok(index)) => Self::Index(index),
            _ => Self::Name(value),
        }
    }
}

impl fmt::Display for AdapterChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fastest => f.write_str("high"),
            Self::LowPower => f.write_str("low"),
            Self::Index(index) => write!(f, "{index}"),
            Self::Name(name) => write!(f, "`{name}`"),
        }
    }
}

impl CacheFolder {
    pub(crate) fn path(&self) -> Option<PathBuf> {
        // A relative path would depend on the current folder, which might belong to another user.
        let set = |name| std::env::var_os(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
        match self {
            Self::Off => None,
            Self::At(folder) => Some(folder.clone()),
            Self::User => set("XDG_CACHE_HOME")
                .or_else(|| set("HOME").map(|home| home.join(".cache")))
                .or_else(|| set("LOCALAPPDATA"))
                .map(|folder| folder.join("tilewise")),
        }
    }
}

fn switch<T>(name: &str, value: impl Fn(&str) -> Option<String>, off: T, on: T) -> Result<T> {
    match value(name).as_deref() {
        None | Some("0") => Ok(off),
        Some("1") => Ok(on),
        Some(other) => Err(Error::input(name, format!("`{other}` is neither 0 nor 1"))),
    }
}

fn tuning(value: String) -> Result<Tuning> {
    match value.as_str() {
        "off" => Ok(Tuning::Off),
        "remembered" => Ok(Tuning::Remembered),
        "now" => Ok(Tuning::Now),
        _ => {
            let why = format!("`{value}` is not one of off, remembered and now");
            Err(Error::input("TILEWISE_TUNING", why))
        }
    }
}

fn precision(value: String) -> Result<Precision> {
    let why = |_| format!("`{value}` is not one of strict, split and fast");
    value.parse().map_err(|error| Error::input("TILEWISE_PRECISION", why(error)))
}

fn count(name: &str, value: &str) -> Result<usize> {
    let why = || format!("`{value}` is not a number of at least 1");
    value.parse().ok().filter(|&count| count > 0).ok_or_else(|| Error::input(name, why()))
}

fn bytes(name: &str, value: &str) -> Result<u64> {
    let units = [("KiB", 10), ("MiB", 20), ("GiB", 30), ("", 0)];
    let (digits, shift) = units
        .iter()
        .find_map(|(unit, shift)| value.strip_suffix(unit).map(|digits| (digits.trim(), *shift)))
        .unwrap_or((value, 0));
    let bytes = digits.parse::<u64>().ok().and_then(|n| n.checked_mul(1 << shift)).filter(|&n| n > 0);
    bytes.ok_or_else(|| {
        Error::input(name, format!("`{value}` is not a size such as 268435456, 256MiB or 2GiB"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(name: &'static str, value: &'static str) -> Result<GpuOptions> {
        GpuOptions::from_variables(|n| (n == name).then(|| value.to_owned()))
    }

    #[test]
    fn variables_set_the_options() {
        assert_eq!(GpuOptions::from_variables(|_| None).unwrap(), GpuOptions::default());
        assert_eq!(options("TILEWISE_ADAPTER", "1").unwrap().adapter, AdapterChoice::Index(1));
        assert_eq!(options("TILEWISE_ADAPTER", "low").unwrap().adapter, AdapterChoice::LowPower);
        assert_eq!(options("TILEWISE_ADAPTER", "high").unwrap().adapter, AdapterChoice::Fastest);
        assert_eq!(options("TILEWISE_ADAPTER", "4090").unwrap().adapter, AdapterChoice::Index(4090));
        assert_eq!(options("TILEWISE_ADAPTER", "RTX").unwrap().adapter, AdapterChoice::Name("RTX".into()));
        assert_eq!(options("TILEWISE_MEMORY", "3 MiB").unwrap().memory_budget, Some(3 << 20));
        assert_eq!(options("TILEWISE_MEMORY", "1000").unwrap().memory_budget, Some(1000));
        assert_eq!(options("TILEWISE_STAGING", "1KiB").unwrap().staging_bytes, Some(1024));
        assert_eq!(options("TILEWISE_PIPELINES", "600").unwrap().max_pipelines, Some(600));
        assert_eq!(options("TILEWISE_CHECKED", "1").unwrap().checks, Checks::Checked);
        assert_eq!(options("TILEWISE_SYNC", "1").unwrap().submission, Submission::EachLaunch);
        assert_eq!(options("TILEWISE_PRECISION", "fast").unwrap().precision, Precision::Fast);
        for precision in Precision::ALL {
            let named =
                GpuOptions::from_variables(|n| (n == "TILEWISE_PRECISION").then(|| precision.to_string()));
            assert_eq!(named.unwrap().precision, precision);
        }
        assert_eq!(options("TILEWISE_CACHE", "off").unwrap().cache, CacheFolder::Off);
        assert_eq!(options("TILEWISE_TUNING", "remembered").unwrap().tuning, Tuning::Remembered);
        assert_eq!(options("TILEWISE_TUNING", "now").unwrap().tuning, Tuning::Now);
        assert_eq!(options("TILEWISE_TUNING", "off").unwrap().tuning, Tuning::Off);
        assert_eq!(options("TILEWISE_SYNC", " ").unwrap().submission, Submission::Batched);
    }

    #[test]
    fn values_that_mean_nothing_are_errors_that_name_them() {
        for (name, value) in [
            ("TILEWISE_CHECKED", "yes"),
            ("TILEWISE_SYNC", "2"),
            ("TILEWISE_PRECISION", "Fast"),
            ("TILEWISE_PRECISION", "tf32"),
            ("TILEWISE_TUNING", "1"),
            ("TILEWISE_TUNING", "Now"),
            ("TILEWISE_MEMORY", "lots"),
            ("TILEWISE_STAGING", "0"),
            ("TILEWISE_PIPELINES", "0"),
            ("TILEWISE_PIPELINES", "many"),
            ("TILEWISE_MEMORY", "0"),
            ("TILEWISE_MEMORY", "-5MiB"),
            ("TILEWISE_MEMORY", "99999999999999GiB"),
        ] {
            let error = options(name, value).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains(value), "{error}");
        }
    }
}
