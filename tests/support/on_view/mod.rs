//! Families of operations on a view, each by one row: the forms that a problem on the view may have.
//!
//! A form is the choices that a number makes. The tests of texts, of integer arithmetic, of compilers and of inputs at random
//! go through the rows, each with views and numbers of its own, so that a new family needs no line elsewhere.

mod elements;
mod multivectors;
mod operators;
mod places;
mod rows;
mod small;

use super::laid::view;
use super::limits::Planned;
pub use small::small;
use tilewise::planning::{Plan, Problem};
use tilewise::{Caps, DType, Error, Layout, Result};

/// A family: its name, its element types, and the problem that the choices give.
pub type Row = (&'static str, &'static [DType], fn(&mut On<'_>) -> Result<Plan>);

/// The types of an operand of which there are reals only.
pub const REALS: &[DType] = &[DType::F32, DType::F16, DType::Bf16];
/// The types that operations compute with.
pub const COMPUTED: &[DType] = &[DType::F32, DType::F16, DType::Bf16, DType::I8, DType::I32];

/// All families.
pub fn all() -> impl Iterator<Item = Row> {
    of_any_view().chain(of_multivectors())
}

/// The families that take views of any shape, or of three axes.
pub fn of_any_view() -> impl Iterator<Item = Row> {
    let rooms = [&elements::ROWS[..], &rows::ROWS, &places::ROWS, &operators::ROWS];
    rooms.into_iter().flatten().copied()
}

/// The families of multivectors (blade, row, feature).
pub fn of_multivectors() -> impl Iterator<Item = Row> {
    multivectors::ROWS.into_iter()
}

/// What a problem is planned on: a view, another one of the same shape, and a device. A number chooses what the problem is.
pub struct On<'a> {
    pub x: Layout,
    pub y: Layout,
    pub dtype: DType,
    pub caps: &'a Caps,
    /// The elements of the largest operand besides the view.
    pub most: usize,
    number: u64,
    forms: u64,
}

impl<'a> On<'a> {
    pub fn new([x, y]: [Layout; 2], dtype: DType, caps: &'a Caps, most: usize) -> Self {
        Self { x, y, dtype, caps, most, number: 0, forms: 1 }
    }

    /// One of these: the next digit of the number says which.
    ///
    /// # Panics
    /// If there are none.
    pub fn choose<T: Clone>(&mut self, among: &[T]) -> T {
        let count = among.len() as u64;
        let at = self.number % count;
        self.number /= count;
        self.forms = self.forms.saturating_mul(count);
        among[usize::try_from(at).expect("an index")].clone()
    }

    /// The plan of this form, or why there is none.
    pub fn form(&mut self, row: &Row, number: u64) -> Planned {
        (self.number, self.forms) = (number, 1);
        Planned { what: row.0, plan: (row.2)(self) }
    }

    /// How many forms there are.
    pub fn count(&mut self, row: &Row) -> u64 {
        let _ = self.form(row, 0);
        self.forms
    }

    /// All forms, or `most` of them if there are more: each turn has the next ones. Forms that the view has not are left out.
    pub fn forms(&mut self, row: &Row, most: u64, turn: u64) -> Vec<Planned> {
        let forms = self.count(row);
        // The numbers of a turn differ in every digit.
        let number = |at: u64| if forms > most { (turn * most + at) * 7919 % forms } else { at };
        (0..forms.min(most)).map(|at| self.form(row, number(at))).filter(is_there).collect()
    }

    fn plan(&self, problem: Result<impl Problem>) -> Result<Plan> {
        problem?.plan(self.caps)
    }

    /// An axis of the view.
    fn axis(&mut self) -> usize {
        self.choose(&(0..self.x.rank()).collect::<Vec<_>>())
    }

    /// One of the two views.
    fn either(&mut self) -> Layout {
        self.choose(&[self.x, self.y])
    }
}

/// Whether the view has this form.
fn is_there(planned: &Planned) -> bool {
    !matches!(planned.plan, Err(Error::Input { .. } | Error::Shape { .. }))
}

/// What a family says of a view that none of its forms takes.
fn no_form() -> Error {
    view(&[1], &[1], 0).slice(0, ..2).expect_err("it has one element")
}

fn flat(shape: &[usize]) -> Result<Layout> {
    Layout::contiguous("test", shape)
}

/// The same, from the last element on that stands before an aligned window.
fn ahead(shape: &[usize]) -> Result<Layout> {
    Layout::new("test", shape, flat(shape)?.strides(), 63, usize::MAX)
}
