//! The choice of a kernel of attention: a tile on cooperative matrices, or a form of the plain kernel.

use super::coop::{CoopTile, lacking};
use super::coop_nv2::Nv2Tile;
use super::form::WorkDivision;
use super::problem::{AttentionProblem, OP};
use super::range::AttentionKernel;
use crate::Result;
use crate::caps::Caps;

/// A kernel, and the division of work among its invocations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KernelChoice {
    Plain(WorkDivision),
    Coop(CoopTile),
    CoopNv2(Nv2Tile),
}

impl AttentionProblem {
    /// The plan's choice.
    pub(super) fn choose(&self, caps: &Caps) -> Result<KernelChoice> {
        Ok(self.on_matrices_or_none(caps)?.unwrap_or_else(|| KernelChoice::Plain(self.form(caps))))
    }

    /// The plan's choice, then all other choices that the pin allows, in the order of predicted times.
    pub(super) fn choices(&self, caps: &Caps) -> Result<Vec<KernelChoice>> {
        let mut choices = vec![self.choose(caps)?];
        let mut others = self.matrix_choices(caps);
        others.sort_by(|a, b| self.seconds(*a, caps).total_cmp(&self.seconds(*b, caps)));
        choices.extend(others);
        if !matches!(self.pin, Some(AttentionKernel::Coop | AttentionKernel::CoopNv2)) {
            choices.extend(self.forms(caps).into_iter().map(KernelChoice::Plain));
        }
        Ok(choices)
    }

    /// The tiles on cooperative matrices that the pin allows and the device can compute with.
    fn matrix_choices(&self, caps: &Caps) -> Vec<KernelChoice> {
        let allows = |kernel| self.pin.is_none_or(|pin| pin == kernel);
        let in_wgsl = CoopTile::all().filter(|tile| tile.fits(self, caps).is_ok()).map(KernelChoice::Coop);
        let in_registers =
            Nv2Tile::all().filter(|tile| tile.fits(self, caps).is_ok()).map(KernelChoice::CoopNv2);
        let in_wgsl = in_wgsl.filter(|_| allows(AttentionKernel::Coop));
        in_wgsl.chain(in_registers.filter(|_| allows(AttentionKernel::CoopNv2))).collect()
    }

    fn seconds(&self, choice: KernelChoice, caps: &Caps) -> f64 {
        match choice {
            KernelChoice::Plain(form) => self.plain_flops() * form.slowness(caps) / caps.machine.f32_flops,
            KernelChoice::Coop(tile) => tile.predict(self, caps).seconds,
            KernelChoice::CoopNv2(tile) => tile.predict(self, caps).seconds,
        }
    }

    /// The tile on cooperative matrices with the shortest predicted time; None if the plain kernel is faster, or pinned.
    fn on_matrices_or_none(&self, caps: &Caps) -> Result<Option<KernelChoice>> {
        if self.pin == Some(AttentionKernel::Plain) {
            return Ok(None);
        }
        // Tiles in WGSL come before those of modules, because modules have not been measured on a GPU. If a device has both
        // sizes of matrices, the larger one is used, because one instruction multiplies more.
        let rank = |choice: &KernelChoice| match choice {
            KernelChoice::Coop(tile) => u32::MAX - tile.fragment(),
            _ => u32::MAX,
        };
        let fastest = self.matrix_choices(caps).into_iter().min_by(|a, b| {
            let seconds = |choice: &KernelChoice| self.seconds(*choice, caps);
            rank(a).cmp(&rank(b)).then_with(|| seconds(a).total_cmp(&seconds(b)))
        });
        if let Some(pin) = self.pin {
            return fastest.map(Some).ok_or_else(|| caps.unsupported(OP, self.lacking(pin, caps)));
        }
        let plain = self.seconds(KernelChoice::Plain(self.form(caps)), caps);
        Ok(fastest.filter(|choice| self.seconds(*choice, caps) < plain))
    }

    /// The reason why no tile of a pinned kernel can run, in words.
    fn lacking(&self, pin: AttentionKernel, caps: &Caps) -> String {
        match pin {
            AttentionKernel::CoopNv2 => lacking(Nv2Tile::all(), |tile| tile.fits(self, caps)),
            _ => lacking(CoopTile::all(), |tile| tile.fits(self, caps)),
        }
    }
}
