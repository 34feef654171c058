//! Layouts: each that there is lies in its buffer, and so does each view of it.

use arbitrary::{Result, Unstructured};
use tilewise::Layout;

const EXTENTS: [usize; 14] =
    [0, 1, 1, 2, 3, 4, 7, 64, 65, 4096, 1 << 20, (1 << 31) - 1, usize::MAX >> 6, usize::MAX];

/// Where the last element lies, counted in numbers that hold it; none of an empty layout.
fn last(layout: &Layout) -> Option<u128> {
    let steps = layout.shape().iter().zip(layout.strides());
    let steps = steps.map(|(&extent, &stride)| (extent as u128).checked_sub(1).map(|n| n * stride as u128));
    steps.sum::<Option<u128>>().map(|steps| layout.offset() as u128 + steps)
}

fn assert_within(layout: &Layout, len: usize, how: &str) {
    let count = layout.shape().iter().try_fold(1usize, |count, &extent| count.checked_mul(extent));
    assert_eq!(layout.len(), count.unwrap(), "{how}: {layout:?}");
    assert_eq!(layout.is_empty(), layout.shape().contains(&0), "{how}: {layout:?}");
    assert_eq!(layout.rank(), layout.strides().len());
    match last(layout) {
        Some(last) => {
            assert!(last < len as u128, "{how}: {layout:?} of {len}");
            assert_eq!(layout.span().end as u128, last + 1, "{how}: {layout:?}");
        }
        None => assert!(layout.span().is_empty() && layout.offset() <= len, "{how}: {layout:?} of {len}"),
    }
}

pub(crate) fn layout(data: &[u8]) {
    // Too few bytes are no layout.
    let _ = views(&mut Unstructured::new(data));
}

fn extents(u: &mut Unstructured<'_>) -> Result<Vec<usize>> {
    let rank = u.int_in_range(0..=7)?;
    (0..rank).map(|_| u.choose(&EXTENTS).copied()).collect()
}

fn views(u: &mut Unstructured<'_>) -> Result<()> {
    let shape = extents(u)?;
    let Ok(mut layout) = Layout::contiguous("fuzz", &shape) else { return Ok(()) };
    let mut len = layout.len();
    assert_within(&layout, len, "contiguous");
    assert!(layout.is_contiguous());
    if u.arbitrary()? {
        let strides: Vec<usize> = shape.iter().map(|_| u.choose(&EXTENTS).copied()).collect::<Result<_>>()?;
        let offset = *u.choose(&EXTENTS)?;
        len = *u.choose(&EXTENTS)?;
        let Ok(strided) = Layout::new("fuzz", &shape, &strides, offset, len) else { return Ok(()) };
        layout = strided;
        assert_within(&layout, len, "strided");
    }
    for _ in 0..u.int_in_range(0..=5)? {
        let (view, how) = match u.int_in_range(0..=3)? {
            0 => (layout.t(), "t"),
            1 => {
                let mut axes: Vec<usize> = (0..layout.rank()).collect();
                for i in (1..axes.len()).rev() {
                    axes.swap(i, u.int_in_range(0..=i)?);
                }
                (layout.permute(&axes).unwrap(), "permute")
            }
            2 => {
                let [start, end] = [*u.choose(&EXTENTS)?, *u.choose(&EXTENTS)?];
                let Ok(view) = layout.slice(u.int_in_range(0..=6)?, start..end) else { continue };
                (view, "slice")
            }
            _ => {
                let Ok(view) = layout.reshape(&extents(u)?) else { continue };
                assert_eq!(view.len(), layout.len());
                (view, "reshape")
            }
        };
        assert_within(&view, len, how);
        let inside = view.is_empty()
            || layout.span().start <= view.span().start && view.span().end <= layout.span().end;
        assert!(inside, "{how}: {view:?} of {layout:?}");
        layout = view;
    }
    Ok(())
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    crate::noise(64)
}
