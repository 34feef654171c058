//! Operations as rows. Enums, functions, methods, definitions, tests and the book's table are generated from these
//! lists.

mod functions;

pub(crate) use functions::function_rows;
