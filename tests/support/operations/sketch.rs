//! Random operators, factorisations and sketched layers.

use super::{Row, row};
use tilewise::f16;
use tilewise::sketch::{
    Budget, Cqrrpt, Lstsq, RangeFinder, Rsvd, SignStorage, SkLinear, cholesky, cqrrpt, eigh, lstsq, range,
    recommend_rank, rsvd, solve, trace,
};

pub(super) fn rows() -> Vec<Row> {
    vec![
        row("sketch::Cqrrpt::run", |it| Cqrrpt::new(&it.sketches.tall).run()),
        row("sketch::ExplicitSketch::adjoint", |it| it.sketches.explicit.adjoint(&it.a, 0)),
        row("sketch::ExplicitSketch::apply", |it| it.sketches.explicit.apply(&it.a, 0)),
        row("sketch::ExplicitSketch::left", |it| it.sketches.explicit.left(&it.a)),
        row("sketch::ExplicitSketch::right", |it| it.sketches.explicit.right(&it.a)),
        row("sketch::Lstsq::run", |it| Lstsq::new(&it.sketches.tall, &it.sketches.long).run()),
        row("sketch::RangeFinder::run", |it| RangeFinder::new(&it.sketches.tall, 4).run()),
        row("sketch::Rsvd::run", |it| Rsvd::new(&it.sketches.tall).rank(2).run()),
        row("sketch::SeededSketch::adjoint", |it| it.sketches.seeded.adjoint(&it.sketches.short, 0)),
        row("sketch::SeededSketch::apply", |it| it.sketches.seeded.apply(&it.sketches.square, 0)),
        row("sketch::SeededSketch::left", |it| it.sketches.seeded.left(&it.sketches.square)),
        row("sketch::SeededSketch::right", |it| it.sketches.seeded.right(&it.sketches.square)),
        row("sketch::SkLinear::backward", |it| {
            it.sketches.layer.backward(&it.sketches.square, &it.sketches.hidden, &it.sketches.square)
        }),
        row("sketch::SkLinear::backward_into", |it| {
            it.sketches.layer.backward_into(
                &it.sketches.square,
                &it.sketches.hidden,
                &it.sketches.square,
                &mut it.sketches.gradients,
            )
        }),
        row("sketch::SkLinear::cast", |it| it.sketches.layer.cast::<f16>()),
        row("sketch::SkLinear::fit", |it| SkLinear::fit(&it.sketches.square, 1, 2)),
        row("sketch::SkLinear::forward", |it| it.sketches.layer.forward(&it.sketches.square)),
        row("sketch::SkLinear::hidden", |it| it.sketches.layer.hidden(&it.sketches.square)),
        row("sketch::SkLinear::output", |it| it.sketches.layer.output::<f32>(&it.sketches.hidden)),
        row("sketch::SkLinear::recommend_rank", |it| {
            SkLinear::recommend_rank(&it.sketches.square, Budget::Params(0.5))
        }),
        row("sketch::SkLinear::to_sign_storage", |it| {
            it.sketches.generated.to_sign_storage(SignStorage::Stored)
        }),
        row("sketch::SkLinear::to_weight", |it| it.sketches.layer.to_weight()),
        row("sketch::SkLinear::u1", |it| it.sketches.generated.u1()),
        row("sketch::SkLinear::u2", |it| it.sketches.generated.u2()),
        row("sketch::SkLinearBuilder::fit", |it| SkLinear::builder(1, 2).fit(&it.sketches.square)),
        row("sketch::SkLinearBuilder::fit_to", |it| {
            SkLinear::builder(1, 2).fit_to(&it.sketches.square, &it.sketches.square)
        }),
        row("sketch::SkLinearBuilder::least_squares", |it| {
            SkLinear::builder(1, 2).least_squares(&it.sketches.square)
        }),
        row("sketch::SkLinearBuilder::panther", |it| SkLinear::builder(1, 2).panther(&it.sketches.square)),
        row("sketch::SkLinearBuilder::random", |it| SkLinear::<f32>::builder(1, 2).random(&it.gpu, [32, 32])),
        row("sketch::SkLinearForward::run", |it| {
            it.sketches.layer.apply(&it.sketches.square).output::<f16>().run()
        }),
        row("sketch::Sketch::adjoint", |it| it.sketches.operator.adjoint(&it.sketches.short, 0)),
        row("sketch::Sketch::apply", |it| it.sketches.operator.apply(&it.sketches.square, 0)),
        row("sketch::Sketch::left", |it| it.sketches.operator.left(&it.sketches.square)),
        row("sketch::Sketch::right", |it| it.sketches.operator.right(&it.sketches.square)),
        row("sketch::Sketch::to_tensor", |it| it.sketches.operator.to_tensor(&it.gpu)),
        row("sketch::Svd::to_matrix", |it| it.sketches.svd.to_matrix()),
        row("sketch::cholesky", |it| cholesky(&it.sketches.definite)),
        row("sketch::cqrrpt", |it| cqrrpt(&it.sketches.tall)),
        row("sketch::eigh", |it| eigh(&it.sketches.definite).map(|found| (found.values, found.vectors))),
        row("sketch::lstsq", |it| lstsq(&it.sketches.tall, &it.sketches.long)),
        row("sketch::range", |it| range(&it.sketches.tall, 4)),
        row("sketch::recommend_rank", |it| recommend_rank(&it.sketches.square, Budget::Params(0.5))),
        row("sketch::rsvd", |it| rsvd(&it.sketches.tall, 2)),
        row("sketch::solve", |it| solve(&it.sketches.definite, &it.sketches.definite)),
        row("sketch::trace", |it| trace(&it.sketches.square, 4, 1)),
    ]
}
