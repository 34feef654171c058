//! Four rows of A at one k, from the invocation of the subgroup that holds them. A statement of `main`.

                let a_col = subgroupShuffle(a_held[i], kk);
