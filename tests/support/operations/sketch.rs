//! Random operators, factorisations and sketched layers.

use super::world::Sketches;
use super::{Row, row};
use tilewise::sketch::{
    Budget, Cqrrpt, Lstsq, RangeFinder, Rsvd, SignStorage, SkLinear, cholesky, cqrrpt, eigh, lstsq, range,
    recommend_rank, rsvd, solve, trace,
};
use tilewise::{Result, f16};

/// A row that works on the world's sketches alone.
fn of<R: 'static>(name: &'static str, example: fn(&mut Sketches) -> Result<R>) -> Row {
    super::row_of(name, |it| &mut it.sketches, example)
}

pub(super) fn rows() -> Vec<Row> {
    vec![
        of("sketch::Cqrrpt::run", |s| Cqrrpt::new(&s.tall).run()),
        row("sketch::ExplicitSketch::adjoint", |it| it.sketches.explicit.adjoint(&it.a, 0)),
        row("sketch::ExplicitSketch::apply", |it| it.sketches.explicit.apply(&it.a, 0)),
        row("sketch::ExplicitSketch::left", |it| it.sketches.explicit.left(&it.a)),
        row("sketch::ExplicitSketch::right", |it| it.sketches.explicit.right(&it.a)),
        of("sketch::Lstsq::run", |s| Lstsq::new(&s.tall, &s.long).run()),
        of("sketch::RangeFinder::run", |s| RangeFinder::new(&s.tall, 4).run()),
        of("sketch::Rsvd::run", |s| Rsvd::new(&s.tall).rank(2).run()),
        of("sketch::SeededSketch::adjoint", |s| s.seeded.adjoint(&s.short, 0)),
        of("sketch::SeededSketch::apply", |s| s.seeded.apply(&s.square, 0)),
        of("sketch::SeededSketch::left", |s| s.seeded.left(&s.square)),
        of("sketch::SeededSketch::right", |s| s.seeded.right(&s.square)),
        of("sketch::SkLinear::backward", |s| s.layer.backward(&s.square, &s.hidden, &s.square)),
        of("sketch::SkLinear::backward_into", |s| {
            s.layer.backward_into(&s.square, &s.hidden, &s.square, &mut s.gradients)
        }),
        of("sketch::SkLinear::cast", |s| s.layer.cast::<f16>()),
        of("sketch::SkLinear::fit", |s| SkLinear::fit(&s.square, 1, 2)),
        of("sketch::SkLinear::forward", |s| s.layer.forward(&s.square)),
        of("sketch::SkLinear::hidden", |s| s.layer.hidden(&s.square)),
        of("sketch::SkLinear::output", |s| s.layer.output::<f32>(&s.hidden)),
        of("sketch::SkLinear::recommend_rank", |s| SkLinear::recommend_rank(&s.square, Budget::Params(0.5))),
        of("sketch::SkLinear::to_sign_storage", |s| s.generated.to_sign_storage(SignStorage::Stored)),
        of("sketch::SkLinear::to_weight", |s| s.layer.to_weight()),
        of("sketch::SkLinear::u1", |s| s.generated.u1()),
        of("sketch::SkLinear::u2", |s| s.generated.u2()),
        of("sketch::SkLinearBuilder::fit", |s| SkLinear::builder(1, 2).fit(&s.square)),
        of("sketch::SkLinearBuilder::fit_to", |s| SkLinear::builder(1, 2).fit_to(&s.square, &s.square)),
        of("sketch::SkLinearBuilder::least_squares", |s| SkLinear::builder(1, 2).least_squares(&s.square)),
        of("sketch::SkLinearBuilder::panther", |s| SkLinear::builder(1, 2).panther(&s.square)),
        row("sketch::SkLinearBuilder::random", |it| SkLinear::<f32>::builder(1, 2).random(&it.gpu, [32, 32])),
        of("sketch::SkLinearForward::run", |s| s.layer.apply(&s.square).output::<f16>().run()),
        of("sketch::Sketch::adjoint", |s| s.operator.adjoint(&s.short, 0)),
        of("sketch::Sketch::apply", |s| s.operator.apply(&s.square, 0)),
        of("sketch::Sketch::left", |s| s.operator.left(&s.square)),
        of("sketch::Sketch::right", |s| s.operator.right(&s.square)),
        row("sketch::Sketch::to_tensor", |it| it.sketches.operator.to_tensor(&it.gpu)),
        of("sketch::Svd::to_matrix", |s| s.svd.to_matrix()),
        of("sketch::cholesky", |s| cholesky(&s.definite)),
        of("sketch::cqrrpt", |s| cqrrpt(&s.tall)),
        of("sketch::eigh", |s| eigh(&s.definite).map(|found| (found.values, found.vectors))),
        of("sketch::lstsq", |s| lstsq(&s.tall, &s.long)),
        of("sketch::range", |s| range(&s.tall, 4)),
        of("sketch::recommend_rank", |s| recommend_rank(&s.square, Budget::Params(0.5))),
        of("sketch::rsvd", |s| rsvd(&s.tall, 2)),
        of("sketch::solve", |s| solve(&s.definite, &s.definite)),
        of("sketch::trace", |s| trace(&s.square, 4, 1)),
    ]
}
