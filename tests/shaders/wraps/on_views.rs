//! Every family on views as large as they may be. Which views these are, no family knows: an index is largest where an axis is
//! long, far from the next or last in memory.

use super::gemm::{WINDOW, bare, caps};
use super::launch::Launch;
use support::laid::{flat, view};
use support::on_view::{self, On, Row};
use tilewise::gpu::DeviceType;
use tilewise::{Caps, Layout};

/// The forms of a family that run on each view, if it has few forms or many: they and the views take turns.
const FORMS: [u64; 2] = [1, 2];
/// The same of multivectors, whose kernels have all of their terms written out.
const OF_MULTIVECTORS: [u64; 2] = [2, 3];
/// Steps of a plan that run at its beginning and at its end.
const ENDS: usize = 2;

/// Shapes, strides and offsets of views that span this number of elements: without gaps, permuted, with an axis far apart, with many
/// of extent 2, with one that is repeated; images and channels.
fn views(elements: usize) -> Vec<Layout> {
    let edge = elements.isqrt();
    let row = |shape: &[usize]| flat(shape);
    let reversed = |shape: &[usize]| {
        let strides: Vec<usize> = (0..shape.len()).map(|axis| shape[..axis].iter().product()).collect();
        view(shape, &strides, 63)
    };
    let square = (elements / 4).isqrt();
    vec![
        row(&[elements]),
        row(&[elements / 5, 5]),
        row(&[5, elements / 5]),
        row(&[elements / 64, 64]),
        row(&[elements / 6, 6]), // pairs, but no quads
        row(&[elements / 10, 10]),
        row(&[3, elements / 192, 64]),
        row(&[4096, elements / 4096 - 1]),
        row(&[1 << 20, 100]),
        row(&[3, elements / 2400, 2, 400]),
        row(&[elements / 630, 3, 5, 7, 2, 3]),
        reversed(&[edge, edge]),
        reversed(&[5, elements / 5]),
        reversed(&[3, 5, 7, 2, 3, elements / 630]),
        view(&[2, 3], &[elements - 5, 2], 6),
        view(&[3, 2], &[2, elements - 5], 63),
        view(&[2, 2, 2], &[elements / 2, elements / 3, 1], 0),
        view(&[1000, 1000], &[elements / 1001, 1], 63),
        view(&[7, 9, 11], &[elements / 8, elements / 100, 0], 6),
        // Channels and images.
        row(&[1, elements / 8, 8]),
        view(&[7, elements / 7 / 65, 65], &[elements / 7, 65, 1], 0),
        row(&[1, 3, elements / 3]),
        view(&[elements / 64, 1, 64], &[64, 0, 1], 0),
        view(&[2, 3, 5], &[elements / 3, elements / 7, elements / 31], 0),
        view(&[1000, 1000, 4], &[4, 4000, 1], 0),
        row(&[square, square, 4]),
        view(&[square, square, 3], &[square, 1, square * square], 63),
        view(&[1, elements / 2, 1], &[0, 1, 1], 6),
        view(&[elements / 16, 1, 4], &[8, 0, 1], 1),
    ]
}

/// Multivectors of each number of blades.
fn of_blades(elements: usize) -> Vec<Layout> {
    [4, 8, 64].into_iter().flat_map(|blades| multivectors(blades, elements)).collect()
}

/// Multivectors (blade, row, feature) of this number of blades, which span as many elements.
pub(crate) fn multivectors(blades: usize, elements: usize) -> Vec<Layout> {
    let plane = elements / blades;
    let of = |shape: [usize; 3], strides: [usize; 3], offset| view(&shape, &strides, offset);
    let plain =
        |rows: usize, features: usize| of([blades, rows, features], [rows * features, features, 1], 0);
    let edge = plane.isqrt();
    vec![
        plain(plane / 5, 5),
        plain(plane / 6, 6),
        plain(7, plane / 7 / 2 * 2),
        plain(3, plane / 3 / 4 * 4),
        plain(edge, edge),
        plain(plane / 64, 64),
        of([blades, plane / 8, 8], [1, 8 * blades, blades], 0),
        of([blades, edge, edge - 1], [1, blades, blades * edge], 63),
        of([blades, 3, 6], [plane, plane / 3, plane / 24], 6),
        of([blades, 3, 8], [plane, plane / 3, plane / 32], 0), // adjacent in the result alone
        of([blades, 1000, 40], [(elements - 50_000) / (blades - 1), 41, 1], 0),
    ]
}

/// What gives the launches of each family.
pub(crate) fn families() -> Vec<impl FnOnce() -> Vec<Launch>> {
    let of_any = on_view::of_any_view().map(|row| (row, views as fn(usize) -> _, FORMS));
    let all = of_any.chain(on_view::of_multivectors().map(|row| (row, of_blades as _, OF_MULTIVECTORS)));
    all.map(|(row, views, forms)| move || launches(&row, views, forms)).collect()
}

/// The launches of a family on these views of as many elements as a window has.
fn launches(row: &Row, views: fn(usize) -> Vec<Layout>, forms: [u64; 2]) -> Vec<Launch> {
    let mut few = bare(); // the storage bindings that Vulkan guarantees
    few.limits.storage_bindings = 4;
    let devices: [Caps; 4] = [caps().planned_for(DeviceType::Discrete), bare(), caps(), few];
    let (mut launches, mut turn) = (Vec::new(), 0);
    for &dtype in row.1 {
        let most = WINDOW / dtype.size();
        for x in views(most) {
            turn += 1;
            let caps = &devices[usize::try_from(turn).expect("a few") % devices.len()];
            let mut on = On::new([x, flat(x.shape())], dtype, caps, most);
            let forms = forms[usize::from(on.count(row) >= 16)];
            for planned in on.forms(row, forms, turn) {
                let steps = Launch::planned(&format!("{} of {dtype} {x:?}", row.0), planned.plan);
                // Of many pieces the first and the last: those between them differ in where they begin alone.
                let ends = steps.len().min(2 * ENDS);
                launches.extend_from_slice(&steps[..ends.div_ceil(2)]);
                launches.extend_from_slice(&steps[steps.len() - ends / 2..]);
            }
        }
    }
    launches
}
