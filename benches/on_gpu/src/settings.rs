//! Where the checkout and the programs are, and what the environment asks for.

use crate::error::{Error, Result};
use bench::about;
use bench::environment::{self, variable};
use bench::file::FileError;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The environment variables, for `--help`.
pub(crate) const HELP: &str = "\
Environment:
  TILEWISE_BINARIES=FOLDER  the packed programs; by default the folder that this program was packed into, or else
                            target/on-gpu of the checkout
  TILEWISE_SIZES=256,4096   sizes of the matrices in all sections
  TILEWISE_BATCHES=4,64     batches of the sections of layers and Clifford products
  TILEWISE_LIMIT=480        seconds that a section may take; tiles and peers start nothing in the last tenth
  TILEWISE_VULKAN=lavapipe  starts the programs through cargo's runner with this driver: a trial without a GPU
  FLASH_CLIFFORD=FOLDER     the package of section flash

It runs in a checkout of the commit that the programs were built from: tests read their data there.";

/// How programs are started.
pub(crate) struct Settings {
    /// The checkout.
    pub(crate) root: PathBuf,
    /// The folder of the programs.
    pub(crate) programs: PathBuf,
    /// Time that a section may take.
    pub(crate) limit: Duration,
    /// Sizes for all sections, instead of their own.
    pub(crate) sizes: Option<Vec<usize>>,
    /// Batches, instead of the benches' own.
    pub(crate) batches: Option<Vec<usize>>,
    /// The driver that cargo's runner is asked for.
    pub(crate) driver: Option<String>,
}

impl Settings {
    /// What the environment asks for.
    pub(crate) fn from_env() -> Result<Self> {
        let root = root()?;
        let programs = variable("TILEWISE_BINARIES").map(PathBuf::from);
        let programs = programs.or_else(packed).unwrap_or_else(|| root.join("target/on-gpu"));
        let programs = std::path::absolute(&programs).map_err(FileError::of("find", &programs))?;
        Ok(Self {
            root,
            programs,
            // As u32, so that no sum of times can overflow.
            limit: Duration::from_secs(
                environment::number::<u32>("TILEWISE_LIMIT").map_err(usage)?.unwrap_or(480).into(),
            ),
            sizes: environment::list("TILEWISE_SIZES").map_err(usage)?,
            batches: environment::list("TILEWISE_BATCHES").map_err(usage)?,
            driver: variable("TILEWISE_VULKAN"),
        })
    }

    /// A trial without a GPU; what the environment asks for still counts.
    pub(crate) fn trial() -> Result<Self> {
        let settings = Self::from_env()?;
        Ok(Self {
            sizes: settings.sizes.or(Some(vec![16, 32])),
            batches: settings.batches.or(Some(vec![4])),
            driver: settings.driver.or(Some("lavapipe".into())),
            ..settings
        })
    }

    /// Fails if there are no programs.
    pub(crate) fn check_programs(&self) -> Result<()> {
        if self.programs.join("benches").is_dir() {
            return Ok(());
        }
        Err(Error::Usage(format!(
            "there are no programs in {}: build them with --pack FOLDER, and set TILEWISE_BINARIES=FOLDER",
            self.programs.display()
        )))
    }

    /// The commit that the programs were built from, if it is known.
    pub(crate) fn commit(&self) -> String {
        about::commit(&self.root)
            .or_else(|| Some(std::fs::read_to_string(self.programs.join("commit")).ok()?.trim().to_owned()))
            .unwrap_or_default()
    }
}

fn usage(error: impl ToString) -> Error {
    Error::Usage(error.to_string())
}

/// The checkout around the current folder.
pub(crate) fn root() -> Result<PathBuf> {
    let here = std::env::current_dir().map_err(FileError::of("find", Path::new("the current folder")))?;
    let root = here.ancestors().find(|folder| folder.join("benches/shapes.txt").is_file());
    root.map(Path::to_path_buf)
        .ok_or_else(|| Error::Usage(format!("{} is not in a checkout of Tilewise", here.display())))
}

/// The folder that this program was packed into.
fn packed() -> Option<PathBuf> {
    let folder = std::env::current_exe().ok()?.parent()?.to_path_buf();
    folder.join("benches").is_dir().then_some(folder)
}
