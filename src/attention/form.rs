//! The division of work among the invocations of the plain kernel.

use super::problem::AttentionProblem;
use crate::caps::Caps;
use crate::kernel;
use crate::ops::subgroups::subgroup;

/// Invocations of a workgroup, if the device allows them.
pub(super) const LANES: u32 = 64;
/// The least number of keys of a part.
const KEYS_OF_PART: u32 = 64;
/// Numbers that an invocation holds in addition to its share of a query and of a result.
const OTHER_NUMBERS: u32 = 24;
/// Rows of an invocation, if there are enough.
const ROWS: u32 = 2;
/// Rows of an invocation of a software device.
const ROWS_OF_VECTORS: u32 = 4;
/// Numbers of queries and results that an invocation of a software device holds. It holds whole rows, so all invocations read the
/// same key with one load instead of one load each.
const NUMBERS_OF_VECTORS: u32 = 512;

/// The bounds of forms on a device.
struct Bounds {
    invocations: u32,
    most_rows: u32,
    /// The largest number of elements of queries and results that an invocation holds.
    numbers: u32,
    /// The largest number of invocations that share a row.
    widest: u32,
}

/// The division of work among invocations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WorkDivision {
    /// Invocations of a workgroup.
    pub(super) invocations: u32,
    /// Invocations that share a row.
    pub(super) lanes: u32,
    /// Groups of a query per invocation.
    pub(super) held: u32,
    /// Groups of a result per invocation.
    pub(super) held_v: u32,
    /// Rows of an invocation.
    pub(super) rows: u32,
    /// Parts of the keys.
    pub(super) parts: u32,
}

impl WorkDivision {
    /// Workgroups for a number of rows.
    pub(super) fn blocks(self, there: u32) -> u32 {
        there.div_ceil(self.rows * self.invocations / self.lanes)
    }

    /// The factor by which multiply-adds are slower than at the peak. An element of a key or a value is read once for all rows of
    /// an invocation. The read is assumed to take as long as a read from shared memory, which fits lavapipe. It was not measured on
    /// GPUs, so predictions for them assume the peak.
    pub(super) fn slowness(self, caps: &Caps) -> f64 {
        if !caps.machine.is_software() {
            return 1.0;
        }
        1.0 + caps.machine.shared_read_weight / f64::from(self.rows)
    }

    /// The shared memory through which the invocations of a row exchange values.
    pub(super) fn workgroup_bytes(self, caps: &Caps) -> u32 {
        let is_shared = self.lanes > 1 && subgroup(caps, self.invocations).is_none();
        if is_shared { 16 * self.invocations } else { 0 }
    }
}

impl AttentionProblem {
    /// The division of work on a device.
    pub(super) fn form(&self, caps: &Caps) -> WorkDivision {
        let (d, machine) = (self.dims(), &caps.machine);
        let form = self.sharing(d.group * d.queries, [1, 1], self.width(), caps);
        let wanted = machine.workgroups();
        let parts = wanted / form.blocks(d.group * d.queries).saturating_mul(d.heads).max(1);
        WorkDivision { parts: parts.min(d.keys / KEYS_OF_PART).max(1), ..form }
    }

    /// The division of the rows of a key head among invocations, with one part of the keys. `vectors` are the numbers of vectors
    /// that a row holds: as long as the head dim of queries, and as long as that of values. An invocation loads `width` elements of
    /// them together.
    pub(super) fn sharing(
        &self,
        there: u32,
        [vectors, vectors_v]: [u32; 2],
        width: u32,
        caps: &Caps,
    ) -> WorkDivision {
        let Bounds { invocations, most_rows, numbers, widest } =
            self.bounds([vectors, vectors_v], width, caps);
        let is_software = caps.machine.is_software();
        let of_row = |lanes| self.numbers_of_row([vectors, vectors_v], width, lanes);
        let rows = (there / invocations).min(most_rows).max(1);
        let rows = 1 << rows.ilog2();
        let mut lanes = 1;
        // If there are few rows, several invocations share each of them.
        while lanes < widest
            && (of_row(lanes) * rows > numbers || (!is_software && 2 * lanes * there <= invocations / 2))
        {
            lanes *= 2;
        }
        self.form_of(lanes, width, WorkDivision { invocations, lanes, held: 1, held_v: 1, rows, parts: 1 })
    }

    /// The form in which this number of invocations share a row.
    fn form_of(&self, lanes: u32, width: u32, form: WorkDivision) -> WorkDivision {
        let held = |of: u32| of.div_ceil(width).div_ceil(lanes);
        WorkDivision { lanes, held: held(self.dims().dim), held_v: held(self.dims().dim_v), ..form }
    }

    /// The numbers that an invocation holds of a row that this number of invocations share.
    fn numbers_of_row(&self, [vectors, vectors_v]: [u32; 2], width: u32, lanes: u32) -> u32 {
        let held = |of: u32| of.div_ceil(width).div_ceil(lanes);
        (vectors * held(self.dims().dim) + vectors_v * held(self.dims().dim_v)) * width
    }

    /// The bounds of forms on a device.
    fn bounds(&self, vectors: [u32; 2], width: u32, caps: &Caps) -> Bounds {
        let (d, machine) = (self.dims(), &caps.machine);
        let is_software = machine.is_software();
        let invocations =
            kernel::workgroup_size(if is_software { machine.vector_lanes } else { LANES }, caps);
        let invocations = 1 << invocations.ilog2();
        let (most_rows, numbers) = if is_software {
            // The largest number of rows that a single invocation can hold.
            let of_row = self.numbers_of_row(vectors, width, 1);
            ((NUMBERS_OF_VECTORS / of_row).min(ROWS_OF_VECTORS), NUMBERS_OF_VECTORS)
        } else {
            (ROWS, machine.registers.saturating_sub(OTHER_NUMBERS))
        };
        let groups = d.dim.max(d.dim_v).div_ceil(width);
        let widest = subgroup(caps, invocations).unwrap_or(invocations).min(groups.next_power_of_two());
        Bounds { invocations, most_rows, numbers, widest }
    }

    /// The form of the plan, and its neighbours: twice or half the invocations that share a row, the rows or the parts, if an
    /// invocation has enough registers; and the form with one part.
    pub(super) fn forms(&self, caps: &Caps) -> Vec<WorkDivision> {
        let (form, width) = (self.form(caps), self.width());
        let Bounds { most_rows, numbers, widest, .. } = self.bounds([1, 1], width, caps);
        let most_parts = (self.dims().keys / KEYS_OF_PART).max(1);
        let mut forms = vec![form];
        for factor in [|n: u32| 2 * n, |n: u32| n / 2] {
            forms.push(self.form_of(factor(form.lanes).max(1), width, form));
            forms.push(WorkDivision { rows: factor(form.rows), ..form });
            forms.push(WorkDivision { parts: factor(form.parts), ..form });
        }
        forms.push(WorkDivision { parts: 1, ..form });
        let fits = |one: &WorkDivision| {
            let held = self.numbers_of_row([1, 1], width, one.lanes) * one.rows;
            (1..=widest).contains(&one.lanes)
                && (1..=most_rows.max(1)).contains(&one.rows)
                && (1..=most_parts).contains(&one.parts)
                && (held <= numbers || (one.lanes, one.rows) == (form.lanes, form.rows))
        };
        forms.retain(fits);
        forms
    }
}
