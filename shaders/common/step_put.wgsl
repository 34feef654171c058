//! What a lane has loaded ahead goes into shared memory. Statements of `main`.

            //#import put_x x=a
            //#import put_x x=b
